"""The binary mechanism: counts of a stream from a binary tree of noisy partial sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hedgerow.kinds.streams.data import Estimates, Stream
from hedgerow.kinds.streams.methods.partial_sums_model import BinaryTree
from hedgerow.kinds.streams.methods.running_sums import estimate_sums, fixed_schedule
from hedgerow.kinds.streams.methods.schedule import read_times
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publisher import Publisher, param


@dataclass(frozen=True, kw_only=True)
class BinaryMechanism(Publisher[Stream]):
    r"""Publish the sum of all events so far, or how many bits are 1, from a binary tree of noisy partial sums.

    The events between two publications are a leaf. With $q$ publications the tree has $L = \lceil \log_2 q \rceil + 1$
    levels, and the noise of every node is that of $\varepsilon / L$, drawn once. The sum after leaf $t$ is that of one
    node for each 1 among the bits of $t$, so that its noise changes from step to step: after leaf 64 it is that of one
    node, after leaf 63 that of six [1]_ [2]_. Half-widths are those of so many noises.

    Privacy
    -------
    partial sums: L1 is the number of steps between the declared bounds, 1 for bits, since an event lies in one node per
    level and changes its sum by at most that; the levels in sequence at $\varepsilon / L$ each, the nodes of one level
    in parallel, since they are disjoint sets of events. Publication times and the number of events are public.

    Examples
    --------
    >>> data = Stream.from_values([1, 0, 1, 1] * 250)
    >>> release = BinaryMechanism(every=250).publish(data, PureDP(epsilon=1, unit="event"), seed=7)
    >>> release.data.all_rows().values.tolist()
    [184.0, 373.0, 564.0, 752.0]

    References
    ----------
    .. [1] T.-H. H. Chan, E. Shi, D. Song. "Private and continual release of statistics". ACM Transactions on
       Information and System Security 14(3), 2011.
    .. [2] C. Dwork, M. Naor, T. Pitassi, G. N. Rothblum. "Differential privacy under continual observation". STOC 2010.
    """

    name: ClassVar[str] = "binary-mechanism"
    kinds: ClassVar = ("streams",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("event",)
    #: events are read here, in order; no engine counts them
    reads_all_records: ClassVar[bool] = True

    times: str = param("", "after which events to publish, such as 1000,2000,5000; without it, after every so many")
    every: int = param(1, "publish after every so many events, if no times are listed", ge=1)
    horizon: int = param(0, "the most events that there can be; 0 for the length of the stream, if it is known", ge=0)
    confidence: float = param(0.95, "probability that a sum is within its half-width", gt=0, lt=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_times(self.times)  # a list that cannot be read is refused before the data is opened

    def run(self, data: Stream, ledger: Ledger) -> Estimates:
        """Build the tree over the leaves, and sum up nodes after each leaf."""
        schedule = fixed_schedule(data, self.times, self.every, self.horizon)
        tree = BinaryTree(max(1, schedule.require_count()))
        return data.publishing(estimate_sums(data, ledger, schedule, tree, self.confidence), of="sums")
