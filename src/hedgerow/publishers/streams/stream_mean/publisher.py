"""Stream mean: the running mean of a stream from a private sample of its events, so that few of them are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.number_axis import NumberAxis
from hedgerow.data.streams import Estimates, Rows, Stream
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.streams.leaf_sums import require_end
from hedgerow.publishers.streams.running_sums import fixed_schedule, require_within_horizon
from hedgerow.publishers.streams.schedule import Schedule, read_times
from hedgerow.publishers.streams.stream_mean.reservoir import Entries, Reservoir
from hedgerow.publishers.streams.stream_mean.sample_means import FlippedBits, NoisySums, NoisyValues, SampleMean
from hedgerow.publishers.streams.stream_mean.slots import Slots
from hedgerow.publishers.streams.stream_mean.tree_means import estimate_by_tree

__all__ = ["StreamMean"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_MEANS: dict[str, type[SampleMean]] = {
    "randomised-response": FlippedBits,
    "laplace-bits": NoisyValues,
    "central": NoisySums,
}
#: these divide the budget, so they must know how many estimates will be published
_DIVIDED = ("central", "tree")
#: more slots would not fit in the memory of a small machine
_MOST_SLOTS = 1 << 23
#: sums with their noise stay far below 2**63
_LARGEST_SUM = 1 << 52
#: decimals of a mean that is published, as a share of high - low: those after them depend on the processor
_DIGITS = 10


@dataclass(frozen=True, kw_only=True)
class StreamMean(Publisher[Stream]):
    r"""Publish the mean of all events so far, at chosen times, from a sample of the events.

    A reservoir [2]_, [3]_ has a uniform sample of `sample` events at every time. Only events that are in the sample of
    a published time are read: with an estimate after every event, about $n (1 + \ln(t / n))$ of $t$ events for a sample
    of $n$, and exactly $n$ for one estimate. The sample is as large as the half-width needs, noise included; before
    it is full all events are in it, and the larger half-width that they give is published.

    The thesis [1]_ adds one-sided exponential noise to each bit. That is not private, since an answer below 1 is always
    a 0, and every estimate is too large by $1 / \varepsilon$. Here bits are flipped (`randomised-response`) or
    values have Laplace noise (`laplace-bits`). With a trusted memory, `central` keeps exact values and adds noise to
    every estimate, and needs a far smaller sample if there are few estimates. `tree` reads every event: far more
    accurate, for streams that can be read. It is the sum of the binary mechanism, divided by the number of events.

    Privacy
    -------
    Which events are read, and the slots they take, are drawn from coins, whatever the values are.
    `randomised-response` and `laplace-bits`: each event that is read is asked for once with the whole budget (a bit;
    or L1 = the number of steps from `low` to `high`); batches of events are disjoint, so they cost the budget
    together, and all estimates are computed from those answers. So at any time the state has no exact value but the
    part of the stream that is being read, which of a file or pipe is a block of up to 4 MB with events before and after
    (pan-privacy, as long as past noise cannot be recomputed, as it can be from a seed).
    `central`: the sum of the sample at each of the $q$ distinct times, L1 = the number of steps since an event is in
    the sample at most once, with $1 / q$ of the budget each. No use is made of the privacy that sampling adds: it holds
    for one estimate, not for several from one reservoir. `tree`: partial sums, as in `BinaryMechanism`. The half-width
    and the size of the sample depend on public numbers only.

    Examples
    --------
    >>> data = Stream.from_values([1, 0, 0, 1] * 25_000)
    >>> method = StreamMean(times="1000,100000", half_width=0.05)
    >>> release = method.publish(data, PureDP(epsilon=1, unit="event"), seed=3)
    >>> rows = release.data.all_rows()
    >>> rows.times.tolist(), rows.values.round(2).tolist(), rows.half_widths.round(3).tolist()
    ([1000, 100000], [0.52, 0.51], [0.093, 0.05])
    >>> release.evidence.notes
    (('events read', 4427),)

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data".
       PhD thesis, University of Kentucky, 2015, chapter 8.
    .. [2] J. S. Vitter. "Random sampling with a reservoir". ACM TOMS 11(1), 1985.
    .. [3] K.-H. Li. "Reservoir-sampling algorithms of time complexity O(n(1 + log(N/n)))". ACM TOMS 20(4), 1994.
    .. [4] R. J. Serfling. "Probability inequalities for the sum in sampling without replacement". Annals of
       Statistics 2(1), 1974.
    """

    name: ClassVar[str] = "stream-mean"
    kinds: ClassVar = (Stream,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("event",)
    #: events are read here, in order; no engine counts them
    reads_all_records: ClassVar[bool] = True
    recommended: ClassVar[str] = "the mean of a stream of which reading every event would take too long"

    mechanism: str = param("randomised-response", "how estimates are made private", choices=(*_MEANS, "tree"))
    times: str = param("", "after which events to publish, such as 1000,2000,5000; without it, after every so many")
    every: int = param(1, "publish after every so many events, if no times are listed", ge=1)
    horizon: int = param(0, "the most events that there can be; 0 for the length of the stream, if it is known", ge=0)
    half_width: float = param(0.1, "how far an estimate may be from the mean, as a share of high - low", gt=0, lt=1)
    confidence: float = param(0.95, "with what probability, at each time", gt=0, lt=1)
    sample: int = param(0, "events in the sample; 0 for as many as half_width needs", ge=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_times(self.times)  # a list that cannot be read is refused before the data is opened

    def run(self, data: Stream, ledger: Ledger) -> Estimates:
        """Read the events of a reservoir, keep private values in its slots, and publish their mean."""
        schedule = self._schedule(data)
        if self.mechanism == "tree":
            return data.publishing(estimate_by_tree(data, ledger, schedule, self.confidence), of="means")
        mean = _MEANS[self.mechanism](
            ledger, steps=data.axis.steps, publications=schedule.count, confidence=self.confidence
        )
        size = self._sample_size(mean, schedule)
        rows = _estimates(data, schedule, mean, Reservoir(size, ledger.coins()), ledger)
        return data.publishing(rows, of="means")

    def _schedule(self, data: Stream) -> Schedule:
        if self.mechanism == "randomised-response" and data.axis.steps > 1:
            msg = "mechanism randomised-response takes bits; use laplace-bits, central or tree for other values"
            raise ParameterError(msg)
        if self.mechanism in _DIVIDED:
            return fixed_schedule(data, self.times, self.every, self.horizon)
        require_within_horizon(self.times, self.horizon, data.events.length)
        return Schedule.of(self.times, self.every, self.horizon, data.events.length)

    def _sample_size(self, mean: SampleMean, schedule: Schedule) -> int:
        size = self.sample or mean.sample_size(self.half_width)
        size = size if schedule.last is None else max(1, min(size, schedule.last))
        if size > _MOST_SLOTS:
            msg = f"a sample of {size:,} events is needed, and at most {_MOST_SLOTS:,} fit; give a larger half_width"
            raise ParameterError(msg)
        if size * mean.steps / min(1.0, mean.epsilon) > _LARGEST_SUM:
            msg = f"{mean.steps:,} steps are too many for sums over {size:,} events; declare a larger step"
            raise ParameterError(msg)
        return size


def _estimates(
    data: Stream, schedule: Schedule, mean: SampleMean, reservoir: Reservoir, ledger: Ledger
) -> Iterator[Rows]:
    """Yield the estimates of some times after another; memory depends on the sample only."""
    slots, read, reached = Slots(reservoir.size), 0, 0
    for times in schedule.batches(data.events):
        sums = np.full(len(times), slots.total)
        for entries in reservoir.reads(times):
            # exact values have no name here: what is suspended between estimates holds kept values only
            kept = mean.keep(data.events.take(entries.positions))
            sums = _update(sums, times, slots, entries.where(slice(len(kept))), kept)
            read += len(kept)
        reached = data.events.reach(int(times[-1]))
        due = int(np.searchsorted(times, reached, "right"))
        if due:
            yield schedule.repeat(_rows(times[:due], sums[:due], reservoir.size, mean, data.axis))
        if due < len(times):
            break
    ledger.note("events read", read)
    schedule.require_reached(reached)
    require_end(data.events, schedule)


def _update(sums: Integers, times: Integers, slots: Slots, entries: Entries, values: Integers) -> Integers:
    """Write values into their slots, and return the sum of all slots at each time; before the first, as it was."""
    totals = np.append(slots.total, slots.replace(entries.slots, values))
    entered = np.searchsorted(entries.positions, times)
    return np.where(entered > 0, totals[entered], sums)


def _rows(times: Integers, sums: Integers, size: int, mean: SampleMean, axis: NumberAxis) -> Rows:
    """Scale means to the values of the axis; all are within its bounds. Half-widths are rounded up."""
    sizes = np.minimum(times, size)
    means = np.clip(np.round(mean.estimate(sums, sizes), _DIGITS), 0.0, 1.0)
    widths = np.minimum(np.ceil(mean.half_widths(sizes, times) * 10**_DIGITS) / 10**_DIGITS, 1.0)
    low, high = float(axis.low or 0), float(axis.high or 0)
    return Rows(times, low + (high - low) * means, (high - low) * widths)
