"""Prefix trees: noisy counts of prefixes, level by level, as deep as they reach a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data import Sequences, Trajectories
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.noise_limits import SCALES, require_little_noise
from hedgerow.publishers.sequences.prefix_tree.constrained_inference import consistent_counts
from hedgerow.publishers.sequences.prefix_tree.first_visits import (
    add_first_visits,
    ask_first_visits,
    noise_of_number,
    note_added_visits,
)
from hedgerow.publishers.sequences.prefix_tree.growing import Growth, note_first_visits
from hedgerow.publishers.sequences.prefix_tree.place_groups import GROUPINGS, PlaceGroups, place_groups
from hedgerow.publishers.sequences.prefix_tree.release_generation import count_endings, distinct_sequences
from hedgerow.publishers.sequences.prefix_tree.thresholds import Thresholds

__all__ = ["PrefixTree"]


@dataclass(frozen=True, kw_only=True)
class PrefixTree(Publisher[Sequences | Trajectories]):
    r"""Publish sequences, or visits with their times, by the noisy counts of their prefixes.

    The noisy prefix tree is built level by level: a prefix whose noisy count reaches a threshold is expanded by every
    place that may come next. In a *hybrid* tree, groups of places (a location taxonomy) are counted first, and places
    only in groups that reach their threshold, so that few of the many empty prefixes do. Constrained inference makes
    the noisy counts consistent; the release is generated from the tree, and a sequence ends where the tree does [1]_. A
    visit with a time is one label of place and time; times never decrease along a sequence.

    Corrected: the printed inference leaves negative counts, and children whose counts exceed that of their parent; here
    the children are projected onto the count of their parent, or least squares are solved over the whole tree
    (`inference` exact). Counts are rounded together, so that every prefix keeps its count. Two visits may have the same
    time. The printed split of the budget leaves hardly anything for groups, and nothing for the places in a group of
    two (`group_share`); with the printed threshold empty prefixes multiply if there are no groups (`false_nodes`).
    Where visits have times, the paper drops the records that start with no counted prefix, which are most of them if
    there are many places and times; the hours of the few others then pass for those of all. Here the times and places
    of first visits are asked for in addition, and these records are published with their first visit alone.

    Privacy
    -------
    prefixes: a sequence, truncated to its first `height` items, follows one path (L1 = 1, one token): at every level it
    is in one group, then at one place in that group. A level spends a part of what is left on its path, groups and
    places together, and the last level at most the rest; so no path spends more than was reserved. Where visits have
    times, three hundredths of the budget each: first times, first places: a record has one first visit, or none
    (L1 = 1). Which prefixes are expanded, what they spend, inference, rounding and added visits depend on noisy answers
    only. Groups, times, thresholds and height are public.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["airport", "centre", "harbour", "museum"])
    >>> trips = [["airport", "centre", "airport"]] * 3000 + [["harbour"]] * 1000
    >>> data = Sequences.from_records(trips, domain=domain)
    >>> release = PrefixTree(height=4).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 100]
    [(('harbour',), 1000), (('airport', 'centre', 'airport'), 3000)]

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data publication: a case
       study on the Montreal transportation system". KDD 2012.
    """

    name: ClassVar[str] = "prefix-tree"
    kinds: ClassVar = (Sequences, Trajectories)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "trajectory", "person")

    height: int = param(
        12, "height of the tree: how many items of a sequence are used, from the first on", ge=1, le=200
    )
    groups: str = param(
        "auto",
        "groups of places that are counted first, by fan-out or as declared; auto: by fan-out from 2,000 labels on",
        choices=GROUPINGS,
    )
    group_share: float = param(
        0.5, "part of a level's budget for groups; 0: as printed, two over the size of a group", ge=0, lt=1
    )
    threshold: float = param(5.0, "standard deviations of the noise that the count of a place must reach", ge=0)
    false_nodes: float = param(0.5, "most empty children of a node expected to reach the threshold; 0: no bound", ge=0)
    budget: str = param(
        "uniform",
        "share of each level: equal, or by the expected height of the branch",
        choices=("uniform", "adaptive"),
    )
    inference: str = param(
        "project", "constrained inference: by projection, or exact least squares", choices=("project", "exact")
    )

    def run(self, data: Sequences | Trajectories, ledger: Ledger) -> Sequences | Trajectories:
        """Build the noisy prefix tree, make its counts consistent, and generate the release."""
        timed = data.labels.times > 1
        noise = noise_of_number(data.labels.times, ledger.budget) if timed else 0.0
        scale = max(noise, self.threshold * self.height / float(ledger.budget))
        require_little_noise(SCALES * scale * self.height, "items", "take a larger epsilon, or a smaller height")
        groups = place_groups(data.domain, data.labels, self.groups, self.group_share)
        positions = data.positions(self.height)
        first = ask_first_visits(positions, groups, ledger) if timed else None
        tree = self.growth(groups).grow(positions, ledger)
        note_first_visits(tree, groups, ledger)
        counts = consistent_counts(tree, self.inference)
        copies = count_endings(tree, counts)
        sequences, numbers = distinct_sequences(tree, copies, self.height)
        if first is not None:
            sequences, numbers = add_first_visits(first, sequences, numbers, ledger.coins())
            note_added_visits(int(numbers.sum()) - int(copies.sum()), ledger)
        return data.from_labels(sequences, numbers)

    def growth(self, groups: PlaceGroups) -> Growth:
        """How the tree is built."""
        thresholds = Thresholds(self.threshold, self.false_nodes)
        return Growth(self.height, groups, thresholds, adaptive=self.budget == "adaptive", ends=False)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `height` items of a sequence are used."""
        return {"longest": self.height}
