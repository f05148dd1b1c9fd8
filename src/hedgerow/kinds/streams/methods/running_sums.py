r"""Running sums: estimates of the sum of all events so far, with half-widths, from a tree of noisy partial sums.

Privacy
-------
A tree gives each leaf a rank. The node that ends with a leaf covers the leaves since the last one with the same or a
smaller rank, so nodes of one rank are disjoint sets of events: all of them together cost what one costs. The budget is
divided equally among the ranks, so each node has the noise of a question with $\varepsilon / ranks$, drawn once and
used in all sums that the node is a part of. Ranks are public, and the argument holds for any ranks. Nodes of one rank
that end in one run of leaves are one question: L1 is the most by which one event can change, since it lies in one of
them. Empty nodes hold no event, and are asked for as a further piece of the last rank.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ParameterError, ReadError
from hedgerow.kinds.streams.data import Rows, Stream
from hedgerow.kinds.streams.events import Events
from hedgerow.kinds.streams.methods.partial_sums_model import Tree
from hedgerow.kinds.streams.methods.schedule import Schedule
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.laplace_sums import discrete_half_width
from hedgerow.privacy import Laplace, Ledger

#: asks for the exact sums of nodes of one rank
Ask: TypeAlias = Callable[[int, Integers], Integers]
#: sums of steps stay below this: floating-point numbers represent them exactly
_LARGEST_SUM = 1 << 52


def estimate_sums(data: Stream, ledger: Ledger, schedule: Schedule, tree: Tree, confidence: float) -> Iterator[Rows]:
    """Estimate the sum of all events so far at each time; the whole budget is charged by this call."""
    axis = data.axis
    _require_small_sums(axis, schedule)
    scale = float(axis.steps * tree.ranks / ledger.budget)
    answers = noisy_sums(read_leaves(data.events, schedule), tree, ledger, l1=axis.steps)

    def rows(answer: NoisySums) -> Rows:
        numbers, each = np.unique(answer.noises, return_inverse=True)
        steps = [discrete_half_width(number, scale, 1 - confidence) for number in numbers.tolist()]
        half_widths = float(axis.bounds.step) * np.array(steps, np.float64)[each]
        return schedule.repeat(Rows(answer.times, _values(axis, answer), half_widths))

    return map(rows, answers)


def _values(axis: NumberAxis, answer: NoisySums) -> Floats:
    """Turn sums of steps above the lower bound into sums of values."""
    low, _, step = axis.bounds.floats()
    values = low * answer.times + step * answer.sums
    return values if axis.decimals is None else np.round(values, axis.decimals)


def _require_small_sums(axis: NumberAxis, schedule: Schedule) -> None:
    """Refuse lattices of so many steps that sums over all events, whose number is public, are no longer exact."""
    if schedule.last is not None and axis.steps * schedule.last > _LARGEST_SUM:
        msg = (
            f"values have {axis.steps:,} steps, too many for sums over {schedule.last:,} events; "
            "declare a larger step, or give a smaller horizon"
        )
        raise ParameterError(msg)


# Noisy sums from a tree of partial sums.


class NoisySums(NamedTuple):
    """What is known after each of several leaves."""

    times: Integers
    #: estimates of the sum of all events so far
    sums: Integers
    #: how many independent noises each of them has
    noises: Integers


def noisy_sums(runs: Iterator[Leaves], tree: Tree, ledger: Ledger, *, l1: int) -> Iterator[NoisySums]:
    """Spend the budget of a ledger on the sum of all events so far, after each leaf.

    Parameters
    ----------
    runs
        The leaves, in runs that are answered together; no more than the tree has.
    tree
        Which node ends with each leaf.
    ledger
        All of its budget is charged by this call, before the first leaf is read.
    l1
        The most by which one event can change.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from hedgerow.privacy.questions import NoisyAnswers
    >>> from hedgerow.kinds.streams.methods.partial_sums_model import SmoothTree
    >>> ledger, runs = Ledger(Fraction(1), NoisyAnswers(seed=4)), [Leaves(np.arange(1, 9), np.full(8, 100))]
    >>> answer = next(noisy_sums(iter(runs), SmoothTree.best(8), ledger, l1=1))
    >>> answer.sums.tolist()
    [104, 201, 303, 400, 501, 600, 700, 800]
    >>> answer.noises.tolist()
    [8, 8, 8, 8, 8, 8, 8, 8]
    """
    shares = ledger.split(*[1] * tree.ranks)
    ranks = [share.each(itertools.count(), spend=share.budget, label="partial sums") for share in shares]
    mechanism = Laplace(l1=l1)

    def ask(rank: int, exact: Integers) -> Integers:
        if not len(exact):
            return exact
        _, piece = next(ranks[rank])
        return piece.ask(exact, mechanism, spend=piece.budget, label="partial sums", only_in_sums=True)

    return _answer(runs, tree, ask)


def _answer(runs: Iterator[Leaves], tree: Tree, ask: Ask) -> Iterator[NoisySums]:
    """Answer one run of leaves after another; what is kept between runs is three numbers per rank."""
    runs, again = itertools.tee(runs)
    # after the last leaf of each rank or a smaller one: the exact sum so far, its estimate, and the noises of that
    last = np.zeros((tree.ranks, 3), np.int64)
    for run, ends in zip(runs, tree.endings(len(run.times) for run in again), strict=True):
        if not len(run.times):
            continue
        state = _add_nodes(last[-1, 0] + np.cumsum(run.sums), ends.ranks, last, ask)
        last = _last_of_each_rank(state, ends.ranks, last)
        extra = ask(tree.ranks - 1, np.zeros(int(ends.empty.sum()), np.int64))
        yield NoisySums(run.times, state[:, 1] + _sum_groups(extra, ends.empty), state[:, 2] + ends.empty)


def _add_nodes(exact_sums: Integers, ranks: Integers, last: Integers, ask: Ask) -> Integers:
    """Return what is known after each leaf: what was known before its node, and the node."""
    state = np.zeros((len(ranks), 3), np.int64)
    state[:, 0] = exact_sums
    for rank, leaves in enumerate(_leaves_up_to_rank(ranks, len(last))):
        ending = ranks[leaves] == rank
        known = np.vstack((last[rank], state[leaves]))
        exact = np.diff(known[:, 0])[ending]
        grown = np.zeros((len(known), 2), np.int64)
        grown[1:][ending] = np.column_stack((ask(rank, exact), np.ones_like(exact)))
        grown = np.cumsum(grown, axis=0)
        # where a larger node has ended before, its estimate is known; from there on nodes of this rank are added
        start = np.maximum.accumulate(np.where(np.append(False, ending), 0, np.arange(len(known))))
        state[leaves, 1:] = (known[start, 1:] + grown - grown[start])[1:]
    return state


def _leaves_up_to_rank(ranks: Integers, number: int) -> list[Integers]:
    """The leaves of each rank or a smaller one."""
    leaves = [np.arange(len(ranks))]
    for rank in range(number - 1, 0, -1):
        leaves.append(leaves[-1][ranks[leaves[-1]] < rank])
    return leaves[::-1]


def _last_of_each_rank(state: Integers, ranks: Integers, last: Integers) -> Integers:
    """What is known after the last leaf of each rank or a smaller one."""
    at = np.full(len(last), -1)
    np.maximum.at(at, ranks, np.arange(len(ranks)))
    at = np.maximum.accumulate(at)
    return np.where(at[:, None] >= 0, state[at], last)


def _sum_groups(values: Integers, sizes: Integers) -> Integers:
    """Sums of groups of these sizes, one after another; a group may be empty."""
    running = np.append(0, np.cumsum(values))
    ends = np.cumsum(sizes)
    return running[ends] - running[ends - sizes]


# Leaves: the sums of events between publications.


class Leaves(NamedTuple):
    """Several leaves in a row."""

    #: the number of the last event of each, from 1
    times: Integers
    #: the sum of the codes of the events of each: private
    sums: Integers


def read_leaves(events: Events, schedule: Schedule) -> Iterator[Leaves]:
    """Add up the events up to each time since the one before; the stream may end before the last time.

    Raises
    ------
    ReadError
        After the leaves that are due, if the stream ends before a listed time, or goes on after the horizon.
    """
    before = 0
    for times in schedule.batches(events):
        sums = events.sums(before, times)
        yield Leaves(times[: len(sums)], sums)
        if len(sums) < len(times):
            schedule.require_reached(before)
            return
        before = int(times[-1])
    require_end(events, schedule)


# Schedules of methods that publish to the end.


def fixed_schedule(data: Stream, times: str, every: int, horizon: int) -> Schedule:
    """Read the parameters of a method that must know in advance how often it publishes.

    The events of a file are counted if neither times nor a horizon are given; those of a pipe cannot be.
    """
    length = data.events.length if times or horizon else data.events.count()
    require_within_horizon(times, horizon, length)
    schedule = Schedule.of(times, every, horizon, length)
    schedule.require_count()
    return schedule


def require_within_horizon(times: str, horizon: int, length: int | None) -> None:
    """Refuse a horizon that is shorter than a stream, if no times are listed: not all of it would be published."""
    if horizon and not times and length is not None and length > horizon:
        msg = f"there are {length:,} events, more than the horizon of {horizon:,}; leave it out, or list times"
        raise ParameterError(msg)


def require_end(events: Events, schedule: Schedule) -> None:
    """Refuse a stream that goes on after the horizon: not all of it was published."""
    if not len(schedule.listed) and schedule.last is not None and events.reach(schedule.last + 1) > schedule.last:
        msg = f"the stream goes on after event {schedule.last:,}, the horizon; give a larger one with --set horizon=N"
        raise ReadError(msg)
