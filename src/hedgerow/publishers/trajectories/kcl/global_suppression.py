"""Global suppression only, one pair at a time; it depends on counts per pair alone, so arrays are enough."""

from __future__ import annotations

import numpy as np

from hedgerow import progress
from hedgerow.data.subsequences import MinedSequences, VisitArrays
from hedgerow.publishers.trajectories.kcl.occurrences import OccurrenceIndex
from hedgerow.publishers.trajectories.kcl.utility_loss import Metric

__all__ = ["suppress_globally"]


def suppress_globally(visits: VisitArrays, mined: MinedSequences, metric: Metric) -> list[int]:
    """Delete the pair with the best score from all records until no MVS is left; return the deleted pairs.

    Global suppression never creates a violation, so only the list of MVS is needed. An MVS is eliminated with any of
    its pairs. Ties: the higher gain first, then the smaller pair.
    """
    listed = OccurrenceIndex(mined.violating, len(visits.pairs))
    left = total = len(listed.sizes)
    gain = np.zeros(visits.size, np.int64)
    listed.add_to_pairs(gain, visits.pairs, np.arange(total), 1)
    deleted: list[int] = []
    while left:
        progress.tell("suppressing", total - left, total)
        score = np.where(gain > 0, gain / (metric.everywhere() + 1.0), -1.0)
        best = np.flatnonzero(score == score.max())
        pair = int(best[gain[best].argmax()])
        metric.deleted(visits.of_pair(pair))
        occurrences = listed.touching(visits.of_pair(pair))
        listed.remove(occurrences)
        eliminated = np.unique(listed.at[occurrences])
        listed.add_to_pairs(gain, visits.pairs, eliminated, -1)
        left -= len(eliminated)
        deleted.append(pair)
    return deleted
