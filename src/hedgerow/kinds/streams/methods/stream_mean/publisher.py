"""Stream mean: the running mean of a stream from a private sample of its events, so that few of them are read."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ParameterError
from hedgerow.kinds.streams.data import Estimates, Rows, Stream
from hedgerow.kinds.streams.methods.partial_sums_model import BinaryTree
from hedgerow.kinds.streams.methods.running_sums import (
    estimate_sums,
    fixed_schedule,
    require_end,
    require_within_horizon,
)
from hedgerow.kinds.streams.methods.schedule import Schedule, read_times
from hedgerow.kinds.streams.methods.stream_mean.draw import Entries, Reservoir
from hedgerow.kinds.streams.methods.stream_mean.model import (
    debiasing_factor,
    flipped_half_widths,
    flipped_size,
    laplace_half_widths,
    smallest_size,
)
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.laplace_sums import discrete_half_width
from hedgerow.privacy import Flip, Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher, param

#: `tree` reads every event; the others are means of a sample
_MECHANISMS = ("randomised-response", "laplace-bits", "central", "tree")
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
    kinds: ClassVar = ("streams",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("event",)
    #: events are read here, in order; no engine counts them
    reads_all_records: ClassVar[bool] = True
    recommended: ClassVar[str] = "the mean of a stream of which reading every event would take too long"

    mechanism: str = param("randomised-response", "how estimates are made private", choices=_MECHANISMS)
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
    low, high, _ = axis.bounds.floats()
    return Rows(times, low + (high - low) * means, (high - low) * widths)


class Slots:
    """Values in numbered slots, all 0 at first.

    Examples
    --------
    >>> slots = Slots(3)
    >>> slots.replace(np.array([0, 1, 2]), np.array([5, 0, 1])).tolist()
    [5, 5, 6]
    >>> slots.replace(np.array([0, 0]), np.array([2, 3])).tolist()
    [3, 4]
    """

    def __init__(self, size: int) -> None:
        self._values = np.zeros(size, np.int64)
        self.total = 0

    def replace(self, slots: Integers, values: Integers) -> Integers:
        """Write values into slots one after another, and return the sum of all slots after each."""
        order = np.argsort(slots, kind="stable")
        sorted_slots, sorted_values = slots[order], values[order]
        again = np.append(False, np.diff(sorted_slots) == 0)[: len(slots)]
        old = self._values[sorted_slots]
        # a slot that is written again had the value that was written before
        old[again] = sorted_values[np.flatnonzero(again) - 1]
        change = np.empty_like(values)
        change[order] = sorted_values - old
        final = ~np.append(again[1:], False)[: len(slots)]
        self._values[sorted_slots[final]] = sorted_values[final]
        totals = self.total + np.cumsum(change)
        if len(totals):
            self.total = int(totals[-1])
        return totals


# Private means of a sample.


class SampleMean(ABC):
    """A private mean of a sample; its budget is charged when it is made.

    It says how large the sample must be, what is kept of an event that is read, and how an estimate is made of the sum
    of what is kept. Means are shares of `high - low`.

    Parameters
    ----------
    ledger
        Whose budget is spent.
    steps
        The most that the code of an event can be.
    publications
        How often an estimate is published; None if that is not known.
    confidence
        The probability of being within the half-width.
    """

    def __init__(self, ledger: Ledger, *, steps: int, publications: int | None, confidence: float) -> None:
        self.ledger = ledger
        self.steps = steps
        self.publications = publications or 1
        self.confidence = confidence
        self.epsilon = float(ledger.budget)  # for formulas of public numbers

    @abstractmethod
    def sample_size(self, half_width: float) -> int:
        """How large the sample must be for a half-width."""

    @abstractmethod
    def keep(self, codes: Integers) -> Integers:
        """What is kept of events that are read."""

    @abstractmethod
    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """The means, of the sums of what is kept of `sizes` events."""

    @abstractmethod
    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """How far an estimate is from the mean of all `times` events."""


class _PrivateEvents(SampleMean):
    """What is kept of an event is private by itself, so that sums of it may be published at any time."""

    def __init__(self, ledger: Ledger, *, steps: int, publications: int | None, confidence: float) -> None:
        super().__init__(ledger, steps=steps, publications=publications, confidence=confidence)
        # an event is read once, so those of different batches are disjoint pieces
        self._pieces = ledger.each(itertools.count(), spend=ledger.budget, label="events that are read")

    def _privatise(self, codes: Integers, mechanism: Flip | Laplace) -> Integers:
        if not len(codes):
            return codes
        _, piece = next(self._pieces)
        return piece.ask(codes, mechanism, spend=piece.budget, label="events that are read", only_in_sums=True)


class FlippedBits(_PrivateEvents):
    """Randomised response on every bit that is read."""

    def sample_size(self, half_width: float) -> int:
        """By Hoeffding's inequality."""
        return flipped_size(half_width, self.epsilon, self.confidence)

    def keep(self, codes: Integers) -> Integers:
        """Flip some bits, once and for all."""
        return self._privatise(codes, Flip())

    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """Undo the bias towards one half."""
        return 0.5 + debiasing_factor(self.epsilon) * (sums / sizes - 0.5)

    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """By Hoeffding's inequality."""
        del times
        return flipped_half_widths(sizes, self.epsilon, self.confidence)


class NoisyValues(_PrivateEvents):
    """Laplace noise on every value that is read."""

    def sample_size(self, half_width: float) -> int:
        """By Chernoff's bound."""
        return smallest_size(half_width, self.epsilon, self.confidence, noise_per_value=True)

    def keep(self, codes: Integers) -> Integers:
        """Add noise, once and for all; a batch has an event once, which changes by at most all steps."""
        return self._privatise(codes, Laplace(l1=self.steps))

    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """The mean of the noisy values."""
        return sums / (sizes * self.steps)

    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """By Chernoff's bound."""
        return laplace_half_widths(sizes, times, self.epsilon, self.confidence, noise_per_value=True)


class NoisySums(SampleMean):
    """Exact values are kept in memory, and every published sum has Laplace noise, with an equal share of the budget."""

    def __init__(self, ledger: Ledger, *, steps: int, publications: int | None, confidence: float) -> None:
        super().__init__(ledger, steps=steps, publications=publications, confidence=confidence)
        ((_, self._part),) = ledger.each([0], spend=ledger.budget, label="sums of the sample")
        self._epsilon_of_one = self.epsilon / self.publications
        self._noise = discrete_half_width(1, steps / self._epsilon_of_one, 1 - confidence) / steps

    def sample_size(self, half_width: float) -> int:
        """By Chernoff's bound."""
        return smallest_size(half_width, self._epsilon_of_one, self.confidence, noise_per_value=False)

    def keep(self, codes: Integers) -> Integers:
        """The values themselves."""
        return codes

    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """Ask for the sums: one event is in the sample at all of these times at most, and moves each by all steps."""
        spend = self._part.budget * len(sums) / self.publications
        noisy = self._part.ask(sums, Laplace(l1=self.steps * len(sums)), spend=spend, label="sums of the sample")
        return noisy / (sizes * self.steps)

    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """By Chernoff's bound; exactly while all events are in the sample, since there is only one noise then."""
        widths = laplace_half_widths(sizes, times, self._epsilon_of_one, self.confidence, noise_per_value=False)
        return np.where(times > sizes, widths, np.minimum(self._noise / sizes, 1.0))


_MEANS: dict[str, type[SampleMean]] = {
    "randomised-response": FlippedBits,
    "laplace-bits": NoisyValues,
    "central": NoisySums,
}


# The mean of all events, by a binary tree of noisy partial sums.


def estimate_by_tree(data: Stream, ledger: Ledger, schedule: Schedule, confidence: float) -> Iterator[Rows]:
    """Estimate the sums at all times, the whole budget being charged by this call, and divide them by the times."""
    count = schedule.require_count()
    last = int(schedule.listed[-1]) if len(schedule.listed) else schedule.every * count
    sums = estimate_sums(data, ledger, schedule, BinaryTree(max(1, count)), confidence)
    return _to_means(data, sums, last, ledger)


def _to_means(data: Stream, sums: Iterator[Rows], last: int, ledger: Ledger) -> Iterator[Rows]:
    low, high, _ = data.axis.bounds.floats()
    for times, values, half_widths in sums:
        means = np.clip(values / times, low, high)
        yield Rows(times, means, np.minimum(half_widths / times, high - low))
    ledger.note("events read", data.events.reach(last))
