"""Utility of trajectories after suppression, and what an attacker who knows a few visits still learns.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories, Value
from hedgerow.data.frequent_subsequences import compare_maximal_frequent
from hedgerow.measures.record_linkage import measure_limit, measure_linkage
from hedgerow.measures.scoring import exact_score
from hedgerow.measures.visits import Visits
from hedgerow.score import Score

__all__ = ["measure_suppression"]

Integers: TypeAlias = NDArray[np.int64]

_SHOWN = 24


def measure_suppression(
    original: Trajectories,
    released: Trajectories,
    controls: Mapping[str, Trajectories],
    rng: np.random.Generator,
    *,
    knows: int,
    sensitive: Sequence[tuple[str, Value]],
    c: Fraction,
    frequent: int,
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
    c
        The largest share of such a value among the records that match.
    frequent
        The support from which on a sequence is frequent.
    """
    truth, ours = Visits.of(original, original), Visits.of(released, original)
    others = {name: Visits.of(control, original) for name, control in controls.items()}
    whole = max(1, truth.size)
    return [
        exact_score(
            "share of visits suppressed",
            1 - ours.size / whole,
            {name: 1 - control.size / whole for name, control in others.items()},
            better="lower",
        ),
        exact_score(
            "share of records without visits",
            ours.emptied,
            {name: control.emptied for name, control in others.items()},
            better="lower",
        ),
        *_frequent(truth, ours, others, frequent),
        *_prevalence(truth, ours, sensitive),
        *measure_linkage(truth, ours, rng, knows, sensitive),
        *measure_limit(truth, ours, sensitive, c),
        *_map(original, truth, ours),
        *_by_axis(original, truth, ours, "time"),
        *_by_axis(original, truth, ours, "place"),
    ]


def _frequent(truth: Visits, ours: Visits, controls: Mapping[str, Visits], support: int) -> list[Score]:
    """Maximal frequent sequences: the share that is lost, and the decrease in their number.

    The second may be negative: if a sequence is lost, several shorter ones can become maximal.
    """
    before = truth.as_arrays()
    losses = {
        name: compare_maximal_frequent(before, visits.as_arrays(), support)
        for name, visits in {"ours": ours, **controls}.items()
    }
    number = losses["ours"].before
    if number == 0:
        return []
    lost = {name: loss.lost / number for name, loss in losses.items()}
    fewer = {name: 1 - loss.after / number for name, loss in losses.items()}
    what = f"maximal frequent sequences (support at least {support})"
    return [
        exact_score(f"share of {what} lost", lost.pop("ours"), lost, better="lower"),
        exact_score(f"decrease in the number of {what}", fewer.pop("ours"), fewer),
    ]


def _prevalence(truth: Visits, ours: Visits, sensitive: Sequence[tuple[str, Value]]) -> list[Score]:
    """How frequent each sensitive value is among the records that have visits."""
    scores: list[Score] = []
    marks = zip(sensitive, truth.marks(sensitive), ours.marks(sensitive), strict=True)
    for (column, value), before, after in marks:
        name = f"share of {column} = {value} among records with visits"
        share = _share(after, ours)
        scores.append(exact_score(name, share, {"original": _share(before, truth)}))
    return scores


def _share(marked: NDArray[np.bool_], visits: Visits) -> float:
    filled = np.diff(visits.starts) > 0
    return float(marked[filled].mean()) if filled.any() else 0.0


def _map(original: Trajectories, truth: Visits, ours: Visits) -> list[Score]:
    """How many visits were kept at each place and time, for the most frequent places and times."""
    size = original.domain.size("place")
    time, place = truth.seen // size, truth.seen % size
    times, places = (
        np.sort(np.argsort(-np.bincount(axis[truth.pairs]), kind="stable")[:_SHOWN]) for axis in (time, place)
    )
    before, after = (np.bincount(visits.pairs, minlength=len(truth.seen)).astype(np.int64) for visits in (truth, ours))
    numbers = {(int(t), int(p)): n for n, (t, p) in enumerate(zip(time, place, strict=True))}
    counts = {
        (t, p): (int(before[numbers[t, p]]), int(after[numbers[t, p]])) if (t, p) in numbers else (0, 0)
        for t in times.tolist()
        for p in places.tolist()
    }
    named = {axis: original.domain.values(axis) for axis in ("time", "place")}
    return [
        exact_score(
            f"visits at {named['place'][p]}, {named['time'][t]}",
            counts[t, p][1],
            {"original": counts[t, p][0]},
            chart="visits by time and place",
            at=f"{named['time'][t]}",
            across=f"{named['place'][p]}",
        )
        for p in places.tolist()
        for t in times.tolist()
    ]


def _by_axis(original: Trajectories, truth: Visits, ours: Visits, axis: str) -> list[Score]:
    """How many visits were kept at each time (or place), for the most frequent ones."""
    size = original.domain.size("place")
    values = original.domain.values(axis)
    codes = truth.seen // size if axis == "time" else truth.seen % size
    before: Integers = np.bincount(codes[truth.pairs], minlength=len(values))
    after: Integers = np.bincount(codes[ours.pairs], minlength=len(values))
    shown = np.sort(np.argsort(-before, kind="stable")[:_SHOWN])
    return [
        exact_score(
            f"visits at {axis} {values[number]}",
            int(after[number]),
            {"original": int(before[number])},
            chart=f"visits kept, by {axis}",
            at=f"{values[number]}",
        )
        for number in map(int, shown)
    ]
