"""Utility of synthetic trajectories as sequences of places, next to what all trajectories are measured by.

For the owner only: no guarantee covers these figures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hedgerow.data import Domain, Sequences, Trajectories
from hedgerow.measures.containment import containment_scores
from hedgerow.measures.mobility_comparison import compare_mobility
from hedgerow.measures.sequences import measure_sequences
from hedgerow.score import Score

__all__ = ["as_sequences", "measure_journeys"]


def as_sequences(data: Trajectories) -> Sequences:
    """The places of each record in order; records without visits are left out."""
    starts, pairs, _ = data.arrays()
    domain = Domain((("item", data.domain.axis("place")),), data.domain.source)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Sequences.from_columns(row=row, item=pairs % data.domain.size("place"), domain=domain)


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
