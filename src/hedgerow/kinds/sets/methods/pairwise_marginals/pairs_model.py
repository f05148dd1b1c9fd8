r"""The model of the items of a record given its size: a weight per item, and an interaction per pair of the head.

A set of size $k$ with the items $A$ of the head, $s$ of them, has a probability proportional to
$\prod_{i \in A} w_i \cdot \exp(\varphi(s) \sum_{i < j \in A} \theta_{ij}) \cdot W^{k - s} / (k - s)!$, where $W$ is the
weight of all other items together (the *tail*). Only noisy answers, public numbers and coins are used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import ItemEstimates, share_by_pairs
from hedgerow.numerics.arrays import Flags, Floats, Integers, number_within_groups, weigh_co_occurrences
from hedgerow.numerics.rounding import on_count_grid, on_grid
from hedgerow.numerics.sampling import WeightedLabels

#: the exponent with which interactions are damped in records of many head items, which pair weights hardly see; without
#: it items with strong lifts flood them. Of 0, 0.25, 0.3, 0.4, 0.5 and 1, chosen on groceries, bms-webview-2 and
#: kosarak-subset
_DAMPING = 0.4


@dataclass(eq=False)
class PairModel:
    """Weights and interactions; both have one more entry, of 0, for the padding of records.

    Attributes
    ----------
    log_weights, interactions
        The logarithm of the weight of each head item, and a symmetric table with a diagonal of 0.
    tail_items, log_tail
        How many items are in the tail, and the logarithm of their total weight (0 if there are none).
    damping
        The factor of interactions in a record of 0, 1, ... head items.
    """

    log_weights: Floats
    interactions: Floats
    tail_items: int
    log_tail: float
    damping: Floats

    @classmethod
    def by_band(cls, odds: Floats, head: Integers) -> list[PairModel]:
        """Start without interactions, which all bands of sizes share; a row of odds per band."""
        models = [cls.independent(each, head) for each in odds]
        return [replace(model, interactions=models[0].interactions) for model in models]

    @classmethod
    def independent(cls, odds: Floats, head: Integers, exponent: float = _DAMPING) -> PairModel:
        """Start without interactions."""
        size, tail_items = len(head), len(odds) - len(head)
        tail = np.delete(odds, head)
        return cls(
            np.append(on_count_grid(np.log(odds[head])), 0.0),
            np.zeros((size + 1, size + 1)),
            tail_items,
            math.log(float(tail.sum())) if tail_items else 0.0,
            np.maximum(1.0, np.arange(size + 2) - 1.0) ** -exponent,
        )


# Which pairs to count: the frequent items (the *head*) to pair, how many pairs per record, and whether it is worth it.
# The pairs of a population of records whose items are independent given their sizes show how frequent pairs are
# expected to be.

#: the largest head, the other sizes of it to choose from, and the numbers of pairs of a record to choose from
_MOST_HEAD = 1_024
_HEADS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 724)
_BOUNDS = (1, 2, 3, 4, 6, 8, 10, 15, 21, 28, 36, 45, 66, 91, 120, 190)
#: the log-lift that is expected of a pair before it is counted; of 0.5, 0.7 and 1, chosen on groceries, bms-webview-2
#: and kosarak-subset
_LIFT = 0.7
#: relative bias of a pair whose weight is hidden; of 1, 1.5, 2, 3, 4 and 8, chosen on the same data
_BIAS = 2.0
#: the least worth of counting pairs rather than items again; of 0.05, 0.08 and 1, chosen on these data and foodmart
_WORTH = 0.08
#: and the least importance of pairs beside items: between 0.06 on foodmart, where pairs do not pay, and 0.65 on
#: bms-webview-2, where they do
_IMPORTANCE = 0.2
#: itemsets in less than this share of the records count for less
_FREQUENT = 1 / 1_000


@dataclass(frozen=True, eq=False)
class PairSelection:
    """The items of the head, most frequent first, how many pairs of a record count in full, and what it is worth.

    The worth is between 0 and 1: the expected share of what all pairs would tell. The importance is what all pairs
    would tell beside what all items tell: little if hardly any pair is frequent.
    """

    head: Integers
    bound: int
    worth: float
    importance: float
    order: Integers

    @property
    def pays(self) -> bool:
        """Whether pairs are worth asking for."""
        return self.worth >= _WORTH and self.importance >= _IMPORTANCE

    def ranks(self, items: Integers) -> Integers:
        """The rank of each item; those beyond the head have the size of the head."""
        return np.minimum(self.order[items], len(self.head))


def select_pairs(
    weights: Floats, row: Integers, item: Integers, *, sampled: int, records: int, spend: float
) -> PairSelection | None:
    """Select the pairs whose counts are expected to tell most; None if no record has two items.

    Parameters
    ----------
    weights
        The estimated weight of every item.
    row, item
        A population of `sampled` records with independent items: the record and the item of each token.
    records
        The estimated number of records.
    spend
        The budget of the question for pairs.
    """
    order = np.argsort(-weights, kind="stable")[:_MOST_HEAD]
    rank = np.full(len(weights), len(order))
    rank[order] = np.arange(len(order))
    ranks = rank[item]
    later, expected = _expected_pairs(row, ranks, len(order), sampled / records, sampled)
    if len(expected) == 0:
        return None
    gain = _gain(expected, records)
    of_items = float(_gain(np.bincount(item).astype(np.float64) * (records / sampled), records).sum())
    best, choice = -1.0, (0, 0)
    for head in (*(size for size in _HEADS if size < len(order)), len(order)):
        inside = int(np.searchsorted(later, head))
        sizes = np.bincount(np.bincount(row[ranks < head], minlength=sampled))
        for bound in _BOUNDS if inside else ():
            seen = share_seen(sizes, bound)
            noise = math.sqrt(2) * bound / (spend * seen)
            signal = (_LIFT * expected[:inside]) ** 2
            error = noise**2 + (_BIAS * (1 - seen) * expected[:inside]) ** 2
            value = float(on_grid(gain[:inside] @ (signal / (signal + error))))
            if value > best:
                best, choice = value, (head, bound)
    total = float(gain.sum())
    return PairSelection(order[: choice[0]], choice[1], best / total, total / of_items, rank)


def share_seen(sizes: Integers, bound: int) -> float:
    """The share of all pairs that is counted if a record counts for at most `bound`; `sizes[s]` records have `s` items.

    Examples
    --------
    >>> share_seen(np.array([0, 3, 2, 1, 2]), 3)
    0.6470588235294118
    """
    size = np.arange(len(sizes))
    pairs = size * (size - 1) // 2
    return float(sizes @ np.minimum(pairs, bound)) / float(sizes @ pairs)


def _gain(expected: Floats, records: int) -> Floats:
    """What the counts of these itemsets would tell: as much as there are records with them, less if they are rare."""
    return expected * np.minimum(1, expected / (records * _FREQUENT))


def _expected_pairs(row: Integers, ranks: Integers, head: int, scale: float, sampled: int) -> tuple[Integers, Floats]:
    """The pairs that occur: the later rank of each, ascending, and the expected number of records with the pair."""
    kept = ranks < head
    sizes = np.bincount(row[kept], minlength=sampled)
    counts = weigh_co_occurrences(ranks[kept], sizes, np.ones(sampled, np.int64), head)
    later = np.triu_indices(head, 1)[1]
    present = np.flatnonzero(counts)
    order = present[np.argsort(later[present], kind="stable")]
    return later[order], counts[order] / scale


# Fit weights and interactions so that a population, weighted as the data was, has the noisy answers. Stochastic
# approximation: move the records, count them, change the parameters, resample the records accordingly.

#: rounds in which records move twice, the first round in which interactions change, rounds between new proposals
_DOUBLE_MOVES, _FIRST_PAIRS, _NEW_PROPOSALS = 5, 7, 4
#: steps of the parameters, and the smaller ones in the last rounds
_STEP, _LAST_STEP, _LAST = 0.5, 0.35, 0.4
#: how much of the smoothed counts of pairs is kept from round to round
_MEMORY = 0.6
#: bounds of the estimated variance of interactions; of one interaction, of 6 and 9, chosen on groceries, bms-webview-2
#: and kosarak-subset
_VARIANCES, _LARGEST = (0.01, 4.0), 6.0
#: the weight below which an item's ratio to its target says little: standard deviations of the noise, and records
_LEAST_NOISE, _LEAST_RECORDS = 0.05, 0.5
#: the variance of an interaction that is far above the noise
_OBVIOUS_VARIANCE = 9.0


@dataclass(frozen=True, eq=False)
class PairTargets:
    """What the population should have, in its units.

    Attributes
    ----------
    items, by_size
        The weight of each head item over all records of a band, a row per band; and the weight of an item in a record
        of each size.
    least
        The weight below which an item's ratio to its target says little, a row per band.
    pairs, by_count
        The noisy weight of each pair, and the weight of a pair in a record with each number of head items.
    noise
        The standard deviation of the noise of pairs.
    """

    items: Floats
    by_size: Floats
    least: Floats
    pairs: Floats
    by_count: Floats
    noise: float

    @classmethod
    def of(
        cls, items: ItemEstimates, pairs: Floats, selection: PairSelection, scale: float, spend: float
    ) -> PairTargets:
        """Take what a population of `scale` times the records should have; `spend` is the budget of `pairs`."""
        item_noise = math.sqrt(2) * scale * np.array(items.bands.bounds) / items.spends[0]
        return cls(
            items=scale * items.weights[:, selection.head],
            by_size=items.bands.shares(items.weights.shape[1]),
            least=(_LEAST_NOISE * item_noise + _LEAST_RECORDS)[:, None],
            pairs=scale * pairs,
            by_count=share_by_pairs(selection.bound, len(selection.head)),
            noise=math.sqrt(2) * scale * selection.bound / spend,
        )


def fit_pairs(
    population: Population, models: list[PairModel], targets: PairTargets, steps: int, coins: np.random.Generator
) -> PairFit:
    """Fit the models of all bands; population and models are changed in place."""
    fit = PairFit(population, models, targets)
    proposals: list[Proposals] = []
    for number in range(1, steps + 1):
        if number % _NEW_PROPOSALS == 1:
            proposals = [Proposals.from_model(model) for model in models]
        for _ in range(2 if number <= _DOUBLE_MOVES else 1):
            move_all(population, models, proposals, coins)
        fit.update(number, _LAST_STEP if number > (1 - _LAST) * steps else _STEP, coins)
    return fit


def move_all(
    population: Population, models: list[PairModel], proposals: list[Proposals], coins: np.random.Generator
) -> None:
    """Move every record once."""
    for part in population.classes:
        move(part, models[part.band], proposals[part.band], coins)


class PairFit:
    """The state of the fit: smoothed counts of pairs, and the prior of the interactions."""

    def __init__(self, population: Population, models: list[PairModel], targets: PairTargets) -> None:
        self._population, self._models, self._targets = population, models, targets
        self._interactions = models[0].interactions  # those of all bands
        self._pairs = np.triu_indices(population.head, 1)
        self._smoothed = np.zeros(len(targets.pairs))
        self._obvious = np.zeros(len(targets.pairs), np.bool_)
        self.variance = 0.0

    def update(self, number: int, step: float, coins: np.random.Generator) -> None:
        """Count, change weights and interactions, and resample."""
        weights = np.pad(self._change_weights(step), ((0, 0), (0, 1)))
        now = self._population.weigh_pairs(self._targets.by_count)
        self._smoothed = now if number == 1 else _MEMORY * self._smoothed + (1 - _MEMORY) * now
        for model, change in zip(self._models, weights, strict=True):
            model.log_weights[:] = on_count_grid(model.log_weights + change)
        interactions = None
        if number >= _FIRST_PAIRS:
            if number == _FIRST_PAIRS:
                self._estimate_prior()
            interactions = self._change_interactions(step)
            self._interactions += interactions
        self._resample(weights, interactions, coins)

    def _change_weights(self, step: float) -> Floats:
        targets, now = self._targets, self._population.weigh_items(self._targets.by_size)
        ratio = np.log((targets.items + targets.least) / (now + targets.least))
        return step * np.clip(ratio, -1, 1)

    def _estimate_prior(self) -> None:
        """Estimate the variance of all interactions, and mark the obvious pairs, which are not shrunk like others."""
        targets, now = self._targets, self._smoothed
        noise, head = targets.noise, self._population.head
        excess = targets.pairs - now
        precision = now**2 / (noise**2 + now + now**2 / 4) ** 2
        information = float(precision @ now**2)
        surplus = float(precision @ (excess**2 - noise**2 - 1.3 * now))
        self.variance = float(np.clip(surplus / information, *_VARIANCES)) if information > 0 else _VARIANCES[0]
        self._obvious = excess > noise / math.sqrt(2) * math.log(head * (head - 1)) + 3 * np.sqrt(now)

    def _change_interactions(self, step: float) -> Floats:
        """A damped Newton step of each interaction, with a normal prior."""
        targets, now, theta = self._targets, self._smoothed, self._interactions[self._pairs]
        slope = np.maximum(now, 1 / 2)
        variance = targets.noise**2 + slope
        prior = np.where(self._obvious, 1 / _OBVIOUS_VARIANCE, 1 / self.variance)
        newton = ((targets.pairs - now) * slope / variance - theta * prior) / (slope**2 / variance + prior)
        change = step * np.clip(newton, -1 / 2, 1 / 2)
        far = self._obvious & (now < 0.3 * targets.pairs)
        change[far] = np.minimum(1, np.log(targets.pairs[far] / slope[far]) / 2)
        change = np.clip(theta + change, -_LARGEST, _LARGEST) - theta
        table = np.zeros_like(self._interactions)
        table[self._pairs] = change
        return on_count_grid(table + table.T)

    def _resample(self, weights: Floats, interactions: Floats | None, coins: np.random.Generator) -> None:
        """Resample by how much more likely each record has become: parameters act at once on whole groups of items."""
        for at, part in enumerate(self._population.classes):
            gain = weights[part.band][part.heads].sum(axis=1)
            if interactions is not None:
                inside = part.sum_inside(interactions)
                part.inner += inside
                gain += self._models[0].damping[part.counts] * inside
            self._population.classes[at] = part.take(resample_by_size(part.sizes, gain, coins))


# A population of synthetic records: the size of each, and which items of the head it has. Records of similar size are
# in one array, a row per record: the items of the head in any order, then padding.


@dataclass(eq=False)
class SizeClass:
    """Records of similar size, in ascending order of size.

    Attributes
    ----------
    sizes
        The number of items of each record.
    heads
        The ranks of its items of the head, then padding (the number of items in the head).
    counts
        How many items of the head it has.
    inner
        The sum of the interactions inside its head part.
    band
        The number of the band of sizes they are in.
    """

    sizes: Integers
    heads: Integers
    counts: Integers
    inner: Floats
    band: int = 0

    def take(self, chosen: Integers) -> SizeClass:
        """Keep these records, in this order."""
        return SizeClass(self.sizes[chosen], self.heads[chosen], self.counts[chosen], self.inner[chosen], self.band)

    def sum_inside(self, table: Floats) -> Floats:
        """For every record, add up the entries of a symmetric table over all pairs of its head items."""
        sums = np.zeros(len(self.sizes))
        flat, width = table.ravel(), len(table)
        for column in range(1, self.heads.shape[1]):
            rows = np.flatnonzero(self.counts > column)
            if len(rows) == 0:
                break
            heads = self.heads[rows]
            sums[rows] += flat.take(heads[:, column, None] * width + heads[:, :column]).sum(axis=1)
        return sums


@dataclass(eq=False)
class Population:
    """All records, by classes of their sizes; `head` is the number of items in the head."""

    classes: list[SizeClass]
    head: int
    bands: int = 1

    @classmethod
    def from_tokens(
        cls, sizes: Integers, row: Integers, ranks: Integers, head: int, cuts: tuple[int, ...] = ()
    ) -> Population:
        """Make a population of records in ascending order of size; items beyond the head are left out.

        `cuts` are the largest sizes of all bands but the last: powers of two, so that a class is in one band.
        """
        kept = ranks < head
        row, ranks = row[kept], ranks[kept]
        column, counts = number_within_groups(row), np.bincount(row, minlength=len(sizes))
        classes: list[SizeClass] = []
        doubled = np.frexp(np.maximum(sizes, 1) - 1)[1]  # 1, 2, 3-4, 5-8, ...
        ends = np.flatnonzero(np.diff(doubled, append=-1)) + 1
        for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            first, last = np.searchsorted(row, [start, end]).tolist()
            heads = np.full((end - start, min(int(sizes[end - 1]), head)), head, np.int64)
            heads[row[first:last] - start, column[first:last]] = ranks[first:last]
            band = sum(int(sizes[end - 1]) > cut for cut in cuts)
            classes.append(SizeClass(sizes[start:end], heads, counts[start:end], np.zeros(end - start), band))
        return cls(classes, head, len(cuts) + 1)

    def __len__(self) -> int:
        """Count the records."""
        return sum(len(part.sizes) for part in self.classes)

    @property
    def sizes(self) -> Integers:
        """The sizes of all records."""
        return np.concatenate([part.sizes for part in self.classes])

    @property
    def counts(self) -> Integers:
        """The numbers of head items of all records."""
        return np.concatenate([part.counts for part in self.classes])

    @property
    def members(self) -> Integers:
        """The head items of all records, one record after the other."""
        return np.concatenate([part.heads[part.heads < self.head] for part in self.classes])

    def weigh_items(self, by_size: Floats) -> Floats:
        """For every band and every item of the head, add up the weights of the records that have it."""
        sums = np.zeros((self.bands, self.head + 1))
        for part in self.classes:
            weights = np.repeat(by_size[part.sizes], part.heads.shape[1])
            sums[part.band] += np.bincount(part.heads.ravel(), weights, self.head + 1)
        return sums[:, : self.head]

    def weigh_pairs(self, by_count: Floats) -> Floats:
        """For every pair of the head, add up the weights of the records that have both."""
        return weigh_co_occurrences(self.members, self.counts, by_count[self.counts], self.head)

    def repeated(self, records: int) -> Population:
        """Repeat records in their order until there are so many."""
        chosen = np.arange(records) * len(self) // records
        ends = np.cumsum([len(part.sizes) for part in self.classes])
        cuts = np.searchsorted(chosen, ends).tolist()
        starts = (ends - [len(part.sizes) for part in self.classes]).tolist()
        classes = [
            part.take(chosen[first:last] - start)
            for part, start, first, last in zip(self.classes, starts, [0, *cuts], cuts, strict=False)
        ]
        return Population(classes, self.head, self.bands)


# Metropolis-Hastings moves of all records at once: swap an item of the head, add one, or give one up.

SWAP, ADD, REMOVE = range(3)
#: the probability of a swap; adding and giving up are equally likely
_SWAPS = 0.34


@dataclass(frozen=True, eq=False)
class Proposals:
    r"""How an item $b$ is proposed for a record with the other head items $R$.

    With $q(b \mid R) = \frac12 w_b / \sum w + \frac12 \text{mean}_{c \in R} Q_c(b)$,
    $Q_c(b) \propto w_b e^{\theta_{bc}}$, $Q_c(c) = 0$; by weight alone if $R$ is empty.
    """

    by_weight: Floats
    #: `near[b, c]` is $Q_c(b)$; 0 for padding
    near: Floats
    #: cumulative probabilities: by weight; and those of each $Q_c$ plus $c$, one after the other
    running: Floats
    running_near: Floats

    @classmethod
    def from_model(cls, model: PairModel) -> Proposals:
        """Take the present weights and interactions."""
        head = len(model.log_weights) - 1
        weights = on_grid(np.exp(model.log_weights[:head] - model.log_weights[:head].max()))
        table = weights * on_grid(np.exp(model.interactions[:head, :head]))
        np.fill_diagonal(table, 0.0)
        table /= table.sum(axis=1, keepdims=True)
        near = np.zeros((head + 1, head + 1))
        near[:head, :head] = table.T
        by_weight = weights / weights.sum()
        running_near = np.cumsum(table, axis=1) + np.arange(head, dtype=np.float64)[:, None]
        return cls(np.append(by_weight, 1.0), near, np.cumsum(by_weight), running_near.ravel())

    def draw(self, rest: Integers, size: Integers, coins: np.random.Generator) -> Integers:
        """Propose an item for each record; `rest` are its other head items, `size` of them."""
        head, records = len(self.running), len(size)
        position = coins.random(records)
        item = np.minimum(np.searchsorted(self.running, position, "right"), head - 1)
        rows = np.flatnonzero((coins.random(records) < 1 / 2) & (size > 0))
        other = rest[rows, (coins.random(len(rows)) * size[rows]).astype(np.int64)]
        at = np.searchsorted(self.running_near, position[rows] + other, "right")
        item[rows] = np.clip(at - other * head, 0, head - 1)
        return item

    def log_chance(self, item: Integers, near: Floats, size: Integers) -> Floats:
        """The logarithm of the probability of proposing an item; `near` is the sum of Q over the other items."""
        by_weight = self.by_weight[item]
        mixed = (by_weight + near / np.maximum(size, 1)) / 2
        return np.log(np.where(size > 0, mixed, by_weight))


@dataclass(frozen=True, eq=False)
class Step:
    """A kind of move for each record, the item that leaves (padding: none), and what is left of its head part."""

    kind: Integers
    leaving: Integers
    rest: Integers
    size: Integers
    allowed: Flags

    @classmethod
    def of(cls, records: SizeClass, kind: Integers, place: Integers, model: PairModel) -> Step:
        """Take the item at `place` out of the head part, unless the move adds one."""
        padding = len(model.log_weights) - 1
        taken = kind != ADD
        allowed = np.where(taken, records.counts > 0, records.counts < records.sizes)
        # the tail has no more items than these
        allowed &= (kind != REMOVE) | (records.sizes - records.counts < model.tail_items)
        rest, leaving, size = records.heads.copy(), np.full(len(kind), padding), records.counts.copy()
        rows = np.flatnonzero(taken & allowed)
        leaving[rows] = rest[rows, place[rows]]
        size[rows] -= 1
        rest[rows, place[rows]] = rest[rows, size[rows]]
        rest[rows, size[rows]] = padding
        return cls(kind, leaving, rest, size, allowed)


def move(records: SizeClass, model: PairModel, proposals: Proposals, coins: np.random.Generator) -> None:
    """Move every record once."""
    draws = coins.random((3, len(records.sizes)))
    kind = np.full(len(records.sizes), SWAP)
    if model.tail_items:
        kind[draws[0] >= _SWAPS] = ADD
        kind[draws[0] >= (1 + _SWAPS) / 2] = REMOVE
    step = Step.of(records, kind, (draws[1] * records.counts).astype(np.int64), model)
    entering = proposals.draw(step.rest, step.size, coins)
    chance, inner = log_acceptance(records, step, entering, model, proposals)
    rows = np.flatnonzero(np.log1p(-draws[2]) < chance)
    enters = rows[kind[rows] != REMOVE]
    records.heads[rows] = step.rest[rows]
    records.heads[enters, step.size[enters]] = entering[enters]
    records.counts = records.counts.copy()
    records.counts[rows] = step.size[rows]
    records.counts[enters] += 1
    records.inner[rows] = inner[rows]


def log_acceptance(
    records: SizeClass, step: Step, entering: Integers, model: PairModel, proposals: Proposals
) -> tuple[Floats, Floats]:
    """The logarithm of the probability that each move is accepted, and the interactions inside the new head part."""
    kind, rest, size = step.kind, step.rest, step.size
    leaving_cells, entering_cells = (item[:, None] * len(model.log_weights) + rest for item in (step.leaving, entering))
    leaving_sum, entering_sum = (_sum_of(model.interactions, cells) for cells in (leaving_cells, entering_cells))
    inner = records.inner - leaving_sum  # of the rest

    def score(item: Integers, cells: Integers, interactions: Floats) -> Floats:
        """How much more likely an item makes the record, relative to the probability of proposing it."""
        gain = model.log_weights[item] + model.damping[size + 1] * (inner + interactions) - model.damping[size] * inner
        return gain - proposals.log_chance(item, _sum_of(proposals.near, cells), size)

    before, after = score(step.leaving, leaving_cells, leaving_sum), score(entering, entering_cells, entering_sum)
    room = np.log(np.maximum(records.sizes - size, 1)) - np.log(size + 1.0) - model.log_tail
    chance = np.where(kind == SWAP, after - before, np.where(kind == ADD, after + room, -before - room))
    refused = ~step.allowed | ((kind != REMOVE) & np.any(rest == entering[:, None], axis=1))
    return np.where(refused, -np.inf, chance), np.where(kind == REMOVE, inner, inner + entering_sum)


def _sum_of(table: Floats, cells: Integers) -> Floats:
    return table.take(cells).sum(axis=1)


def resample_by_size(sizes: Integers, log_weights: Floats, coins: np.random.Generator) -> Integers:
    """Choose records in proportion to their weights, as many of each size as there are; sizes ascend.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> resample_by_size(np.array([1, 1, 1, 2]), np.log([1e-9, 2, 1, 7]), coins((5, 0))).tolist()
    [1, 1, 2, 3]
    """
    new = np.flatnonzero(np.diff(sizes, prepend=-1))
    group = np.repeat(np.arange(len(new)), np.diff(new, append=len(sizes)))
    weights = on_grid(np.exp(log_weights - np.maximum.reduceat(log_weights, new)[group]))
    records = WeightedLabels(np.append(new, len(sizes)), np.arange(len(sizes)), np.append(0.0, np.cumsum(weights)))
    return records.sample_ordered(group, coins)
