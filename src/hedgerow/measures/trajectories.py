"""How much of trajectories is kept, and what somebody who knows a few visits still learns.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories, Value
from hedgerow.score import Score

__all__ = ["measure_trajectories"]

Integers: TypeAlias = NDArray[np.int64]

_VICTIMS = 1_000
_NORMAL = 1.96
_SHOWN = 24


def measure_trajectories(
    original: Trajectories,
    released: Trajectories,
    controls: Mapping[str, Trajectories],
    rng: np.random.Generator,
    *,
    knows: int,
    sensitive: Sequence[tuple[str, Value]],
) -> list[Score]:
    """Compare released trajectories with the original.

    Parameters
    ----------
    original, released
        The data before and after.
    controls
        Other releases by name.
    rng
        Draws the victims of the linkage attack.
    knows
        How many visits the attacker knows.
    sensitive
        The values the attacker is after.
    """
    truth, ours = _Visits.of(original, original), _Visits.of(released, original)
    beside = {name: _Visits.of(control, original) for name, control in controls.items()}
    whole = max(1, truth.size)
    return [
        _fact(
            "visits that were suppressed",
            1 - ours.size / whole,
            {name: 1 - held.size / whole for name, held in beside.items()},
        ),
        _fact(
            "records without visits",
            ours.emptied,
            {name: held.emptied for name, held in beside.items()},
        ),
        *_linkage(truth, ours, rng, knows, sensitive),
        *_by_axis(original, truth, ours, "time"),
        *_by_axis(original, truth, ours, "place"),
    ]


@dataclass(frozen=True, eq=False)
class _Visits:
    """The visits of records, coded as those of the original, by record and by visit."""

    records: int
    pairs: Integers
    starts: Integers
    rows: Integers
    firsts: Integers
    emptied: float
    data: Trajectories

    @classmethod
    def of(cls, data: Trajectories, original: Trajectories) -> _Visits:
        starts, pairs, _ = data.arrays()
        size = original.domain.size("place")
        time: Integers = _recoded(data, original, "time")[pairs // data.domain.size("place")]
        place: Integers = _recoded(data, original, "place")[pairs % data.domain.size("place")]
        pairs = time * size + place
        order = np.argsort(pairs, kind="stable")
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
        firsts = np.searchsorted(pairs[order], np.arange(size * original.domain.size("time") + 1))
        emptied = int(np.count_nonzero(np.diff(starts) == 0)) / max(1, len(starts) - 1)
        return cls(len(starts) - 1, pairs, starts, row, firsts, emptied, data)

    @property
    def size(self) -> int:
        return len(self.pairs)

    def marks(self, sensitive: Sequence[tuple[str, Value]]) -> list[NDArray[np.bool_]]:
        """Which records have each sensitive value."""
        _, _, traits = self.data.arrays()
        return [self.data.holders(traits, column, value) for column, value in sensitive]

    def matching(self, known: Sequence[int]) -> Integers:
        """The records that hold all of these visits."""
        lists = [self.rows[self.firsts[pair] : self.firsts[pair + 1]] for pair in known]
        lists.sort(key=len)
        found = lists[0]
        for other in lists[1:]:
            found = np.intersect1d(found, other, assume_unique=True)
        return found


def _recoded(data: Trajectories, original: Trajectories, axis: str) -> Integers:
    """The code in the original of each value; what occurs nowhere there cannot occur here."""
    known = {str(value): code for value, code in original.domain.axis(axis).codes.items()}
    return np.array([known.get(str(value), 0) for value in data.domain.values(axis)], np.int64)


def _fact(name: str, value: float, others: Mapping[str, float]) -> Score:
    return Score(
        name=name,
        value=value,
        low=value,
        high=value,
        better="lower",
        scope="owner",
        controls=tuple(others.items()),
    )


def _linkage(
    truth: _Visits,
    ours: _Visits,
    rng: np.random.Generator,
    knows: int,
    sensitive: Sequence[tuple[str, Value]],
) -> list[Score]:
    """Attack by linkage.

    The attacker knows that somebody is in the data and knows up to `knows` visits, drawn at random
    from that person's original record. They find the published records that match. Identity:
    one over their number. Attribute: the largest share of a sensitive value among them. Where
    nothing matches they learn nothing.
    """
    filled = np.flatnonzero(np.diff(truth.starts))
    if len(filled) == 0:
        return []
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "original": []}
    marks = {"ours": ours.marks(sensitive), "original": truth.marks(sensitive)}
    for victim in rng.choice(filled, _VICTIMS).tolist():
        visits = truth.pairs[truth.starts[victim] : truth.starts[victim + 1]]
        known = rng.choice(visits, min(knows, len(visits)), replace=False).tolist()
        for name, held in (("ours", ours), ("original", truth)):
            found[name].append(_learned(held.matching(known), marks[name]))
    scores: list[Score] = []
    kinds = [("identity", 1 / max(1, truth.records))]
    if sensitive:
        everybody = _learned(np.arange(truth.records), marks["original"])[1]
        kinds.append(("attribute", everybody))
    for place, (what, guess) in enumerate(kinds):
        mine = np.array([held[place] for held in found["ours"]])
        theirs = float(np.mean([held[place] for held in found["original"]]))
        mean, margin = float(mine.mean()), _NORMAL * float(mine.std()) / len(mine) ** 0.5
        scores.append(
            Score(
                name=f"{what} linkage by {knows} visits",
                value=mean,
                low=mean - margin,
                high=mean + margin,
                better="lower",
                scope="owner",
                controls=(("original", theirs), ("guessing", guess)),
            )
        )
    return scores


def _learned(rows: Integers, marks: Sequence[NDArray[np.bool_]]) -> tuple[float, float]:
    """How sure the attacker is of who, and of what."""
    if len(rows) == 0:
        return 0.0, 0.0
    shares = [float(flags[rows].mean()) for flags in marks]
    return 1 / len(rows), max(shares, default=0.0)


def _by_axis(original: Trajectories, truth: _Visits, ours: _Visits, axis: str) -> list[Score]:
    """How many visits were kept at each time, or place; the most frequent ones."""
    size = original.domain.size("place")
    values = original.domain.values(axis)
    there, kept = (
        pairs // size if axis == "time" else pairs % size for pairs in (truth.pairs, ours.pairs)
    )
    before: Integers = np.bincount(there, minlength=len(values))
    after: Integers = np.bincount(kept, minlength=len(values))
    shown = np.sort(np.argsort(-before, kind="stable")[:_SHOWN])
    return [
        Score(
            name=f"visits at {axis} {values[number]}",
            value=int(after[number]),
            low=int(after[number]),
            high=int(after[number]),
            better="neither",
            scope="owner",
            controls=(("original", int(before[number])),),
            chart=f"visits kept, by {axis}",
            at=f"{values[number]}",
        )
        for number in map(int, shown)
    ]
