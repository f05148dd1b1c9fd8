"""Write whole sequences: those that end in the tree, those that go on where it stops, and those it does not tell of.

No private data is seen here.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Labels
from hedgerow.publishers.sequences.continued_prefix_tree.continuing import calibrate, continue_sequences
from hedgerow.publishers.sequences.continued_prefix_tree.marginals import Marginals
from hedgerow.publishers.sequences.continued_prefix_tree.time_assignment import Journeys, TimeAssignment
from hedgerow.publishers.sequences.continued_prefix_tree.time_estimates import start_times
from hedgerow.publishers.sequences.continued_prefix_tree.transitions import Transitions
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import LabelTable, NoisyTree
from hedgerow.publishers.sequences.prefix_tree.release_generation import distinct_sequences

__all__ = ["write_continued"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def write_continued(
    tree: NoisyTree,
    counts: Floats,
    copies: Integers,
    labels: Labels,
    marginals: Marginals,
    longest: int,
    coins: np.random.Generator,
) -> tuple[LabelTable, Integers]:
    """Lay out sequences, filled up with -1, and how many there are of each.

    `copies` are the sequences that each node has and none of its children. At the end of a sequence, and at the
    longest, they are written as they are; elsewhere they go on. What is missing in all is begun.
    """
    complete = tree.ends | (tree.level >= longest)
    table, many = distinct_sequences(tree, np.where(complete, copies, 0), longest)
    moving = np.repeat(np.flatnonzero(~complete), copies[~complete])
    missing = marginals.missing(tree, copies)
    # what the tree does not tell of is left for where it stops
    places, visits, starts = _untold(tree, counts, marginals)
    transitions = Transitions.of(tree, counts, places, starts, marginals.habits)
    transitions = calibrate(tree, transitions, moving, missing, places, longest, coins)
    more = continue_sequences(tree, transitions, moving, missing, longest, coins)
    if labels.times > 1 or labels.gap:

        def again(rows: Integers) -> LabelTable:
            part = len(rows) / max(1, len(more))
            return continue_sequences(tree, transitions, moving[rows], 0, longest, coins, part=part)

        assignment = TimeAssignment(marginals.times, visits, labels.gap, coins)
        more = assignment.fill(_journeys(tree, more, moving, labels.places), tree, again)
    return np.concatenate((table, more)), np.append(many, np.ones(len(more), np.int64))


def _journeys(tree: NoisyTree, table: LabelTable, moving: Integers, places: int) -> Journeys:
    """Which visits of continued sequences have times: those in the tree, or the first of what no node tells of."""
    begun = np.arange(len(table)) >= len(moving)
    whole, node = np.ones(len(table), np.int64), np.full(len(table), -1)
    whole[~begun], node[~begun] = tree.level[moving], np.where(tree.expanded[moving], moving, -1)
    return Journeys(table, whole, node, begun, places)


def _untold(tree: NoisyTree, counts: Floats, marginals: Marginals) -> tuple[Floats, Floats, Floats]:
    """What the tree does not tell of: how often places occur, and times, and times as the first."""
    items = np.flatnonzero(~tree.ends)
    time, place = np.divmod(tree.label[items], len(marginals.places))
    visits = marginals.times.visits - np.bincount(time, counts[items], len(marginals.times.visits))
    places = marginals.places - np.bincount(place, counts[items], len(marginals.places))
    first = np.flatnonzero(tree.level == 1)
    told = np.zeros(len(visits))
    np.add.at(told, tree.label[first] // len(places), counts[first])
    starts = start_times(marginals.times, marginals.total(tree), told)
    return np.maximum(places, 0.0), visits, starts
