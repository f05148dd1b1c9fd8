"""Continued prefix trees: where the tree ends, sequences are continued by its own transitions (back-off)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hedgerow.data.dataset import Dataset
from hedgerow.frontiers import Duration, Frontier, NextSymbol, TransitionType
from hedgerow.kinds.sequences.data import LabelledRecords
from hedgerow.kinds.sequences.methods.continued_prefix_tree.draw import generate_continued
from hedgerow.kinds.sequences.methods.continued_prefix_tree.model import (
    Marginals,
    TimeAnswers,
    TransitionTypeCounts,
    size_class,
    time_blocks,
)
from hedgerow.kinds.sequences.methods.prefix_tree.draw import count_endings
from hedgerow.kinds.sequences.methods.prefix_tree.model import (
    GROUPINGS,
    PlaceGroups,
    Thresholds,
    consistent_counts,
    place_groups,
)
from hedgerow.kinds.sequences.methods.prefix_tree.publisher import Growth, note_first_visits
from hedgerow.numerics.arrays import Integers
from hedgerow.numerics.visit_classes import duration_classes
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import SCALES, Publisher, param, require_little_noise

#: the part of a level's budget for groups of places
_GROUP_SHARE = 0.5
#: standard deviations of the noise that a place must reach, and empty children expected to pass per node
_THRESHOLDS = Thresholds(place=5.0, false_nodes=0.5)
#: the parts of the budget for the number of sequences, for transition types, and for each question about times
_NUMBER, _TRANSITION_TYPES, _PART = Fraction(1, 100), Fraction(3, 100), Fraction(3, 100)
#: the least and the largest part for places, in hundredths, and how it depends on the expected depth
_PLACES, _SHALLOW = (9, 50), 300.0
#: the expected count of a cell of the table of durations, in scales of its noise
_CELL = 6


@dataclass(frozen=True, kw_only=True)
class ContinuedPrefixTree(Publisher[Any]):
    r"""Publish sequences, or visits with their times, by a prefix tree whose sequences are continued where it ends.

    The tree is that of `prefix-tree` [1]_. Four things are our own. The end of a sequence is one more child of a node,
    so that sequences that end are distinguished from those whose next item did not reach the threshold. The latter are
    continued by transitions estimated from the whole tree (after the last three places, with back-off to fewer); in the
    paper they end, which makes most of them too short. Marginals are counted in addition to the tree (the number of
    sequences, places, transition types, times), and the continuations are fitted to what the tree leaves of them. The
    budget of a branch is divided among the levels that it is expected to have.

    Privacy
    -------
    prefixes: a sequence, truncated to its first `height` items, follows one path (L1 = 1, one token): at every level it
    is in one group, then at one place in that group, or at its end. A level spends a part of what is left on its path,
    groups and places together, and the last level at most the rest; so no path spends more than was reserved. number of
    records: a sequence counts once (L1 = 1), a hundredth of the budget. transition types: after each of its items but
    the last a sequence stays, returns to the previous place, goes elsewhere or ends (L1 = `height` - 1), three
    hundredths. places: a sequence has at most `height` items (L1 = `height`), nine to fifty hundredths, depending on
    the noisy number of records. Where visits have times, three hundredths each: times (L1 = `height`, as for places);
    first times: a record has one first visit, or none (L1 = 1); durations: a record is in one cell, by its number of
    visits, the block of its first time and the class of the time from its first to its last visit (L1 = 1). Which
    prefixes are expanded, what they spend, which times form a block, inference and generation depend on noisy answers
    only. Groups, times, thresholds, classes and height are public.

    Examples
    --------
    >>> from hedgerow import Domain, Sequences
    >>> domain = Domain.declare(item=["airport", "centre", "harbour", "museum"])
    >>> trips = [["airport", "centre", "airport"]] * 3000 + [["harbour"]] * 1000
    >>> data = Sequences.from_records(trips, domain=domain)
    >>> release = ContinuedPrefixTree(height=4).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 100]
    [(('harbour',), 1000), (('airport', 'centre', 'airport'), 3000)]

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data publication: a case
       study on the Montreal transportation system". KDD 2012; the tree is from this paper, the continuation is not.
    """

    name: ClassVar[str] = "continued-prefix-tree"
    kinds: ClassVar = ("sequences", "trajectories")
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "trajectory", "person")
    recommended: ClassVar[str] = "journeys among dozens of places and more"

    height: int = param(
        12, "height of the tree: how many items of a sequence are used, from the first on", ge=1, le=200
    )
    groups: str = param(
        "auto",
        "groups of places that are counted first, by fan-out or as declared; auto: by fan-out from 2,000 labels on",
        choices=GROUPINGS,
    )
    inference: str = param(
        "project", "constrained inference: by projection, or exact least squares", choices=("project", "exact")
    )

    def run(self, data: LabelledRecords, ledger: Ledger) -> Dataset:
        """Count marginals, build the noisy prefix tree, make its counts consistent, and continue its sequences."""
        scale = max(1 / float(_NUMBER), _THRESHOLDS.place * self.height) / float(ledger.budget)
        require_little_noise(SCALES * scale * self.height, "items", "take a larger epsilon, or a smaller height")
        groups = place_groups(data.domain, data.labels, self.groups, _GROUP_SHARE)
        positions = data.positions(self.height)
        marginals = ask_marginals(positions, groups, self.height, ledger)
        tree = Growth(self.height, groups, _THRESHOLDS, adaptive=True, ends=True).grow(positions, ledger)
        total = marginals.total(tree)
        counts = consistent_counts(tree, self.inference, total)
        copies = count_endings(tree, counts)
        note_first_visits(tree, groups, ledger)
        note_times(marginals.times, total, marginals.missing(tree, copies), ledger)
        table, numbers = generate_continued(tree, counts, copies, data.labels, marginals, self.height, ledger.coins())
        return data.from_labels(table, numbers)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `height` items of a sequence are used."""
        return {"longest": self.height}


# Marginal counts in addition to the tree: the number of sequences, places, transition types and times.


def ask_marginals(positions: Frontier, groups: PlaceGroups, height: int, ledger: Ledger) -> Marginals:
    """Ask for the number of sequences, transition types, the counts of places, and times if there are any."""
    symbol = NextSymbol(groups.labels.size)
    firsts = positions.first().count(symbol)
    share = ledger.budget * _NUMBER
    # a sequence counts once
    exact = np.array([firsts.counts.sum()])
    number = ledger.ask(exact, Laplace(l1=1), spend=share, label="number of records")
    transition_types = _ask_transition_types(positions, groups.places, height, ledger)
    counted = positions.count(symbol)
    occurs = np.zeros(groups.places, np.int64)
    np.add.at(occurs, counted.codes % groups.places, counted.counts)
    spend = ledger.budget * part_for_places(int(number[0]) * float(ledger.budget), groups.places, height)
    # a sequence has at most `height` items
    places = ledger.ask(occurs, Laplace(l1=height), spend=spend, label="places")
    records = max(0, int(number[0]))
    times = TimeAnswers.none(groups.times)
    if groups.times > 1:
        times = ask_times(positions, groups, records, height, ledger)
    return Marginals(records, 2 / float(share) ** 2, places, transition_types, times)


def _ask_transition_types(positions: Frontier, places: int, height: int, ledger: Ledger) -> TransitionTypeCounts:
    """Ask how often sequences stay at a place, return to the previous one, go elsewhere, or end."""
    spend = ledger.budget * _TRANSITION_TYPES
    noisy, deviation = np.zeros((0, 4), np.int64), 0.0
    if height > 1:
        exact = positions.count(TransitionType(places, height)).by_code()
        # a sequence has one transition after each of its items but the last
        steps = Laplace(l1=height - 1)
        noisy = ledger.ask(exact.ravel(), steps, spend=spend, label="transition types").reshape(-1, 4)
        deviation = math.sqrt(2) * (height - 1) / float(spend)
    return TransitionTypeCounts(noisy, deviation)


def part_for_places(strength: float, places: int, height: int) -> Fraction:
    """The part of the budget for the counts of places: small, unless the tree will be shallow.

    It is shallow if the number of sequences per place is hardly larger than the noise of a level. `strength` is the
    noisy number of sequences times epsilon.
    """
    deep = max(1.0, strength / (places * height))
    least, most = _PLACES
    return Fraction(min(most, max(least, round(_SHALLOW / deep))), 100)


# Ask for the times of visits, the first times of journeys, and their durations.


def ask_times(positions: Frontier, groups: PlaceGroups, number: int, height: int, ledger: Ledger) -> TimeAnswers:
    """Ask for times of visits, for first times, and for durations.

    `number` is the noisy number of records, from which the number of blocks of times follows.
    """
    spend = ledger.budget * _PART
    label, first = NextSymbol(groups.labels.size), positions.first()
    counted, firsts = positions.count(label), first.count(label)
    # a visit moves one cell by 1, and a record has at most `height` of them
    exact = _by_time(counted.codes, counted.counts, groups)
    visits = ledger.ask(exact, Laplace(l1=height), spend=spend, label="times")
    # a record has one first visit, or none
    exact = _by_time(firsts.codes, firsts.counts, groups)
    starts = ledger.ask(exact, Laplace(l1=1), spend=spend, label="first times")
    spans = duration_classes(groups.times)
    sizes = 1 + int(size_class(np.array([height]), height)[0])
    most = int(number * spend / (_CELL * sizes * (int(spans[-1]) + 1)))
    block = time_blocks(np.maximum(starts, 0).astype(np.float64), max(1, most))
    durations = np.zeros((0, 0, 0))
    if height > 1:
        # a record is in one cell, or in none if it has one visit
        duration = Duration(groups.places, size_class(np.arange(height + 1), height), block, spans)
        exact = first.count(duration).by_code()
        noisy = ledger.ask(exact, Laplace(l1=1), spend=spend, label="durations")
        durations = noisy.reshape(duration.shape).astype(np.float64)
    return TimeAnswers(
        visits=visits.astype(np.float64),
        visit_scale=height / float(spend),
        starts=starts.astype(np.float64),
        start_scale=1 / float(spend),
        durations=durations,
        duration_scale=1 / float(spend),
        block=block,
    )


def _by_time(codes: Integers, counts: Integers, groups: PlaceGroups) -> Integers:
    exact = np.zeros(groups.times, np.int64)
    np.add.at(exact, codes // groups.places, counts)
    return exact


def note_times(times: TimeAnswers, total: float, missing: int, ledger: Ledger) -> None:
    """Note in the statement which answers about times were not significant.

    `total` is the number of generated records; `missing` is how many of them start with a visit that is not in the
    tree.
    """
    if len(times.starts) == 1:
        return
    ledger.note(
        "records that start with none of these first visits: their first place and first time were "
        "drawn independently of each other",
        missing,
    )
    if not times.starts_significant(total):
        ledger.note(
            "of these, records whose first times were spread evenly: the noisy answer does not differ "
            "significantly from an even distribution",
            missing,
        )
    if len(times.durations) and not times.durations_significant:
        ledger.note(
            "answers about durations that are not significantly different from noise: if a journey is not "
            "counted to its end, its last time is drawn from all later times",
            1,
        )
