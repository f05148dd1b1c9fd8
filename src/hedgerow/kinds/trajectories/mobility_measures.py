"""Compare released trajectories with the original by the measures that all methods share, beside the controls.

The same measures for every method, whatever it promises, so that releases can be compared. For the owner only: no
guarantee covers these figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from hedgerow.kinds.trajectories.adatrace_measures import map_scores
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.mobility import (
    Frame,
    LabelledVisits,
    Mobility,
    Sparse,
    most_frequent_cells,
    total_variation,
)
from hedgerow.measures.scoring import compared_score, mean_score, relative_errors
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.score import Score, exact_score


def compare_mobility(
    original: Trajectories,
    released: Trajectories,
    controls: Mapping[str, Trajectories],
    rng: np.random.Generator,
    *,
    longest: int,
) -> list[Score]:
    """Compare released trajectories with the original: profile of the day and flows first, then distances."""
    domain = original.domain
    visits = {name: LabelledVisits.of(data, domain) for name, data in controls.items()}
    return compare_labels(original, LabelledVisits.of(released, domain), visits, rng, longest=longest)


def compare_labels(
    original: Trajectories,
    released: LabelledVisits,
    controls: Mapping[str, LabelledVisits],
    rng: np.random.Generator,
    *,
    longest: int,
) -> list[Score]:
    """Compare a release whose labels may be coarser than the places and times of the original."""
    domain = original.domain
    truth = LabelledVisits.of(original, domain)
    frame = Frame.of(domain)
    others = with_shuffled_controls(truth, controls, rng)
    return [
        *mobility_charts(Mobility(truth, frame), Mobility(released, frame)),
        *mobility_scores(frame, truth, released, others, rng, longest=longest),
        *map_scores(domain.axis("place"), truth, released, others, rng),
    ]


def with_shuffled_controls(
    original: LabelledVisits, controls: Mapping[str, LabelledVisits], rng: np.random.Generator
) -> dict[str, LabelledVisits]:
    """Add the two controls that are made of the original's own visits.

    *Independent visits* are dealt to its records at random; with *shuffled times* each record has the times of another
    one with as many visits.
    """
    return {
        **controls,
        "independent visits": original.independent(rng),
        "shuffled times": original.with_shuffled_times(rng),
    }


# ---- charts that people look at first: the profile of the day, and the largest flows

#: the charts of the profile of the day
PROFILES = ("records by time of first visit", "records by time of last visit", "visits by time")
_FLOWS = "the most frequent origin-destination pairs"
_DURATIONS = "records by duration, in time steps"
_SHOWN = 20
#: times that a chart shows; more are put together
_MOST_TIMES = 48


def mobility_charts(truth: Mobility, ours: Mobility) -> list[Score]:
    """The counts of the charts: profile of starts, ends and visits, the largest flows, and durations."""
    flows = most_frequent_cells(truth.flows, _SHOWN)
    names = truth.frame.regions.names
    titles = [f"{names[row]} to {names[column]}" for row, column in flows]
    before, after = ([float(data.flows[row, column]) * data.records for row, column in flows] for data in (truth, ours))
    steps = range(min(_SHOWN, truth.visits.bins.values))
    return [
        *_profiles(truth, ours),
        *_bars(_FLOWS, titles, before, after),
        *_bars(
            _DURATIONS,
            map(str, steps),
            (truth.durations * truth.records)[steps],
            (ours.durations * ours.records)[steps],
        ),
    ]


def _profiles(truth: Mobility, ours: Mobility) -> list[Score]:
    """The profile of the day: how many records start and end, and how many visits there are, at each time."""
    # how many times are put together, and what they are called
    several = -(-len(truth.frame.hour_names) // _MOST_TIMES)
    names = truth.frame.hour_names[::several]
    scores: list[Score] = []
    for chart, (before, after) in zip(PROFILES, zip(_counts(truth), _counts(ours), strict=True), strict=True):
        at = np.arange(0, len(before), several)
        scores += _bars(chart, names, np.add.reduceat(before, at), np.add.reduceat(after, at))
    return scores


def _counts(data: Mobility) -> tuple[Floats, Floats, Floats]:
    """The number of records that start and that end, and of visits, at each time."""
    visits = len(data.visits.times)
    return data.start_hours * data.records, data.end_hours * data.records, data.hours * visits


def _bars(chart: str, names: Iterable[str], before: Iterable[float], after: Iterable[float]) -> list[Score]:
    """One score per name; counts are whole numbers unless labels were spread."""
    return [
        exact_score(f"{chart}: {name}", round(float(new), 3), {"original": round(float(old), 3)}, chart=chart, at=name)
        for name, old, new in zip(names, before, after, strict=True)
    ]


# ---- distances between the mobility of a release and of the original, beside those of the controls

_TOP = 50
_DRAWN = 2_000
#: what is compared by total variation
_DISTANCES: dict[str, Callable[[Mobility], Floats | Sparse]] = {
    "times of first visits": lambda data: data.start_hours,
    "times of last visits": lambda data: data.end_hours,
    "times of visits": lambda data: data.hours,
    "origin-destination pairs": lambda data: data.flows,
    "places of visits": lambda data: data.places,
    "transitions between places": lambda data: data.transitions,
    "durations": lambda data: data.durations,
    "times and places of visits": lambda data: data.hours_and_places,
    "parts of the day and places of visits": lambda data: data.parts_and_places,
    "parts of the day and places of first visits": lambda data: data.parts_and_origins,
}


def mobility_scores(
    frame: Frame,
    original: LabelledVisits,
    released: LabelledVisits,
    controls: Mapping[str, LabelledVisits],
    rng: np.random.Generator,
    *,
    longest: int,
) -> list[Score]:
    """Compare a release with the original, both over the frame of the original's domain.

    - *Total variation* of the distributions of `Mobility`: half the sum of absolute differences, from 0 (equal) to 1;
      1 for an empty release. Flows, transitions and parts of the day are compared between places, or between
      `evaluation_regions` if there are more than 1,000 of them. A part of the day is a sixth of all hours.
    - *Mean relative error of origin-destination counts*: for 2,000 records drawn from the original, how far the number
      of records with the same pair is off, relative to the true number, or to a thousandth of all records if that is
      more.
    - *Share of the most frequent origin-destination pairs*: of the 50 of the original, how many are among the 50 of the
      release (ties by the order of places).
    - *Precision*: see `Mobility.precision`; only if the release has coarser labels.

    Parameters
    ----------
    controls
        Other releases by name.
    rng
        Draws the records whose pairs are counted.
    longest
        Lengths are compared up to so many visits.
    """
    truth = Mobility(original, frame)
    compared = {"": Mobility(released, frame), **{name: Mobility(visits, frame) for name, visits in controls.items()}}
    scores = [
        compared_score(
            f"total variation of {what}",
            {name: total_variation(read(truth), read(data)) for name, data in compared.items()},
            better="lower",
        )
        for what, read in _DISTANCES.items()
    ]
    exact = truth.lengths(longest)
    lengths = {name: total_variation(exact, data.lengths(longest)) for name, data in compared.items()}
    trips = {"original": truth.share_of_trips(), **{name: data.share_of_trips() for name, data in compared.items()}}
    return [
        *scores[:4],
        *_flow_scores(truth, compared, rng),
        *scores[4:],
        compared_score(f"total variation of numbers of visits, cut at {longest}", lengths, better="lower"),
        compared_score("share of records with two visits or more", trips),
        *_precision_scores(compared),
    ]


def _flow_scores(truth: Mobility, compared: Mapping[str, Mobility], rng: np.random.Generator) -> list[Score]:
    """How far counts of origins and destinations are off, and how many of the most frequent pairs are found again."""
    if not truth.records:
        return []
    drawn = rng.integers(0, truth.records, _DRAWN)
    # labels of the original are exact, so that each has one region
    regions = truth.frame.regions.of_place[truth.visits.regions.columns]
    rows, columns = (regions[truth.visits.places[at[drawn]]] for at in truth.visits.ends)
    exact = np.rint(_count_cells(truth, rows, columns)).astype(np.int64)
    errors = {
        name: relative_errors(exact, _count_cells(data, rows, columns), truth.records)
        for name, data in compared.items()
    }
    others = {name: float(error.mean()) for name, error in errors.items() if name}
    top = set(most_frequent_cells(truth.flows, _TOP))
    shares = {name: len(top.intersection(most_frequent_cells(data.flows, _TOP))) for name, data in compared.items()}
    return [
        mean_score("mean relative error of origin-destination counts", errors[""], others),
        compared_score(
            f"share of the {len(top)} most frequent origin-destination pairs",
            {name: count / len(top) for name, count in shares.items()},
            better="higher",
        ),
    ]


def _count_cells(data: Mobility, rows: Integers, columns: Integers) -> Floats:
    """How many records have each of these origins and destinations."""
    return np.asarray(data.flows[rows, columns], np.float64).ravel() * data.records


def _precision_scores(compared: Mapping[str, Mobility]) -> list[Score]:
    """The mean precision of places and times, if the release has coarser labels."""
    if not compared[""].visits.coarser:
        return []
    precisions = {name: data.precision() for name, data in compared.items()}
    return [
        compared_score(
            f"mean precision of {what}", {name: each[which] for name, each in precisions.items()}, better="higher"
        )
        for which, what in enumerate(("places", "times"))
    ]
