"""Compare released trajectories with the original by the measures that all methods share, beside the controls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hedgerow.data import Trajectories
from hedgerow.measures.labelled_visits import LabelledVisits
from hedgerow.measures.mobility import Frame, Mobility
from hedgerow.measures.mobility_charts import mobility_charts
from hedgerow.measures.mobility_on_a_map import map_scores
from hedgerow.measures.mobility_scores import mobility_scores, with_shuffled_controls
from hedgerow.score import Score

__all__ = ["compare_labels", "compare_mobility"]


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
