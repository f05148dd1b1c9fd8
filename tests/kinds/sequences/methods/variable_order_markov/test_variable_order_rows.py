"""Rows of a context tree: what is asked, what is estimated, and what is written from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import PureDP
from hedgerow.kinds.sequences.methods.variable_order_markov import model, plan_model
from hedgerow.kinds.sequences.methods.variable_order_markov.draw import write_sequences
from hedgerow.kinds.sequences.methods.variable_order_markov.model import estimate_rows
from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import LengthHistogram, make_plan
from hedgerow.kinds.sequences.methods.variable_order_markov.publisher import (
    Tokens,
    VariableOrderMarkov,
    ask_lengths,
    explore,
)
from hedgerow.numerics.sampling import systematic_counts
from hedgerow.privacy.questions import CellQuestion, ExactAnswers, NoisyAnswers
from hedgerow.privacy.samplers import coins
from hedgerow.testing import changed
from laws import sequences_over

# ---- The estimation of variable-order-markov written literally: contexts are tuples in a dict, every cell by itself
#
# It shares nothing with `hedgerow.kinds.sequences.methods.variable_order_markov` but the numbers of the description.

START, REST = "^", "rest"
GRID = [0.0, *(2.0**k for k in range(-6, -1)), *(2 ** (k / 4) for k in range(-2, 19))]


@dataclass
class LiteralTree:
    """A node is named by its context, left to right; a rest is named ("rest", *context of its node)."""

    items: int
    #: noisy row and variance by name; the root is ()
    readings: dict = field(default_factory=dict)
    #: names below each opened node, in order
    below: dict = field(default_factory=dict)
    #: expected counts of contexts
    expected: dict = field(default_factory=dict)
    total: float = 0.0
    with_items: bool = False
    balanced: bool = True


def literal_counts(tree):
    """The final row of every node."""
    return _Literal(tree).run()


def ivw(x, vx, y, vy):
    return (x * vy + y * vx) / (vx + vy)


def eb(cells):
    """Shrink cells, given as (noisy, prior mean, scale)."""
    cells = [(y, max(m, 1e-9), b) for y, m, b in cells]
    classes = [min(4, max(-12, math.floor(math.log2(m / b)))) for _, m, b in cells]
    results = [0.0] * len(cells)
    for number in set(classes):
        mine = [i for i, k in enumerate(classes) if k == number]
        mu = sum(cells[i][1] / cells[i][2] for i in mine) / len(mine)
        width = [GRID[1], *((GRID[i + 1] - GRID[i - 1]) / 2 for i in range(1, 26)), GRID[26] - GRID[25]]
        weak = [math.exp(-g / mu) * d + 1e-12 for g, d in zip(GRID, width, strict=True)]
        weak = [p / sum(weak) for p in weak]
        chance = [0.9 * p + 0.1 / 27 for p in weak]

        def posterior(y, b, chance):
            t = min(40, max(0, y / b))
            post = [p * math.exp(-abs(t - g)) for p, g in zip(chance, GRID, strict=True)]
            return [p / sum(post) for p in post]

        for _ in range(30):
            posts = [posterior(cells[i][0], cells[i][2], chance) for i in mine]
            chance = [sum(column) + 4 * p for column, p in zip(zip(*posts, strict=True), weak, strict=True)]
            chance = [p / sum(chance) for p in chance]
        for i in mine:
            y, m, b = cells[i]
            mean = b * sum(p * g for p, g in zip(posterior(y, b, chance), GRID, strict=True))
            mean *= min(2, max(0.5, m / b / mu)) if y / b < 2 else 1
            results[i] = y if y / b >= 12 else mean
    return results


class _Literal:
    def __init__(self, tree):
        self.tree = tree
        self.symbols = tree.items + 1
        self.combined, self.variance = {}, {}
        self.rows, self.totals, self.first = {}, {}, {}

    def run(self):
        self.combine(())
        tree, c = self.tree, self.symbols
        q = self.shrunk_rows([(self.combined[()], [tree.total / c] * c, self.variance[()])], smoothing=0)[0]
        q = np.maximum(q, 1e-6 * q.mean())
        self.rows[()], self.totals[()] = q, q.sum()
        self.level_one(q)
        level = [name for name in tree.below[()] if name in tree.below]
        while level:
            level = self.deeper(level)
        return self.rows

    def combine(self, name):
        y, v = self.tree.readings.get(name, (None, None))
        if name in self.tree.below:
            for child in self.tree.below[name]:
                self.combine(child)
            total = sum(self.combined[child] for child in self.tree.below[name])
            spread = sum(self.variance[child] for child in self.tree.below[name])
            if y is None:
                y, v = total, spread
            else:
                y, v = ivw(y, v, total, spread), 1 / (1 / v + 1 / spread)
        self.combined[name], self.variance[name] = y, v

    def shrunk_rows(self, rows, smoothing=1e-6):
        """Shrink rows in one fit; each is (noisy, prior, variance)."""
        cells = [(y, m, math.sqrt(v / 2)) for row, prior, v in rows for y, m in zip(row, prior, strict=True)]
        shrunk = np.array(eb(cells)).reshape(len(rows), self.symbols)
        return [part + smoothing * np.array(prior) for part, (_, prior, _) in zip(shrunk, rows, strict=True)]

    def level_one_totals(self, q):
        c, raw = self.symbols, {}
        for name in self.tree.below[()]:
            if name != (REST,):
                symbol = c - 1 if name == (START,) else name[0]
                raw[name] = ivw(self.combined[name].sum(), c * self.variance[name], q[symbol], self.variance[()])
        if (REST,) in self.tree.below[()]:
            left = max(1, q.sum() - sum(raw.values()))
            own = self.combined[REST,].sum()
            raw[REST,] = ivw(own, c * self.variance[REST,], left, len(raw) * self.variance[()])
        return {name: max(1, t) for name, t in raw.items()}

    def level_one(self, q):
        tree, c, names = self.tree, self.symbols, self.tree.below[()]
        totals = self.level_one_totals(q)
        priors = {name: totals[name] * q / q.sum() for name in names}
        start = np.append(q[:-1], 0) / q[:-1].sum()
        if tree.with_items and not self.depends(names, priors):
            q = self.pooled(q, [name for name in names if name != (START,)], totals)
            self.rows[()], self.totals[()] = q, q.sum()
            rows = {name: totals[name] * q / q.sum() for name in names}
            rows[START,] = totals[START,] * np.append(q[:-1], 0) / q[:-1].sum()
            self.rows |= rows
            self.totals |= totals
            return
        priors[START,] = np.append((totals[START,] * start)[:-1], 1e-9)
        shrunk = self.shrunk_rows([(self.combined[name], priors[name], self.variance[name]) for name in names])
        rows = dict(zip(names, shrunk, strict=True))
        rows[START,][-1] = 0
        if tree.with_items:
            for name in names:
                rows[name] = self.residue(name, rows[name], totals[name])
        if tree.balanced:
            columns = q * sum(totals.values()) / q.sum()
            for name in names:
                if name != (REST,):
                    columns[c - 1 if name == (START,) else name[0]] = totals[name]
            columns *= sum(totals.values()) / columns.sum()
            rows = self.scaled(rows, totals, columns)
        self.rows |= rows
        self.totals |= totals

    def depends(self, names, priors):
        """Whether squared deviations of the rows of items are more than one standard deviation too large."""
        own = [name for name in names if name not in ((START,), (REST,))]
        squares = [
            (y - m) ** 2 / self.variance[n] for n in own for y, m in zip(self.combined[n], priors[n], strict=True)
        ]
        return sum(squares) - len(squares) > math.sqrt(5 * len(squares))

    def pooled(self, q, names, totals):
        """Single items from their own reading, and from all rows but that of the start, by their totals."""
        tree, c = self.tree, self.symbols
        square = sum(totals[name] ** 2 for name in names)
        part = [sum(totals[name] * self.combined[name][z] for name in names) / square for z in range(c - 1)]
        if sum(part) < 0.5:
            return q
        factor = sum(q[:-1]) / sum(part)
        spread = factor**2 * sum(totals[name] ** 2 * self.variance[name] for name in names) / square**2
        own, v = tree.readings[()]
        cells = [(ivw(own[z], v, factor * part[z], spread), tree.total / c) for z in range(c - 1)]
        scale = math.sqrt(1 / (1 / v + 1 / spread) / 2)
        items = np.array(eb([(y, m, scale) for y, m in cells]))
        return np.append(np.maximum(items, 1e-6 * items.mean()), q[-1])

    def residue(self, name, row, total):
        large = self.combined[name] >= 4 * math.sqrt(self.variance[name] / 2)
        share = max(total - row[large].sum(), 0.02 * total)
        others = row[~large].sum()
        factor = min(20, max(0.05, share / others)) if others > 0 else 1
        return np.where(large, row, row * factor)

    def scaled(self, rows, sums, columns):
        rows = {name: row.copy() for name, row in rows.items()}
        for sweep in range(13):
            for name in rows:
                rows[name] *= sums[name] / max(1e-300, rows[name].sum())
            if sweep < 12:
                factor = columns / np.maximum(1e-300, sum(rows.values()))
                for name in rows:
                    rows[name] *= factor
        return rows

    def deeper(self, level):
        tree = self.tree
        root = self.rows[()] / self.rows[()].sum()
        means = [self.totals[name] * (root if len(name) == 1 else self.first[name[1:]]) for name in level]
        readings = [(*tree.readings[name], m) for name, m in zip(level, means, strict=True)]
        for name, row in zip(level, self.shrunk_rows([(y, m, v) for y, v, m in readings]), strict=True):
            self.first[name] = row / row.sum()
        totals = {}
        for name in level:
            for child in tree.below[name]:
                if child[0] != REST:
                    totals[child] = self.total_of(child, name)
            known = sum(totals[child] for child in tree.below[name] if child[0] != REST)
            totals[REST, *name] = max(self.totals[name] - known, 0.02 * self.totals[name])
        children = [child for name in level for child in tree.below[name]]
        parent = {child: name for name in level for child in tree.below[name]}
        priors = [totals[child] * self.first[parent[child]] for child in children]
        shrunk = self.shrunk_rows(
            [(self.combined[n], m, self.variance[n]) for n, m in zip(children, priors, strict=True)]
        )
        rows = dict(zip(children, shrunk, strict=True))
        for name in level:
            mine = tree.below[name]
            factor = self.rows[name].sum() / sum(totals[child] for child in mine)
            sums = {child: totals[child] * factor for child in mine}
            self.rows |= self.scaled({child: rows[child] for child in mine}, sums, self.rows[name])
        self.totals |= {child: max(1, self.rows[child].sum()) for child in children}
        return [child for child in children if child in tree.below]

    def total_of(self, child, parent):
        shorter, last = child[:-1], child[-1]
        if shorter in self.rows:
            f, v = self.rows[shorter][last], self.variance[shorter]
        else:
            f, v = self.tree.expected[child], 4 * self.variance[parent]
        own = self.combined[child].sum()
        return max(1, ivw(own, self.symbols * self.variance[child], f, v + 0.05 * f))


# ---- tests

MODES = pytest.mark.parametrize("mode", ["all items", "frequent items"])


class Recorded(NoisyAnswers):
    """Noisy answers, and the questions."""

    def __init__(self, seed):
        super().__init__(seed)
        self.questions = []

    def answer(self, question):
        self.questions.append(question)
        return super().answer(question)


@pytest.fixture
def deep(monkeypatch, mode):
    """Contexts of up to four symbols on small data: all thresholds low, single items asked for or not."""
    lower(monkeypatch, mode)


def lower(monkeypatch, mode):
    monkeypatch.setattr(plan_model, "_ROOT", np.inf if mode == "frequent items" else 0.0)
    monkeypatch.setattr(plan_model, "_DEEP", 0.0)
    for name, low in (("_OWN_ROW", 0.5), ("_OWN_OPENED", 1.0), ("_LONGER", 0.5), ("_LONGER_OPENED", 0.5)):
        monkeypatch.setattr(model, name, low)


def records(seed, number=300, items=3):
    draw = np.random.default_rng(seed)
    step = draw.dirichlet(np.full(items, 0.5), (items + 1) ** 2)
    lists = []
    for _ in range(number):
        path = [int(draw.integers(items))]
        while draw.random() < 0.75 and len(path) < 30:
            state = path[-1] * (items + 1) + (path[-2] + 1 if len(path) > 1 else 0)
            path.append(int(draw.choice(items, p=step[state])))
        lists.append(path)
    return lists


def explored(data, answers, *, epsilon=2, tokens=0, order=4, cells=4_000_000):
    ledger = PureDP(epsilon=epsilon, unit="sequence").open(data, answers)
    lengths = ask_lengths(data, ledger, 40)
    symbols = data.domain.size("item") + 1
    made = make_plan(lengths, symbols, ledger.left, tokens=tokens, order=order, cells=cells)
    tree = explore(Tokens.of(data, made.tokens), ledger, made, coins((3, 0)))
    assert ledger.left == 0  # some path has spent all of it
    return tree, made, lengths


def name_of(tree, row):
    """The context of a row, left to right."""
    name = []
    while row > 0:
        symbol = int(tree.symbol[row])
        name.append(START if symbol == tree.start else REST if symbol == tree.rest else symbol)
        row = int(tree.parent[row])
    return tuple(name)


def as_literal(tree, made):
    names = [name_of(tree, row) for row in range(len(tree))]
    literal = LiteralTree(made.symbols - 1, total=made.total, with_items=made.with_items, balanced=made.balanced)
    for row, name in enumerate(names):
        if np.isfinite(tree.variance[row]):
            literal.readings[name] = tree.noisy[row], tree.variance[row]
        literal.expected[name] = tree.expected[row]
        if row:
            literal.below.setdefault(names[tree.parent[row]], []).append(name)
    return literal, names


# ---- the tree


@MODES
@pytest.mark.usefixtures("deep")
@given(seed=st.integers(0, 99), tokens=st.sampled_from([0, 1, 3, 8]))
@settings(max_examples=12)
def test_rows_below_an_opened_one_partition_its_tokens(mode, seed, tokens):
    data = sequences_over(records(seed, 80), 3)
    tree, made, _ = explored(data, ExactAnswers(), tokens=tokens, epsilon=30)
    assert made.with_items == (mode == "frequent items")
    assert tree.depth > 1
    every = Tokens.of(data, made.tokens).count(0, 1, 4)
    for level in range(1, tree.depth + 1):
        parents, starts = tree.families(level)
        total = np.add.reduceat(tree.noisy[tree.rows(level)], starts, axis=0)
        exact = tree.noisy[parents] if level > 1 else every[None, :]
        assert np.array_equal(total, exact)
        assert np.all(tree.opened[parents])
        assert np.all(tree.symbol[tree.rows(level)][np.append(starts[1:], 0) - 1] == tree.rest) or level == 1


@MODES
@pytest.mark.usefixtures("deep")
def test_contexts_that_begin_with_the_start_and_rests_are_not_opened(mode):
    tree, _, _ = explored(sequences_over(records(4), 3), NoisyAnswers(1), epsilon=30)
    assert mode
    assert tree.depth == 4
    assert not np.any(tree.opened[(tree.symbol == tree.start) | (tree.symbol == tree.rest)])
    assert not np.any(tree.opened[tree.rows(4)])


@MODES
@pytest.mark.usefixtures("deep")
def test_every_path_spends_all_and_there_are_few_shares(mode):
    answers = Recorded(1)
    tree, made, _ = explored(sequences_over(records(4), 3), answers, epsilon=3)
    cells = [question for question in answers.questions if isinstance(question, CellQuestion)]
    lengths, *asked = cells
    assert lengths.shares.used() == [Fraction(3, 10)]
    assert len(asked) == tree.depth + (mode == "frequent items")
    assert len({share for question in asked for share in question.shares.used()}) <= tree.depth + 2
    spent = {}
    number = 1
    leaves = set()
    for question in asked:
        for node, share in zip(question.under.tolist(), question.shares.fractions(), strict=True):
            spent[number] = spent.get(node, 0) + share
            leaves.discard(node)
            leaves.add(number)
            number += 1
    assert {spent[leaf] for leaf in leaves} == {made.spend} == {Fraction(27, 10)}


@pytest.mark.parametrize("cells", [12, 20, 60, 200])
@MODES
@pytest.mark.usefixtures("deep")
def test_no_more_cells_are_asked_for_than_allowed(mode, cells):
    """But for rests, which are always asked for; and a universe that does not fit is cut to frequent items."""
    tree, made, _ = explored(sequences_over(records(4), 3), NoisyAnswers(1), epsilon=30, cells=cells)
    rests = np.count_nonzero(tree.symbol == tree.rest)
    assert made.with_items == (mode == "frequent items" or cells < 16)
    assert (len(tree) - 1 - rests) * 4 <= cells


# ---- estimates


@MODES
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.usefixtures("deep")
@given(seed=st.integers(0, 999), order=st.integers(1, 4))
@settings(max_examples=4)
def test_rows_are_those_of_the_literal_description(mode, balanced, seed, order):
    compare_with_literal(seed, order, balanced=balanced)
    assert mode


@pytest.mark.parametrize("mode", ["frequent items"])
@pytest.mark.usefixtures("deep")
@given(seed=st.integers(0, 999))
@settings(max_examples=4)
def test_rows_of_independent_items_are_those_of_the_literal_description(mode, seed):
    """If the rows of items show nothing but noise, they are all those of single items, estimated from all of them."""
    lists = np.random.default_rng(seed).choice(3, (300, 5), p=[0.6, 0.3, 0.1]).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_OWN_OPENED", np.inf)
        patch.setattr(model, "show_dependence", lambda *_: False)
        patch.setattr(_Literal, "depends", lambda *_: False)
        tree = compare_with_literal(seed, 1, lists=lists, epsilon=1)
    assert tree.depth == 1, mode


def compare_with_literal(seed, order, *, balanced=True, lists=None, epsilon=4):
    data = sequences_over(lists or records(seed), 3)
    tree, made, _ = explored(data, NoisyAnswers(seed), epsilon=epsilon, order=order)
    made = replace(made, balanced=balanced)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "on_grid", np.asarray)
        fitted = estimate_rows(tree, made, coins((1, 0)))
    literal, names = as_literal(tree, made)
    rows = literal_counts(literal)
    for row, name in enumerate(names):
        assert fitted.counts[row] == pytest.approx(rows[name], rel=1e-7, abs=1e-9)
    rounded_alike(fitted, estimate_rows(tree, made, coins((1, 0))))
    return tree


def rounded_alike(fitted, estimates):
    """What is drawn from has 20 significant binary digits, each number the nearest to what was fitted.

    Between 1/2 and 1 such numbers are 2**-20 apart: the nearest one is at most 2**-21 away, 2**-20 of the number.
    """
    for table in ("counts", "totals", "follow"):
        exact, rounded = getattr(fitted, table), getattr(estimates, table)
        digits = np.frexp(rounded)[0] * 2**20
        assert np.array_equal(digits, np.rint(digits)), table
        assert np.all(np.abs(rounded - exact) <= 2.0**-20 * np.abs(exact)), table


@MODES
@pytest.mark.usefixtures("deep")
def test_longer_contexts_add_up_to_shorter_ones(mode):
    tree, made, _ = explored(sequences_over(records(8, 3_000), 3), NoisyAnswers(5), epsilon=20)
    add_up(tree, made)
    assert mode


def add_up(tree, made):
    counts = estimate_rows(tree, made, coins((1, 0))).counts
    for level in range(2, tree.depth + 1):
        parents, starts = tree.families(level)
        total = np.add.reduceat(counts[tree.rows(level)], starts, axis=0)
        assert total == pytest.approx(counts[parents], rel=1e-3, abs=0.1)


@MODES
@pytest.mark.usefixtures("deep")
def test_probabilities_add_up_and_nothing_ends_before_it_starts(mode):
    tree, made, _ = explored(sequences_over(records(8), 3), NoisyAnswers(5), epsilon=1)
    follow = estimate_rows(tree, made, coins((1, 0))).follow
    assert follow.sum(axis=1) == pytest.approx(1)
    assert follow[tree.child[0, tree.start], -1] == 0
    assert mode


# ---- planted bugs that change what is estimated, not what is promised


@pytest.mark.parametrize("mode", ["all items"])
@pytest.mark.usefixtures("deep")
def test_a_prior_from_the_combined_reading_is_noticed(mode):
    with changed(model._Rows, "_set_priors", "self.tree.noisy[parents]", "self.combined[parents]"):
        with pytest.raises(AssertionError):
            compare_with_literal(3, 4)
    assert compare_with_literal(3, 4).depth > 2, mode


@pytest.mark.parametrize("mode", ["all items"])
@pytest.mark.usefixtures("deep")
def test_raking_left_out_is_noticed(mode):
    tree, made, _ = explored(sequences_over(records(8, 3_000), 3), NoisyAnswers(5), epsilon=20)
    add_up(tree, made)
    old, new = "_rake(counts, sums, family, columns)", "counts"
    with changed(model._Rows, "estimate_longer", old, new), pytest.raises(AssertionError):
        add_up(tree, made)
    assert mode


# ---- what is written


@MODES
@pytest.mark.usefixtures("deep")
@given(seed=st.integers(0, 99), by_length=st.lists(st.integers(0, 40), min_size=1, max_size=12))
@settings(max_examples=12)
def test_lengths_that_are_written_are_those_that_were_estimated(mode, seed, by_length):
    tree, made, _ = explored(sequences_over(records(seed, 60), 3), NoisyAnswers(seed), epsilon=5)
    lengths = LengthHistogram(np.append(0.0, [*by_length, 1]) * 0.9 + np.append(0, np.full(len(by_length) + 1, 0.3)))
    follow = estimate_rows(tree, made, coins((1, 0))).follow
    written_alike(tree, follow, lengths, seed)
    assert mode


def written_alike(tree, follow, lengths, seed):
    row, item, counts = write_sequences(tree, follow, lengths, coins((seed, 0)))
    expected = systematic_counts(lengths.by_length[1:], lengths.number, 1 - coins((seed, 0)).random())
    number = np.bincount(np.bincount(row), counts, minlength=len(lengths.by_length))
    assert number[1:].tolist() == expected.tolist()
    assert counts.sum() == lengths.number
    assert np.all((item >= 0) & (item < tree.start))


def test_rows_of_ends_only_still_go_on():
    """Every item is followed by the end alone, and sequences shall be longer: items are drawn as single items are."""
    data = sequences_over([[0]] * 500 + [[1]] * 500, 2)
    tree, _, _ = explored(data, ExactAnswers(), epsilon=100)
    follow = np.tile([0.0, 0.0, 1.0], (len(tree), 1))
    follow[0] = [0.5, 0.25, 0.25]
    follow[tree.child[0, tree.start]] = [0.5, 0.5, 0.0]
    written_alike(tree, follow, LengthHistogram(np.array([0.0, 10, 30, 20])), 2)


def test_sequences_follow_the_contexts_of_the_tree(monkeypatch):
    """Order 2: what follows 1 depends on what came before it."""
    lower(monkeypatch, "all items")
    lists = [[0, 1, 2]] * 500 + [[2, 1, 0]] * 500
    data = sequences_over(lists, 3)
    release = VariableOrderMarkov(order=2).publish(data, PureDP(epsilon=1_000, unit="sequence"), seed=1)
    assert release.data.distinct_records() == data.distinct_records()
    release = VariableOrderMarkov(order=1).publish(data, PureDP(epsilon=1_000, unit="sequence"), seed=1)
    assert len(release.data.distinct_records()) > 2


def test_a_walk_finds_the_longest_context_or_the_rest(monkeypatch):
    lower(monkeypatch, "all items")
    tree, _, _ = explored(sequences_over(records(4), 3), NoisyAnswers(1), epsilon=30)
    rows = {name_of(tree, row): row for row in range(len(tree))}
    draw = np.random.default_rng(2)
    for path in draw.integers(0, 3, (200, 6)).tolist():
        history = [*reversed(path), START]
        context = ()
        for symbol in history:
            longer = (symbol, *context)
            if longer in rows:
                context = longer
                continue
            if (REST, *context) in rows:
                context = (REST, *context)
            break
        codes = [np.array([tree.start if symbol == START else symbol]) for symbol in history][: tree.depth]
        assert tree.walk(codes)[0] == rows[context]
