"""Count queries of transit data: how many records visit all places of a set, in any order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sets.data import Sets
from hedgerow.kinds.sets.measures import drawn_queries, uniform_queries, workload_errors
from hedgerow.measures.itemset_index import ItemsetIndex
from hedgerow.measures.scoring import mean_score
from hedgerow.score import Score

_QUERIES = 200
_DRAWN = 1_000


def itemset_index_of(data: Sequences) -> ItemsetIndex:
    """Index the items of each record, without order and repetitions."""
    starts, items, weights = data.arrays()
    row = np.repeat(np.arange(len(weights)), np.diff(starts))
    return ItemsetIndex.of(Sets.from_counts(row=row, item=items, counts=weights, domain=data.domain))


def containment_scores(
    original: Sequences,
    released: Sequences,
    controls: Mapping[str, Sequences],
    rng: np.random.Generator,
) -> list[Score]:
    """Measure the relative error of count queries: sets of items drawn uniformly, and drawn from records [1]_.

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data
       publication: a case study on the Montreal transportation system". KDD 2012.
    """
    truth, ours = itemset_index_of(original), itemset_index_of(released)
    indexed_controls = {name: itemset_index_of(control) for name, control in controls.items()}
    workloads = {
        **uniform_queries(truth, rng, _QUERIES),
        **drawn_queries(truth, rng, _DRAWN),
    }
    scores: list[Score] = []
    for name, workload in workloads.items():
        if not workload:
            continue
        errors = workload_errors(truth, {"": ours, **indexed_controls}, workload)
        scores.append(
            mean_score(
                f"mean relative error of sets of items, {name}",
                errors.pop(""),
                {other: float(each.mean()) for other, each in errors.items()},
                chart="mean relative error of sets of items, by workload",
                at=name,
            )
        )
    return scores
