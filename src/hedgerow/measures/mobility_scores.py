"""Distances between the mobility of a release and of the original, beside the same distances of the controls.

The same measures for every method, whatever it promises, so that releases can be compared. Two of the controls are made
here of the original's own visits: *independent visits*, dealt to its records at random, and *shuffled times*, in which
each record has the times of another one with as many visits.

For the owner only: no guarantee covers these figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.labelled_visits import LabelledVisits, total_variation
from hedgerow.measures.mobility import Frame, Mobility, most_frequent_cells
from hedgerow.measures.scoring import compared_score, mean_score, relative_errors
from hedgerow.score import Score

__all__ = ["mobility_scores", "with_shuffled_controls"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_TOP = 50
_DRAWN = 2_000

#: what is compared by total variation
_DISTANCES: dict[str, Callable[[Mobility], Any]] = {
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


def with_shuffled_controls(
    original: LabelledVisits, controls: Mapping[str, LabelledVisits], rng: np.random.Generator
) -> dict[str, LabelledVisits]:
    """Add the two controls that are made of the original's own visits."""
    return {
        **controls,
        "independent visits": original.independent(rng),
        "shuffled times": original.with_shuffled_times(rng),
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
    if not compared[""].visits.coarser:
        return []
    precisions = {name: data.precision() for name, data in compared.items()}
    return [
        compared_score(
            f"mean precision of {what}", {name: each[which] for name, each in precisions.items()}, better="higher"
        )
        for which, what in enumerate(("places", "times"))
    ]
