"""Generate the release: sequences that end in the tree, those that are continued, and those that it does not contain.

Only noisy answers and public facts are used here.
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

__all__ = ["generate_continued"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def generate_continued(
    tree: NoisyTree,
    counts: Floats,
    copies: Integers,
    labels: Labels,
    marginals: Marginals,
    longest: int,
    coins: np.random.Generator,
) -> tuple[LabelTable, Integers]:
    """Generate sequences, padded with -1, and how many there are of each.

    `copies` is the number of sequences of each node that are in none of its children. Those of an end node or of the
    greatest level are complete; the others are continued. Sequences that are missing in total are started by the model.
    """
    complete = tree.ends | (tree.level >= longest)
    table, numbers = distinct_sequences(tree, np.where(complete, copies, 0), longest)
    continued = np.repeat(np.flatnonzero(~complete), copies[~complete])
    missing = marginals.missing(tree, copies)
    # marginal counts that are not in the tree are for the continuations
    places, visits, starts = _residual_marginals(tree, counts, marginals)
    transitions = Transitions.of(tree, counts, places, starts, marginals.transition_types)
    transitions = calibrate(tree, transitions, continued, missing, places, longest, coins)
    more = continue_sequences(tree, transitions, continued, missing, longest, coins)
    if labels.times > 1 or labels.gap:

        def redraw(rows: Integers) -> LabelTable:
            part = len(rows) / max(1, len(more))
            return continue_sequences(tree, transitions, continued[rows], 0, longest, coins, part=part)

        assignment = TimeAssignment(marginals.times, visits, labels.gap, coins)
        more = assignment.fill(_journeys(tree, more, continued, labels.places), tree, redraw)
    return np.concatenate((table, more)), np.append(numbers, np.ones(len(more), np.int64))


def _journeys(tree: NoisyTree, table: LabelTable, continued: Integers, places: int) -> Journeys:
    """Which visits of continued sequences have times: those in the tree, or the first of a sequence not in the tree."""
    begun = np.arange(len(table)) >= len(continued)
    whole, node = np.ones(len(table), np.int64), np.full(len(table), -1)
    whole[~begun], node[~begun] = tree.level[continued], np.where(tree.expanded[continued], continued, -1)
    return Journeys(table, whole, node, begun, places)


def _residual_marginals(tree: NoisyTree, counts: Floats, marginals: Marginals) -> tuple[Floats, Floats, Floats]:
    """Marginals minus the counts of the tree: how often places occur, times occur, and times are the first."""
    items = np.flatnonzero(~tree.ends)
    time, place = np.divmod(tree.label[items], len(marginals.places))
    visits = marginals.times.visits - np.bincount(time, counts[items], len(marginals.times.visits))
    places = marginals.places - np.bincount(place, counts[items], len(marginals.places))
    first = np.flatnonzero(tree.level == 1)
    in_tree = np.zeros(len(visits))
    np.add.at(in_tree, tree.label[first] // len(places), counts[first])
    starts = start_times(marginals.times, marginals.total(tree), in_tree)
    return np.maximum(places, 0.0), visits, starts
