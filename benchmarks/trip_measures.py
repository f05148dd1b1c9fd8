"""Measures of timed trajectories against the original: profiles, origin-destination pairs, transitions, runs."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import Trajectories

Integers: TypeAlias = NDArray[np.int64]

#: pairs that are drawn from records, the sanity bound of relative errors, and how many frequent ones are compared
DRAWN, SANITY, TOP_PAIRS, TOP_RUNS = 2_000, 0.001, 50, 100


class Profile(NamedTuple):
    """Counts of one data set: each measure is a histogram."""

    records: int
    histograms: dict[str, Integers]
    pairs: Integers
    runs: dict[int, int]
    places: int


def profile(data: Trajectories, l_max: int) -> Profile:
    """Count what is compared; records without visits are left out."""
    starts, pairs, _ = data.arrays()
    places, times = data.domain.size("place"), data.domain.size("time")
    hour, place = np.divmod(pairs, places)
    filled = np.flatnonzero(np.diff(starts))
    at, end = starts[filled], starts[filled + 1] - 1
    block, blocks = hour * 6 // times, 6
    record = np.repeat(np.arange(len(data)), np.diff(starts))
    step = record[1:] == record[:-1]
    after = place[:-1][step] * places + place[1:][step]
    ends = place[at] * places + place[end]
    histograms = {
        "start hour": np.bincount(hour[at], minlength=times),
        "end hour": np.bincount(hour[end], minlength=times),
        "hour": np.bincount(hour, minlength=times),
        "place": np.bincount(place, minlength=places),
        "4 h x place": np.bincount(block * places + place, minlength=blocks * places),
        "start: 4 h x place": np.bincount(block[at] * places + place[at], minlength=blocks * places),
        "OD": np.bincount(ends, minlength=places**2),
        "length": np.bincount(np.minimum(np.diff(starts)[filled], l_max), minlength=l_max + 1),
        "duration": np.bincount(hour[end] - hour[at], minlength=times),
        "steps": np.bincount(after, minlength=places**2),
    }
    return Profile(len(filled), histograms, ends, top_runs(record, place, places), places)


def top_runs(record: Integers, place: Integers, places: int) -> dict[int, int]:
    """The most frequent runs of two and three places, by the number of records that have them."""
    counts: list[tuple[Integers, Integers]] = []
    for size in (2, 3):
        code = np.full(max(0, len(place) - size + 1), size, np.int64)
        for shift in range(size):
            code = code * places + place[shift : len(place) - size + 1 + shift]
        same = record[: len(code)] == record[size - 1 :]
        mine = np.unique(np.column_stack((record[: len(code)][same], code[same])), axis=0)
        counts.append(np.unique(mine[:, 1], return_counts=True))
    codes, many = (np.concatenate(parts) for parts in zip(*counts, strict=True))
    best = np.argsort(-many, kind="stable")[:TOP_RUNS]
    return dict(zip(codes[best].tolist(), many[best].tolist(), strict=True))


def compare(truth: Profile, release: Profile) -> dict[str, float]:
    """All measures of one release."""
    scores = {name: total_variation(truth.histograms[name], release.histograms[name]) for name in truth.histograms}
    pairs, ours = truth.histograms["OD"], release.histograms["OD"]
    drawn = truth.pairs[np.random.default_rng(1).integers(0, truth.records, DRAWN)]
    bound = SANITY * truth.records
    scores["OD rel."] = float(np.mean(np.abs(ours[drawn] - pairs[drawn]) / np.maximum(pairs[drawn], bound)))
    scores["top-50 OD"] = len(_top(pairs) & _top(ours))
    scores["top-100 runs"] = len(truth.runs.keys() & release.runs.keys())
    scores["number"] = release.records / truth.records
    return scores


def _top(counts: Integers) -> set[int]:
    best = np.argsort(-counts, kind="stable")[:TOP_PAIRS]
    return set(best[counts[best] > 0].tolist())


def total_variation(one: Integers, other: Integers) -> float:
    """The total variation distance between two histograms; 1 if one of them is empty."""
    if not one.sum() or not other.sum():
        return 1.0
    return 0.5 * float(np.abs(one / one.sum() - other / other.sum()).sum())
