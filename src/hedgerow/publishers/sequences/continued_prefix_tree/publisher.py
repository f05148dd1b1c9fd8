"""Continued prefix trees: where the tree ends, sequences are continued by its own transitions (back-off)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data import Sequences, Trajectories
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.noise_limits import SCALES, require_little_noise
from hedgerow.publishers.sequences.continued_prefix_tree.continued_generation import generate_continued
from hedgerow.publishers.sequences.continued_prefix_tree.marginals import NUMBER, ask_marginals
from hedgerow.publishers.sequences.continued_prefix_tree.time_questions import note_times
from hedgerow.publishers.sequences.prefix_tree.constrained_inference import consistent_counts
from hedgerow.publishers.sequences.prefix_tree.growing import Growth, note_first_visits
from hedgerow.publishers.sequences.prefix_tree.place_groups import GROUPINGS, place_groups
from hedgerow.publishers.sequences.prefix_tree.release_generation import count_endings
from hedgerow.publishers.sequences.prefix_tree.thresholds import Thresholds

__all__ = ["ContinuedPrefixTree"]

#: the part of a level's budget for groups of places
_GROUP_SHARE = 0.5
#: standard deviations of the noise that a place must reach, and empty children expected to pass per node
_THRESHOLDS = Thresholds(place=5.0, false_nodes=0.5)


@dataclass(frozen=True, kw_only=True)
class ContinuedPrefixTree(Publisher[Sequences | Trajectories]):
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
    >>> from hedgerow import Domain
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
    kinds: ClassVar = (Sequences, Trajectories)
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

    def run(self, data: Sequences | Trajectories, ledger: Ledger) -> Sequences | Trajectories:
        """Count marginals, build the noisy prefix tree, make its counts consistent, and continue its sequences."""
        scale = max(1 / float(NUMBER), _THRESHOLDS.place * self.height) / float(ledger.budget)
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
