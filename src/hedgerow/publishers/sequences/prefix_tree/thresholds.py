"""The thresholds that a noisy count must reach for its node to be kept."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy import Shares
from hedgerow.publishers.sequences.prefix_tree.group_tests import END, GROUP, CandidateFamilies
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups
from hedgerow.steps.coarse_grid import on_grid

__all__ = ["Thresholds"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: a cutoff that no count reaches
_LARGEST = 1 << 59


class Thresholds(NamedTuple):
    """The thresholds of a prefix tree.

    `place` and `group` are the standard deviations of the noise that a count must reach. At most `false_nodes` of the
    empty candidates below a node are expected to pass; 0 sets no such bound.
    """

    place: float
    false_nodes: float
    group: float = 4.0

    def cutoff(self, families: CandidateFamilies, share: Shares) -> Integers:
        """The least count that passes; the number of sequences that end at a node has no threshold."""
        spend = share.floats()
        scales = math.sqrt(2) * np.where(families.kind == GROUP, self.group, self.place)
        if self.false_nodes > 0:
            # an empty one reaches t with probability a**t / (1 + a): at most `false_nodes` per family in expectation
            few = np.log(families.candidates / (self.false_nodes * (1 + np.exp(-spend))))
            scales = np.maximum(scales, few)
        scales[families.kind == END] = 0
        return np.clip(np.ceil(on_grid(scales / spend)), 1, _LARGEST).astype(np.int64)

    def of_level(self, groups: PlaceGroups, share: Floats) -> Floats:
        """Approximately the least count that passes all thresholds of a level."""
        scales = [self.group / float(part) for part in groups.spend]
        scales.append(self.place / float(1 - sum(groups.spend, Fraction(0))))
        return np.maximum(1.0, math.sqrt(2) * max(scales) / share)
