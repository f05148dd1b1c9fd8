"""The smooth binary mechanism: counts of a stream that have the same noise at every step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from hedgerow.kinds.streams.data import Estimates, Stream
from hedgerow.kinds.streams.methods.partial_sums_model import SmoothTree
from hedgerow.kinds.streams.methods.running_sums import estimate_sums, fixed_schedule
from hedgerow.kinds.streams.methods.schedule import read_times
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publisher import Publisher, param


@dataclass(frozen=True, kw_only=True)
class StreamCount(Publisher[Stream]):
    r"""Publish the sum of all events so far, or how many bits are 1, with the same noise at every step.

    The smooth binary mechanism [1]_. The events between two publications are a leaf, and leaves are words of $z$ zeros
    and $k$ ones in increasing order, $\binom{z + k}{z} \ge q + 1$ for $q$ publications. The sum after a leaf is that
    of one noisy node for each 1 of the next word, so every sum has $k$ noises; an event is in one node for each 0 of
    its word, so each noise is that of $\varepsilon / z$. The variance of a sum is $2 k (z / \varepsilon)^2$ at every
    step, in squared widths of the bounds and a little less since noise is discrete.

    The paper has as many zeros as ones (`balance="paper"`). With Laplace noise fewer zeros are better: `balance="best"`
    takes the numbers with the smallest $k z^2$. It is the same algorithm with other numbers, and so a parameter and not
    a method: for 65,536 publications 5 zeros and 21 ones instead of 10 and 10, and about half of the variance. Some of
    the $k$ nodes are empty, and their noise is there only to make all steps alike; with `equal_noise=False` it is left
    out, so that no sum has more noise, and most have less.

    Privacy
    -------
    partial sums: L1 is the number of steps between the declared bounds, 1 for bits, since an event changes the sum of a
    node by at most that. The rank of a node is the number of zeros in its name. Nodes of one rank are disjoint sets of
    events, so they are asked in parallel, and the $z$ ranks in sequence at $\varepsilon / z$ each. (By their height,
    nodes would be on $z + k$ levels; an event is in nodes on $z$ of them only.) Words, publication times and the number
    of events are public.

    Examples
    --------
    >>> data = Stream.from_values([1, 0, 1, 1] * 250)
    >>> release = StreamCount(every=250).publish(data, PureDP(epsilon=1, unit="event"), seed=7)
    >>> release.data.all_rows().values.tolist()
    [188.0, 372.0, 560.0, 749.0]
    >>> release.data.all_rows().half_widths.tolist()
    [6.0, 6.0, 6.0, 6.0]

    References
    ----------
    .. [1] J. D. Andersson, R. Pagh. "A smooth binary mechanism for efficient private continual observation".
       NeurIPS 2023.
    """

    name: ClassVar[str] = "stream-count"
    kinds: ClassVar = ("streams",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("event",)
    #: events are read here, in order; no engine counts them
    reads_all_records: ClassVar[bool] = True
    recommended: ClassVar[str] = "running counts and sums, published often, with one half-width for all of them"

    times: str = param("", "after which events to publish, such as 1000,2000,5000; without it, after every so many")
    every: int = param(1, "publish after every so many events, if no times are listed", ge=1)
    horizon: int = param(0, "the most events that there can be; 0 for the length of the stream, if it is known", ge=0)
    confidence: float = param(0.95, "probability that a sum is within its half-width", gt=0, lt=1)
    balance: str = param(
        "best", "zeros and ones: best for Laplace noise, or as many of each", choices=("best", "paper")
    )
    equal_noise: bool = param(True, "the same noise at every step; if not, most steps have less and none has more")

    def __post_init__(self) -> None:
        super().__post_init__()
        read_times(self.times)  # a list that cannot be read is refused before the data is opened

    def run(self, data: Stream, ledger: Ledger) -> Estimates:
        """Choose the words of the leaves, and sum up nodes after each leaf."""
        schedule = fixed_schedule(data, self.times, self.every, self.horizon)
        choose = SmoothTree.best if self.balance == "best" else SmoothTree.balanced
        tree = replace(choose(max(1, schedule.require_count())), padded=self.equal_noise)
        return data.publishing(estimate_sums(data, ledger, schedule, tree, self.confidence), of="sums")
