"""(K,C)_L-privacy of trajectories by local and global suppression: the method of the paper, corrected.

The publisher; its input and the mining of violations; local and global suppression; the metrics by which operations are
scored; and the index of occurrences that counts them. `kcl-reinsertion` uses all of these parts.
"""

from __future__ import annotations

import heapq
import itertools
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.data.owners import require_owners
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories, Visit
from hedgerow.kinds.trajectories.sequence_mining import (
    Level,
    MinedSequences,
    VisitArrays,
    mine_maximal_frequent,
    mine_sequences,
)
from hedgerow.numerics.arrays import Flags, Integers, concatenate_ranges, group_equal
from hedgerow.privacy import Ledger
from hedgerow.publisher import Publisher, param

Pairs: TypeAlias = tuple[int, ...]
Numbers: TypeAlias = NDArray[np.float64] | Integers
#: the utility losses that operations are scored by: the factory of each, from visits, the place and time of each pair,
#: and K'. Register a class with the methods of `Metric` here, and `kcl` and `kcl-reinsertion` accept its name
METRICS: dict[str, Callable[[VisitArrays, Sequence[Visit], int], Metric]] = {
    "instances": lambda visits, _names, _support: Instances(visits),
    "mfs": lambda visits, _names, support: FrequentSequences(visits, support),
}


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Publisher[Trajectories]):
    r"""Publish trajectories by local and global suppression, one operation at a time.

    All *minimal violating sequences* (MVS) of up to $L$ visits are mined. An MVS is eliminated by deleting one of its
    visits, either from the records that contain the whole sequence (local suppression) or from all records (global
    suppression). The operation with the largest score, privacy gain over utility loss, comes first [1]_.

    Corrected: the printed validity test of a local suppression examines too few sequences for $L \ge 3$ and leaves
    violations, and so does the printed update of scores already for $L = 2$; candidates are pruned by all their
    subsequences; a share equal to $C$ is not a violation; the result is verified by independent code. One local
    operation takes about a millisecond: for many thousand violating sequences, and for a smaller utility loss in
    general, use `kcl-reinsertion`.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output. The
    operations are not published; they would undo the protection.

    Examples
    --------
    >>> visits = [[("park", 8), ("bank", 9)]] * 4 + [[("park", 8), ("clinic", 9)]]
    >>> data = Trajectories.from_records(visits)
    >>> release = LocalSuppression().publish(data, KCL(k=2, l=2))
    >>> release.data.records()[0]
    ((('park', 8),), ())

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013.
    """

    name: ClassVar[str] = "kcl"
    kinds: ClassVar = ("trajectories",)
    keeps: ClassVar = (KCL,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True

    mode: str = param("local", "suppress locally and globally, or globally only", choices=("local", "global"))
    metric: str = param(
        "instances",
        "the utility loss: deleted visits, or lost maximal frequent sequences",
        choices=METRICS,
    )
    k_prime: int = param(0, "support from which on a sequence is frequent; for metric mfs", ge=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_frequent_support("LocalSuppression", self.metric, self.k_prime)

    @property
    def workload(self) -> Mapping[str, int]:
        """The support of frequent sequences, if `k_prime` is set."""
        return {"frequent": self.k_prime} if self.k_prime else {}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Mine all minimal violating sequences, and suppress, the best operation first, until none is left."""
        promise = ledger.promised(KCL)
        data, visits, names = SuppressionInput.of(data, promise)
        if promise.k > visits.units:
            return data.truncated(0)
        mined = mine_violations(visits, promise)
        metric = METRICS[self.metric](visits, names, self.k_prime)
        if self.mode == "global":
            kept = ~np.isin(visits.pairs, suppress_globally(visits, mined, metric))
        else:
            kept = suppress_greedily(visits, mined, promise, metric)
        return data.keep_visits(kept)


# ---- the input: visits as arrays, and their minimal violating sequences

#: data with more occurrences of sequences is refused
_MOST = 2_000_000_000


class SuppressionInput(NamedTuple):
    """Trajectories in canonical order, the same as arrays, and the place and time of each pair number."""

    data: Trajectories
    visits: VisitArrays
    names: list[Visit]

    @classmethod
    def of(cls, data: Trajectories, promise: KCL) -> SuppressionInput:
        """Number the pairs that occur, in the order of time, and mark the records with a sensitive value."""
        if data.several:
            msg = "suppression needs at most one visit per record and time; read with collisions=first or last"
            raise ParameterError(msg)
        data = data.sorted()  # so that the order of rows does not matter
        starts, pairs, traits = data.arrays()
        distinct, numbers = np.unique(pairs, return_inverse=True)
        flags = [data.records_with(traits, column, value) for column, value in promise.sensitive]
        marked = np.stack(flags) if flags else np.zeros((0, len(starts) - 1), np.bool_)
        visits = VisitArrays(starts, numbers.astype(np.int64), len(distinct), marked, _owners(data, promise))
        promise.warn_about(data)
        _warn_of_loss(visits, promise)
        return cls(data, visits, data.decode_pairs(distinct))


def _owners(data: Trajectories, promise: KCL) -> Integers | None:
    """The persons of records, if the promise counts them; None where every person owns one record: it is the same."""
    if not promise.counts_persons:
        return None
    persons, owners = np.unique(require_owners(data.persons), return_inverse=True)
    return None if len(persons) == len(data) else owners.astype(np.int64)


def _warn_of_loss(visits: VisitArrays, promise: KCL) -> None:
    """Warn about settings that cost much utility but are valid."""
    if 0 < visits.units < promise.k:
        counted = "records" if visits.owners is None else "persons"
        warnings.warn(
            f"k = {promise.k} is more than there are {counted}: all visits will be suppressed",
            stacklevel=2,
        )
    every = np.arange(len(visits.starts) - 1)
    for (column, _), flags in zip(promise.sensitive, visits.flags, strict=True):
        (marked,) = visits.count_units(np.zeros(int(flags.sum()), np.int64), every[flags], 1)
        if int(marked) * promise.c.denominator > promise.c.numerator * visits.units:
            warnings.warn(
                f"a sensitive value of {column!r} is more frequent than c in all of the data; "
                "many visits will be suppressed",
                stacklevel=2,
            )


def mine_violations(visits: VisitArrays, promise: KCL) -> MinedSequences:
    """Mine all minimal violating sequences, or refuse data whose sequences do not fit in memory."""
    count_occurrences(visits, promise.l)
    mined = mine_sequences(visits, promise.k, promise.c, promise.l)
    if not mined.complete:
        raise too_many(promise.l)
    return mined


def count_occurrences(visits: VisitArrays, longest: int) -> int:
    """Count the occurrences of all sequences up to a length; this bounds the number of distinct sequences.

    Beyond the limit it stops and refuses: for long records even the numbers become too long.
    """
    total = 0
    lengths, numbers = np.unique(np.diff(visits.starts), return_counts=True)
    for length, number in zip(lengths.tolist(), numbers.tolist(), strict=True):
        for size in range(1, min(length, longest) + 1):
            total += number * math.comb(length, size)
            if total > _MOST:
                raise too_many(longest)
    return total


def too_many(longest: int) -> ParameterError:
    """The error for data whose sequences do not fit in memory."""
    return ParameterError(
        f"there are too many sequences of up to {longest} visits to mine; take a smaller l, "
        "or coarser times so that records have fewer visits"
    )


def require_frequent_support(method: str, metric: str, k_prime: int) -> None:
    """Refuse the metric of frequent sequences without the support from which on they are frequent."""
    if metric == "mfs" and k_prime < 1:
        msg = f"{method}.k_prime must be at least 1 for metric mfs; got 0"
        raise ParameterError(msg)


# ---- local and global suppression, one operation at a time

#: with more minimal violating sequences there is a warning about the running time
_LONG = 50_000


def suppress_greedily(visits: VisitArrays, mined: MinedSequences, promise: KCL, metric: Metric) -> Flags:
    """Apply the valid operation with the best score until no MVS is left; return which visits are kept.

    The printed validity test of a local suppression is unsound for L >= 3, and the printed update of scores even for
    L = 2; both are replaced. The list starts with all minimal violating sequences (MVS) of the data; an MVS leaves it
    when it no longer occurs. Invariant: every violating sequence of the current data contains a listed one. A local
    suppression is valid if it preserves the invariant; a global one always does. When the list is empty, nothing
    violates.
    """
    if sum(len(level.codes) for level in mined.violating) > _LONG:
        warnings.warn(
            "there are very many violating sequences: one operation at a time takes hours; see kcl-reinsertion",
            stacklevel=2,
        )
    state = (SuppressionState if visits.owners is None else PersonSuppressionState)(visits, mined, promise)
    queue = OperationQueue(state, metric)
    total = len(state.listed)
    while state.listed:
        progress.tell("suppressing", total - len(state.listed), total)
        queue.apply(queue.best())
    return state.alive()


class Operation(NamedTuple):
    """Delete a pair from the records of an MVS (`via`), or from all records if `via` is None."""

    pair: int
    via: Pairs | None


class OperationQueue:
    """A priority queue of operations; an entry is rescored whenever something that it depends on changes.

    Whether a local suppression is valid depends on all records that have its pair. Validity is tested when an entry
    comes first; an invalid one is parked until a record with its pair is edited.
    """

    def __init__(self, state: SuppressionState, metric: Metric) -> None:
        self._state, self._metric = state, metric
        self._heap: list[_Entry] = []
        self._stamps: dict[Operation, int] = {}
        self._parked: dict[int, set[Operation]] = {}
        self._score(set(state.listed_of_pair))

    def best(self) -> Operation:
        """Take the best valid operation off the queue."""
        while True:
            entry = heapq.heappop(self._heap)
            operation = Operation(entry.pair, None if entry.everywhere else entry.via)
            if self._stamps.get(operation) != entry.stamp:
                continue  # it was rescored, or its MVS was eliminated
            if operation.via is None:
                return operation
            if self._state.is_valid(operation.pair, self._state.listed[operation.via]):
                return operation
            self._parked.setdefault(operation.pair, set()).add(operation)

    def apply(self, operation: Operation) -> None:
        """Apply an operation, and rescore the operations that it affects."""
        state, pair = self._state, operation.pair
        rows = set(state.records_of_pair[pair] if operation.via is None else state.listed[operation.via])
        touched = set[int]().union(*(state.records[row] for row in rows))
        visits = state.visits(pair, rows)
        changed = state.delete(pair, rows)
        stale = {other for key in changed for other in key}
        stale.update(self._metric.deleted(visits).tolist())
        stale.update(other for other in touched if self._parked.pop(other, None))
        for key in changed - set(state.listed):
            for other in key:
                self._stamps.pop(Operation(other, key), None)
        self._score({other for other in stale if other in state.listed_of_pair})

    def _score(self, pairs: set[int]) -> None:
        for pair in pairs:
            if not self._state.listed_of_pair[pair]:
                self._stamps.pop(Operation(pair, None), None)
                continue
            self._push(Operation(pair, None), self._metric.everywhere()[pair])
            for key in self._state.listed_of_pair[pair]:
                visits = self._state.visits(pair, self._state.listed[key])
                (loss,) = self._metric.local(visits, np.zeros(len(visits), np.int64), 1)
                self._push(Operation(pair, key), loss)

    def _push(self, operation: Operation, loss: float) -> None:
        stamp = self._stamps[operation] = self._stamps.get(operation, 0) + 1
        gain = self._state.gain(operation)
        heapq.heappush(
            self._heap,
            _Entry(
                -gain / (1 + Fraction(float(loss))),
                -gain,
                operation.via is None,
                operation.pair,
                operation.via or (),
                stamp,
            ),
        )


class _Entry(NamedTuple):
    """An operation in the queue: ordered by score, then gain, local before global, then by number."""

    score: Fraction
    gain: int
    everywhere: bool
    pair: int
    via: Pairs
    stamp: int


class SuppressionState:
    """The current data, the list of MVS, and the counts of all clean sequences."""

    def __init__(self, visits: VisitArrays, mined: MinedSequences, promise: KCL) -> None:
        self.k, self.c, self.longest = promise.k, promise.c, promise.l
        ends = itertools.pairwise(visits.starts.tolist())
        pairs: list[int] = visits.pairs.tolist()
        self.records = [set(pairs[start:end]) for start, end in ends]
        self._visits = {key: visit for visit, key in enumerate(zip(visits.record.tolist(), pairs, strict=True))}
        self.flags: list[list[bool]] = visits.flags.T.tolist() or [[] for _ in self.records]
        self.records_of_pair: dict[int, set[int]] = {}
        for number, record in enumerate(self.records):
            for pair in record:
                self.records_of_pair.setdefault(pair, set()).add(number)
        self.listed = {key: rows for level in mined.violating for key, rows in occurrences_of(visits, level)}
        self.listed_of_pair: dict[int, set[Pairs]] = {}
        for key in self.listed:
            for pair in key:
                self.listed_of_pair.setdefault(pair, set()).add(key)
        self.owners: list[int] = [] if visits.owners is None else visits.owners.tolist()
        self.counts = {key: self._count(rows) for level in mined.clean for key, rows in occurrences_of(visits, level)}

    def gain(self, operation: Operation) -> int:
        """PrivGain: the number of MVS that an operation eliminates."""
        if operation.via is None:
            return len(self.listed_of_pair[operation.pair])
        rows = self.listed[operation.via]
        return sum(self.listed[key] <= rows for key in self.listed_of_pair[operation.pair])

    def is_valid(self, pair: int, rows: set[int]) -> bool:
        """Whether no clean sequence becomes violating when the pair is deleted from these records."""
        return all(self._is_clean(self.counts[key], lost) for key, lost in self._lost(pair, rows).items())

    def delete(self, pair: int, rows: set[int]) -> set[Pairs]:
        """Delete a pair from records; return the listed sequences whose records changed."""
        for key, lost in self._lost(pair, rows).items():
            self.counts[key].subtract(lost)
        for row in rows:
            self.records[row].discard(pair)
        self.records_of_pair[pair] -= rows
        changed = {key for key in self.listed_of_pair.get(pair, ()) if self.listed[key] & rows}
        for key in changed:
            self.listed[key] = self.listed[key] - rows
            if not self.listed[key]:
                del self.listed[key]
                for other in key:
                    self.listed_of_pair[other].discard(key)
        return changed

    def visits(self, pair: int, rows: set[int]) -> Integers:
        """The visits of a pair in records."""
        return np.array([self._visits[row, pair] for row in sorted(rows)], np.int64)

    def alive(self) -> Flags:
        """Which visits are kept."""
        return np.array([pair in self.records[row] for row, pair in self._visits], np.bool_)

    def _lost(self, pair: int, rows: set[int]) -> dict[Pairs, Counter[Any]]:
        """Count, for each clean sequence with the pair, how many of these records have it."""
        having: dict[Pairs, set[int]] = {}
        for row in rows:
            for key in self._sequences(pair, row):
                if key in self.counts:
                    having.setdefault(key, set()).add(row)
        return {key: self._count(lost) for key, lost in having.items()}

    def _count(self, rows: set[int]) -> Counter[Any]:
        """Count records: all of them as -1, and those with each sensitive value."""
        counts: Counter[Any] = Counter(n for row in rows for n, flag in enumerate(self.flags[row]) if flag)
        counts[-1] = len(rows)
        return counts

    def _is_clean(self, counts: Counter[Any], lost: Counter[Any]) -> bool:
        left = counts[-1] - lost[-1]
        marked = (count - lost[mark] for mark, count in counts.items() if mark >= 0)
        return self._keeps_promise(left, marked)

    def _keeps_promise(self, left: int, marked: Iterable[int]) -> bool:
        """Whether so many records, or persons, match and so many of them have each sensitive value, or none match."""
        if left == 0:
            return True
        return left >= self.k and all(count * self.c.denominator <= self.c.numerator * left for count in marked)

    def _sequences(self, pair: int, row: int) -> Iterator[Pairs]:
        """All sequences of a record that contain a pair, up to the length that an attacker may know."""
        others = sorted(self.records[row] - {pair})
        for size in range(min(self.longest, len(others) + 1)):
            for rest in itertools.combinations(others, size):
                yield tuple(sorted((*rest, pair)))


class PersonSuppressionState(SuppressionState):
    """The same, where persons are counted: each as often as they own a record, so that the last one is noticed."""

    def _count(self, rows: set[int]) -> Counter[Any]:
        """Count the records of each person: all of them, and those with each sensitive value."""
        counts: Counter[Any] = Counter((-1, self.owners[row]) for row in rows)
        counts.update((n, self.owners[row]) for row in rows for n, flag in enumerate(self.flags[row]) if flag)
        return counts

    def _is_clean(self, counts: Counter[Any], lost: Counter[Any]) -> bool:
        left = Counter(mark for (mark, person), count in counts.items() if count > lost[mark, person])
        return self._keeps_promise(left.pop(-1, 0), left.values())


def occurrences_of(visits: VisitArrays, level: Level) -> Iterator[tuple[Pairs, set[int]]]:
    """Yield each sequence of a level with the records it occurs in."""
    if len(level.codes) == 0:
        return
    order = np.argsort(level.at, kind="stable")
    ends = np.cumsum(np.bincount(level.at, minlength=len(level.codes)))
    keys = visits.pairs[level.places[order[np.concatenate(([0], ends[:-1]))]]]
    rows = np.split(visits.record[level.places[order, 0]], ends[:-1])
    for key, records in zip(keys.tolist(), rows, strict=True):
        yield tuple(key), set(records.tolist())


# ---- global suppression only


def suppress_globally(visits: VisitArrays, mined: MinedSequences, metric: Metric) -> list[int]:
    """Delete the pair with the best score from all records until no MVS is left; return the deleted pairs.

    Global suppression never creates a violation, so only the list of MVS is needed. An MVS is eliminated with any of
    its pairs. Scores depend on counts per pair alone. Ties: the higher gain first, then the smaller pair.
    """
    listed = OccurrenceIndex(mined.violating, len(visits.pairs))
    left = total = len(listed.sizes)
    gain = np.zeros(visits.size, np.int64)
    listed.add_to_pairs(gain, visits.pairs, np.arange(total), 1)
    deleted: list[int] = []
    while left:
        progress.tell("suppressing", total - left, total)
        score = np.where(gain > 0, gain / (metric.everywhere() + 1.0), -1.0)
        best = np.flatnonzero(score == score.max())
        pair = int(best[gain[best].argmax()])
        metric.deleted(visits.of_pair(pair))
        occurrences = listed.touching(visits.of_pair(pair))
        listed.remove(occurrences)
        eliminated = np.unique(listed.at[occurrences])
        listed.add_to_pairs(gain, visits.pairs, eliminated, -1)
        left -= len(eliminated)
        deleted.append(pair)
    return deleted


# ---- metrics: the utility loss of suppression


class Metric(Protocol):
    """The utility loss of operations, kept up to date with deletions.

    Visits are numbered as in `VisitArrays`.
    """

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """The loss of each operation; `visits[i]` is deleted by operation `of[i]`."""
        ...

    def everywhere(self) -> Numbers:
        """The loss of deleting each pair from all records."""
        ...

    def deleted(self, visits: Integers) -> Integers:
        """Record a deletion; return the pairs whose losses it changed."""
        ...

    def kept(self, alive: Flags) -> float:
        """The utility if only these visits are kept; the larger, the better."""
        ...


class Instances:
    """Every visit has the same weight: the loss is the number of deleted visits."""

    def __init__(self, visits: VisitArrays) -> None:
        self.pairs = visits.pairs
        self.counts = np.bincount(visits.pairs, minlength=visits.size)

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """The number of visits."""
        del visits
        return np.bincount(of, minlength=operations)

    def everywhere(self) -> Numbers:
        """The number of records that have each pair."""
        return self.counts

    def deleted(self, visits: Integers) -> Integers:
        """Only the losses of the deleted pairs change."""
        pairs = self.pairs[visits]
        np.subtract.at(self.counts, pairs, 1)
        return np.unique(pairs)

    def kept(self, alive: Flags) -> float:
        """The number of visits."""
        return float(np.count_nonzero(alive))


class FrequentSequences:
    """A maximal frequent sequence (MFS) is lost when fewer than `support` records have it."""

    def __init__(self, visits: VisitArrays, support: int) -> None:
        levels = [level for level in mine_maximal_frequent(visits, support) if len(level.codes)]
        self._support, self.pairs = support, visits.pairs
        self._maximal = OccurrenceIndex(levels, len(visits.pairs))
        self._of_pair = np.zeros(visits.size, np.int64)
        self._maximal.add_to_pairs(self._of_pair, visits.pairs, np.arange(len(self._maximal.sizes)), 1)

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """How many MFS would be lost without these visits."""
        occurrence, query = self._maximal.at_visits(visits)
        operation, sequence = of[query], self._maximal.at[occurrence]
        # only sequences that have few records to spare can be lost
        deleted = np.bincount(of, minlength=operations)[operation]
        close = self._maximal.support[sequence] - deleted < self._support
        codes, at = group_equal(operation[close] * len(self._maximal.sizes) + sequence[close])
        operation, sequence = np.divmod(codes, max(1, len(self._maximal.sizes)))
        left = self._maximal.support[sequence] - np.bincount(at, minlength=len(codes))
        return np.bincount(operation[left < self._support], minlength=operations)

    def everywhere(self) -> Numbers:
        """How many MFS contain each pair."""
        return self._of_pair

    def deleted(self, visits: Integers) -> Integers:
        """Remove the occurrences; the losses of all pairs of the affected MFS change."""
        touched = self._maximal.touching(visits)
        self._maximal.remove(touched)
        changed = np.unique(self._maximal.at[touched])
        lost = changed[self._maximal.support[changed] < self._support]
        self._maximal.remove(self._maximal.of_sequences(lost).occurrence)
        self._maximal.add_to_pairs(self._of_pair, self.pairs, lost, -1)
        pairs = self.pairs[self._maximal.places[self._maximal.starts[changed]]]
        return np.unique(np.concatenate((self.pairs[visits], pairs.ravel())))

    def kept(self, alive: Flags) -> float:
        """How many MFS still have enough support."""
        maximal = self._maximal
        occurs = np.logical_and.reduce([alive[column] for column in maximal.places.T])
        left = np.bincount(maximal.at[occurs], minlength=len(maximal.sizes))
        return float(np.count_nonzero(left >= self._support))


# ---- occurrences of sequences, by sequence and by visit


class Matches(NamedTuple):
    """Occurrences, and for each the query that it matches, as a position among the queries."""

    occurrence: Integers
    query: Integers


class OccurrenceIndex:
    """The occurrences of all sequences of some levels, grouped by sequence; they are removed in place.

    `places` has the visits of each occurrence, padded with the first one; `at` is its sequence. `support` is the
    number of remaining occurrences of each sequence, `sizes` its length.
    """

    def __init__(self, levels: list[Level], visits: int) -> None:
        width = max((level.places.shape[1] for level in levels), default=1)
        sizes = [np.full(len(level.codes), level.places.shape[1], np.int16) for level in levels]
        self.sizes = np.concatenate([np.zeros(0, np.int16), *sizes])
        self.places, self.at = _concatenate_levels(levels, width)
        self.support = np.bincount(self.at, minlength=len(self.sizes))
        self.starts = np.concatenate(([0], np.cumsum(self.support)))
        self.live = np.ones(len(self.at), np.bool_)
        self._visit_starts, self._of_visit = self._by_visit(visits)

    def at_visits(self, visits: Integers) -> Matches:
        """The remaining occurrences at each visit."""
        where, query = concatenate_ranges(self._visit_starts[visits], self._visit_starts[visits + 1])
        return self._left(self._of_visit[where], query)

    def of_sequences(self, sequences: Integers) -> Matches:
        """The remaining occurrences of each sequence."""
        return self._left(*concatenate_ranges(self.starts[sequences], self.starts[sequences + 1]))

    def touching(self, visits: Integers) -> Integers:
        """The remaining occurrences at any of the visits, once each."""
        return np.unique(self.at_visits(visits).occurrence)

    def add_to_pairs(self, totals: Integers, pairs: Integers, sequences: Integers, amount: int) -> None:
        """Add an amount to the total of each pair of each sequence."""
        for column in range(self.places.shape[1]):
            long_enough = sequences[self.sizes[sequences] > column]
            np.add.at(totals, pairs[self.places[self.starts[long_enough], column]], amount)

    def remove(self, occurrences: Integers) -> None:
        """Remove distinct occurrences."""
        self.live[occurrences] = False
        np.subtract.at(self.support, self.at[occurrences], 1)

    def _left(self, occurrence: Integers, query: Integers) -> Matches:
        left = self.live[occurrence]
        return Matches(occurrence[left], query[left])

    def _by_visit(self, visits: int) -> tuple[Integers, Integers]:
        """Sort the occurrences by their visits; visit and occurrence are packed into one number."""
        sizes = self.sizes[self.at]
        width = int(self.places.shape[1])
        real = np.arange(width) < sizes[:, None]
        bits = max(1, len(sizes).bit_length())
        packed = self.places[real].astype(np.int64) << bits
        starts = np.concatenate(([0], np.cumsum(np.bincount(packed >> bits, minlength=visits))))
        packed |= np.repeat(np.arange(len(sizes)), sizes)
        packed.sort()
        packed &= (1 << bits) - 1
        return starts, cast("Integers", packed.astype(np.int32))


def _concatenate_levels(levels: list[Level], width: int) -> tuple[Integers, Integers]:
    """The visits and the sequence of each occurrence of all levels; rows are padded with their first visit."""
    places, at, before = [np.zeros((0, width), np.int32)], [np.zeros(0, np.int32)], 0
    for level in levels:
        order = np.argsort(level.at, kind="stable")
        ordered = level.places[order].astype(np.int32)
        places.append(np.hstack((ordered, np.repeat(ordered[:, :1], width - ordered.shape[1], axis=1))))
        at.append((level.at[order] + before).astype(np.int32))
        before += len(level.codes)
    # 32 bits are enough, and half the memory
    return cast("Integers", np.concatenate(places)), cast("Integers", np.concatenate(at))
