"""Measures of trajectories: as journeys if they are synthetic, as labels, or as what suppression left of visits.

For the owner only: no guarantee covers these figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Domain, Value
from hedgerow.data.grids import propose_grids
from hedgerow.errors import ParameterError
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sequences.measures import containment_scores, longest_of, measure_sequences
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.levels import propose_bins
from hedgerow.kinds.trajectories.mobility import LabelledVisits, Spread
from hedgerow.kinds.trajectories.mobility_measures import compare_labels, compare_mobility
from hedgerow.kinds.trajectories.record_linkage import Visits, measure_limit, measure_linkage
from hedgerow.kinds.trajectories.sequence_mining import compare_maximal_frequent
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import spread
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy import Guarantee
from hedgerow.score import Score, exact_score


def describe(data: Trajectories) -> dict[str, Any]:
    """Describe trajectories; every figure is a function of the private data: for the owner only."""
    starts, pairs, traits = data.arrays()
    size = data.domain.size("place")
    return {
        "records": len(data),
        "times that occur": len(np.unique(pairs // size)),
        "places that occur": len(np.unique(pairs % size)),
        "pairs of place and time that occur": len(np.unique(pairs)),
        "domain": data.domain.source.value,
        "visits per record": spread(np.diff(starts)),
        **{f"values of {name}": len(np.unique(codes[codes >= 0])) for name, codes in traits.items()},
        **_propose_levels(data),
    }


def _propose_levels(data: Trajectories) -> dict[str, Any]:
    """Propose coarser places and times: cells that nest, with how many regions each size has, and widths of bins."""
    grids = propose_grids(data.domain.axis("place"))
    sizes = {f"{level.size} degrees": level.regions for level in grids}
    times = data.domain.values("time")
    whole = [time for time in times if isinstance(time, int)]
    widths = propose_bins(whole) if len(whole) == len(times) else []
    # the first width is each time by itself, the last all together
    bins = {"proposed time bins": ", ".join(map(str, widths))} if widths[1:-1] else {}
    return {**({"proposed regions": sizes} if sizes else {}), **bins}


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: an empty release, and others that depend on the guarantee.

    Against linkage: one visit per record, and global suppression. Else: first visits alone, and the truncated original.
    """
    original: Trajectories = compared.original
    promise = _linkage(compared)
    if promise is None:
        longest = longest_of(compared)
        return {
            "empty release": original.truncated(0),
            "first visits": Control("prefix-tree", {"height": 1}),
            f"original, cut at {longest}": original.truncated(longest),
        }
    if isinstance(compared.released, CoarseTrajectories):
        return generalisation_controls(original, promise)
    single = original.keep_visits(_most_frequent(original))
    return {
        "empty release": original.truncated(0),
        "one visit per record": Control("kcl-reinsertion", {"schedule": "grow"}, data=single, guarantee=promise),
        "global suppression": Control("kcl", {"mode": "global"}, guarantee=promise),
    }


def measure(compared: Comparison, controls: Mapping[str, Trajectories], rng: np.random.Generator) -> list[Score]:
    """Compare released trajectories with the original, and with the controls."""
    original, released, promise = compared.original, compared.released, _linkage(compared)
    if promise is None:
        return measure_journeys(original, released, controls, rng, longest=longest_of(compared))
    if isinstance(released, CoarseTrajectories):
        return measure_generalisation(compared, controls, rng, longest=longest_of(compared))
    shared = compare_mobility(original, released, controls, rng.spawn(1)[0], longest=longest_of(compared))
    return shared + measure_suppression(
        original,
        released,
        controls,
        rng,
        knows=promise.l,
        sensitive=promise.sensitive,
        c=promise.c,
        frequent=compared.number("frequent", max(2, promise.k, len(original) // 100)),
    )


def _linkage(compared: Comparison) -> KCL | None:
    """The guarantee against linkage, if there is one (visits are then those of the original); else None."""
    return next((part for part in compared.guarantee.parts() if isinstance(part, KCL)), None)


def _most_frequent(data: Trajectories) -> NDArray[np.bool_]:
    """Mark the one visit of each record that is most frequent in all of the data."""
    starts, pairs, _ = data.arrays()
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((pairs, -np.bincount(pairs)[pairs], row))
    kept = np.zeros(len(pairs), np.bool_)
    kept[order[starts[:-1][np.diff(starts) > 0]]] = True
    return kept


# ---- journeys: the utility of synthetic trajectories as sequences of places


def measure_journeys(
    original: Trajectories,
    released: Trajectories,
    controls: Mapping[str, Trajectories],
    rng: np.random.Generator,
    *,
    longest: int,
    queries: int = 2_000,
) -> list[Score]:
    """Compare released visits with the original, both over the same places and times.

    Parameters
    ----------
    controls
        Other releases by name.
    rng
        Draws the workloads.
    longest
        How many visits of a record were used.
    queries
        How many queries each group of the workload has.
    """
    # shared measures draw from a stream of their own, so that the workloads of sequences do not depend on them
    scores = compare_mobility(original, released, controls, rng.spawn(1)[0], longest=longest)
    place_sequences = {name: as_sequences(control) for name, control in controls.items()}
    before, after = as_sequences(original), as_sequences(released)
    scores += measure_sequences(before, after, place_sequences, rng, longest=longest, queries=queries)
    return [*scores, *containment_scores(before, after, place_sequences, rng)]


def as_sequences(data: Trajectories) -> Sequences:
    """The places of each record in order; records without visits are left out."""
    starts, pairs, _ = data.arrays()
    domain = Domain((("item", data.domain.axis("place")),), data.domain.source)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Sequences.from_columns(row=row, item=pairs % data.domain.size("place"), domain=domain)


# ---- coarser places and times: what all methods share, and how coarse the labels are


def generalisation_controls(original: Trajectories, promise: Guarantee) -> dict[str, Dataset | Control]:
    """The controls: an empty release, and exact visits by suppression, the first of each record at each time."""
    starts, pairs, _ = original.arrays()
    record = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    time = pairs // original.domain.size("place")
    first = np.append(True, (record[1:] != record[:-1]) | (time[1:] != time[:-1]))[: len(pairs)]
    exact = replace(original.keep_visits(first), several=False)
    suppression = Control("kcl-reinsertion", {"schedule": "grow"}, data=exact, guarantee=promise)
    return {"empty release": original.truncated(0), "suppression": suppression}


def measure_generalisation(
    compared: Comparison, controls: Mapping[str, Trajectories], rng: np.random.Generator, *, longest: int
) -> list[Score]:
    """Compare labels with the original visits, and with the controls.

    A release does not tell which of its records is which of the original, so labels are compared as a whole; each
    stands for one visit or more.
    """
    original, released = compared.original, compared.released
    visits = labelled_visits(released, original.domain)
    others = {name: LabelledVisits.of(data, original.domain) for name, data in controls.items()}
    shared = compare_labels(original, visits, others, rng, longest=longest)
    return [*shared, *_label_scores(original, released), *_level_chart(released)]


def labelled_visits(data: CoarseTrajectories, domain: Domain) -> LabelledVisits:
    """The labels of a release, with the places and times that they stand for."""
    levels = data.levels
    if levels.places[0].regions != tuple(map(str, domain.values("place"))):
        msg = "the release has labels over other places than the data; give the domain that it was published with"
        raise ParameterError(msg)
    place_level, region, time_level, number = levels.split(data.labels)
    firsts = np.cumsum([0, *(len(level.regions) for level in levels.places)])
    places = np.arange(domain.size("place"))
    regions = Spread(
        labels=int(firsts[-1]),
        values=len(places),
        rows=np.concatenate([first + level.of_place for first, level in zip(firsts, levels.places, strict=False)]),
        columns=np.tile(places, len(levels.places)),
    )
    times = [int(value) for value in domain.values("time")]
    ends = np.cumsum([0, *levels.times.counts()])
    bins = Spread(
        labels=int(ends[-1]),
        values=len(times),
        rows=np.concatenate([first + of for first, of in zip(ends, levels.bins_of(times), strict=False)]),
        columns=np.tile(np.arange(len(times)), len(levels.times.widths)),
    )
    return LabelledVisits(data.starts, firsts[place_level] + region, ends[time_level] + number, regions, bins)


def _label_scores(original: Trajectories, released: CoarseTrajectories) -> list[Score]:
    """How many labels there are, and how many moves between places can still be seen."""
    starts, pairs, _ = original.arrays()
    places = pairs % original.domain.size("place")
    inner = np.ones(max(0, len(pairs) - 1), np.bool_)
    inner[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(pairs))] - 1] = False
    moves = int((inner & (places[1:] != places[:-1])).sum())
    seen = _count_moves(released)
    emptied = float((np.diff(released.starts) == 0).mean()) if len(released) else 0.0
    return [
        exact_score("labels per visit of the original", len(released.labels) / max(1, len(pairs)), {}),
        exact_score("share of records without labels", emptied, {}, better="lower"),
        exact_score("moves between regions per move of the original", seen / max(1, moves), {}, better="higher"),
    ]


def _count_moves(data: CoarseTrajectories) -> int:
    """Count consecutive labels of a record whose regions have no place in common."""
    place_level, region, _, _ = data.levels.split(data.labels)
    record = np.repeat(np.arange(len(data)), np.diff(data.starts))
    # one place of each region tells its region on every coarser level
    some = [np.unique(level.of_place, return_index=True)[1] for level in data.levels.places]
    place = np.array(
        [some[level][at] for level, at in zip(place_level.tolist(), region.tolist(), strict=True)], np.int64
    )
    coarser = np.maximum(place_level[1:], place_level[:-1])
    apart = np.zeros(len(coarser), np.bool_)
    for number, level in enumerate(data.levels.places):
        here = coarser == number
        apart[here] = level.of_place[place[1:][here]] != level.of_place[place[:-1][here]]
    return int((apart & (record[1:] == record[:-1])).sum())


def _level_chart(released: CoarseTrajectories) -> list[Score]:
    """The chart of how many labels there are of each pair of levels."""
    chart = "labels by level of places and width of time bins"
    return [exact_score(f"{chart}: {name}", count, {}, chart=chart, at=name) for name, count in count_levels(released)]


def count_levels(data: CoarseTrajectories) -> list[tuple[str, int]]:
    """How many labels there are of each pair of levels that occurs, as a name and a number."""
    place_level, _, time_level, _ = data.levels.split(data.labels)
    widths = len(data.levels.times.widths)
    counts: list[int] = np.bincount(place_level * widths + time_level).tolist()
    return [
        (f"level {data.levels.places[pair // widths].name}, bins of {data.levels.times.widths[pair % widths]}", count)
        for pair, count in enumerate(counts)
        if count
    ]


# ---- suppression: what is left, and what an attacker who knows a few visits still learns

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
    """The share of marked records among those with visits."""
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
