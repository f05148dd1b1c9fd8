"""Measures of trajectories: as labels, by suppression if visits are those of the original, else as journeys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Trajectories
from hedgerow.data.coarse_trajectories import CoarseTrajectories
from hedgerow.data.level_proposals import propose_bins, propose_grids
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import spread
from hedgerow.measures.generalisation import generalisation_controls, measure_generalisation
from hedgerow.measures.journeys import measure_journeys
from hedgerow.measures.mobility_comparison import compare_mobility
from hedgerow.measures.sequences import longest_of
from hedgerow.measures.suppression import measure_suppression
from hedgerow.score import Score

__all__ = ["controls", "describe", "measure"]

_LINKAGE = "KCL"


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
    # two widths are each time by itself and all together
    bins = {"proposed time bins": ", ".join(map(str, widths))} if len(widths) > 2 else {}  # noqa: PLR2004
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


def _linkage(compared: Comparison) -> Any:
    """The guarantee against linkage, if there is one (visits are then those of the original); else None."""
    return next((part for part in compared.guarantee.parts() if part.name == _LINKAGE), None)


def _most_frequent(data: Trajectories) -> NDArray[np.bool_]:
    """Mark the one visit of each record that is most frequent in all of the data."""
    starts, pairs, _ = data.arrays()
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((pairs, -np.bincount(pairs)[pairs], row))
    kept = np.zeros(len(pairs), np.bool_)
    kept[order[starts[:-1][np.diff(starts) > 0]]] = True
    return kept
