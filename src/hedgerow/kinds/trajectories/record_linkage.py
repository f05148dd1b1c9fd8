"""Record linkage: what an attacker who knows a few visits of a person learns from a release."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.sequence_mining import VisitArrays
from hedgerow.measures.scoring import mean_score
from hedgerow.numerics.arrays import Flags, Integers, floor_multiples
from hedgerow.score import Score, exact_score

Weights: TypeAlias = NDArray[np.float64]
_VICTIMS = 1_000


def measure_linkage(
    truth: Visits,
    ours: Visits,
    rng: np.random.Generator,
    knows: int,
    sensitive: Sequence[tuple[str, Value]],
) -> list[Score]:
    """Attack by linkage: identity and attribute.

    Two attackers know that a person is in the data, and know up to `knows` visits, drawn at random from that person's
    original record. The first looks for published records that match all of them; if none does, for those that match
    as many as possible; if no visit matches, the attacker guesses. The second also knows that visits were suppressed,
    and how many of each: a record without a visit at the time of a known visit may have lost it; a record with a
    visit elsewhere at that time is not the person's. Identity: the attacker's confidence in the likeliest record.
    Attribute: the confidence in the likeliest sensitive value.
    """
    filled = np.flatnonzero(np.diff(truth.starts))
    if len(filled) == 0:
        return []
    marks = {"ours": ours.marks(sensitive), "original": truth.marks(sensitive)}
    informed = _InformedAttacker(truth, ours)
    learned: dict[str, list[tuple[float, float]]] = {"": [], ", aware of suppression": []}
    original: list[tuple[float, float]] = []
    for victim in rng.choice(filled, _VICTIMS).tolist():
        visits = truth.pairs[truth.starts[victim] : truth.starts[victim + 1]]
        known = rng.choice(visits, min(knows, len(visits)), replace=False).tolist()
        original.append(_confidences(_matching(truth, known), marks["original"]))
        attackers = (_matching(ours, known), informed.weights(known))
        for confidences, weights in zip(learned.values(), attackers, strict=True):
            confidences.append(_confidences(weights, marks["ours"]))
    guess = _confidences(np.ones(truth.records), marks["original"])
    return [
        mean_score(
            f"{what} linkage, {knows} known visit{'s' if knows > 1 else ''}{how}",
            np.array([each[place] for each in confidences]),
            {
                "original": float(np.mean([each[place] for each in original])),
                "guessing": guess[place],
            },
        )
        for how, confidences in learned.items()
        for place, what in enumerate(("identity", "attribute") if sensitive else ("identity",))
    ]


def _matching(release: Visits, known: Sequence[int]) -> Weights:
    """Weight the records that match as many of the known visits as possible.

    If several subsets of that size match, the subset with the fewest records counts. If no visit matches, all records
    are equally likely.
    """
    for size in range(len(known), 0, -1):
        tried = (release.matching(some) for some in itertools.combinations(known, size))
        matches = [rows for rows in tried if len(rows)]
        if matches:
            weights = np.zeros(release.records)
            weights[min(matches, key=len)] = 1
            return weights
    return np.ones(release.records)


class _InformedAttacker:
    """An attacker who knows how many records lost each visit, and that nobody is at two places at a time."""

    def __init__(self, truth: Visits, ours: Visits) -> None:
        self._ours = ours
        self._time = truth.seen // truth.data.domain.size("place")
        times = self._time[ours.pairs]
        order = np.argsort(times, kind="stable")
        self._rows = np.repeat(np.arange(ours.records), np.diff(ours.starts))[order]
        most = int(self._time.max(initial=0)) + 1
        self._firsts = np.searchsorted(times[order], np.arange(most + 1))
        lost = _counts(truth) - _counts(ours)
        free = ours.records - np.diff(self._firsts)
        #: the probability that a record without a visit at that time lost this one
        self._chance = lost / np.maximum(1, free)[self._time]

    def weights(self, known: Sequence[int]) -> Weights:
        """Weight each record by its likelihood of having had these visits, some of them suppressed."""
        weights = np.ones(self._ours.records)
        for pair in known:
            time = self._time[pair]
            having = self._ours.matching([pair])
            before = weights[having]
            weights *= self._chance[pair]
            weights[self._rows[self._firsts[time] : self._firsts[time + 1]]] = 0
            weights[having] = before
        return weights if weights.any() else np.ones(self._ours.records)


def _counts(visits: Visits) -> Integers:
    """How many records have each visit of the original."""
    return np.diff(visits.firsts)


def _confidences(weights: Weights, marks: Sequence[Flags]) -> tuple[float, float]:
    """The attacker's confidence in the likeliest record, and in the likeliest sensitive value."""
    total = float(weights.sum())
    shares = [float(weights[flags].sum()) / total for flags in marks]
    return float(weights.max()) / total, max(shares, default=0.0)


def measure_limit(truth: Visits, ours: Visits, sensitive: Sequence[tuple[str, Value]], c: Fraction) -> list[Score]:
    """Measure whether a visit at the limit C discloses that its true share exceeds C.

    It would if records were selected by their sensitive value to get below C: then most visits at the limit would
    exceed C in the original, and other visits would not.
    """
    at, others = truly_beyond(truth, ours, sensitive, c)
    if not len(at):
        return []
    controls = {"other visits": float(others.mean())} if len(others) else {}
    name = "share of visits at the limit C that exceed C in the original"
    return [exact_score(name, float(at.mean()), controls, better="lower")]


def truly_beyond(
    truth: Visits, ours: Visits, sensitive: Sequence[tuple[str, Value]], c: Fraction
) -> tuple[Flags, Flags]:
    """Whether the true share of a sensitive value exceeds C: for visits at the limit, and for other visits.

    A published visit is at the limit if one more record with the value would be too many. Visits that exceed C in
    `ours` are left out, so that a release without this guarantee can be compared.
    """
    most = floor_multiples(c, truth.records + 1)
    before, after = _counts(truth), _counts(ours)
    at, others = [np.zeros(0, np.bool_)], [np.zeros(0, np.bool_)]
    for true, left in zip(truth.marks(sensitive), ours.marks(sensitive), strict=True):
        beyond = np.bincount(truth.pairs[true[_rows(truth)]], minlength=len(before)) > most[before]
        marked = np.bincount(ours.pairs[left[_rows(ours)]], minlength=len(after))
        published = (after > 0) & (marked <= most[after])
        full = marked + 1 > most[after + 1]
        at.append(beyond[published & full])
        others.append(beyond[published & ~full])
    return np.concatenate(at), np.concatenate(others)


def _rows(visits: Visits) -> Integers:
    """The record of each visit."""
    return np.repeat(np.arange(visits.records), np.diff(visits.starts))


# ---- the visits of a release, with the codes of the original, so that the two can be compared


@dataclass(frozen=True, eq=False)
class Visits:
    """The visits of records, with the codes of the original, by record and by visit.

    `seen` are the distinct pairs of place and time in the original; the code of a pair is its position among them.
    """

    records: int
    pairs: Integers
    seen: Integers
    starts: Integers
    rows: Integers
    firsts: Integers
    emptied: float
    data: Trajectories

    @classmethod
    def of(cls, data: Trajectories, original: Trajectories) -> Visits:
        """Encode the visits of some data by the pairs of the original."""
        starts, pairs, _ = data.arrays()
        size = original.domain.size("place")
        _, seen, _ = original.arrays()
        seen = np.unique(seen)
        time: Integers = _recoded(data, original, "time")[pairs // data.domain.size("place")]
        place: Integers = _recoded(data, original, "place")[pairs % data.domain.size("place")]
        codes = time * size + place
        pairs = np.searchsorted(seen, codes)
        if len(codes) and (codes.min() < 0 or pairs.max() == len(seen) or np.any(seen[pairs] != codes)):
            msg = (
                "the release has visits that are not in the data; "
                "give the same --columns and --read options as for publishing"
            )
            raise ParameterError(msg)
        order = np.argsort(pairs, kind="stable")
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
        firsts = np.searchsorted(pairs[order], np.arange(len(seen) + 1))
        emptied = int(np.count_nonzero(np.diff(starts) == 0)) / max(1, len(starts) - 1)
        return cls(len(starts) - 1, pairs, seen, starts, row, firsts, emptied, data)

    @property
    def size(self) -> int:
        """How many visits there are."""
        return len(self.pairs)

    def as_arrays(self) -> VisitArrays:
        """The same visits as arrays in which subsequences are counted."""
        none = np.zeros((0, self.records), np.bool_)
        return VisitArrays(self.starts, self.pairs, len(self.firsts) - 1, none)

    def marks(self, sensitive: Sequence[tuple[str, Value]]) -> list[NDArray[np.bool_]]:
        """Which records have each sensitive value."""
        _, _, traits = self.data.arrays()
        return [self.data.records_with(traits, column, value) for column, value in sensitive]

    def matching(self, known: Sequence[int]) -> Integers:
        """The records that contain all of these visits."""
        lists = [self.rows[self.firsts[pair] : self.firsts[pair + 1]] for pair in known]
        lists.sort(key=len)
        rows = lists[0]
        for other in lists[1:]:
            rows = np.intersect1d(rows, other, assume_unique=True)
        return rows


def _recoded(data: Trajectories, original: Trajectories, axis: str) -> Integers:
    """The code in the original of each value; far below 0 where there is none."""
    known = original.domain.axis(axis).by_text
    none = -(1 << 40)
    return np.array([known.get(str(value), none) for value in data.domain.values(axis)], np.int64)
