"""The estimation of variable-order-markov written literally: contexts are tuples in a dict, every cell by itself.

It shares nothing with `hedgerow.kinds.sequences.methods.variable_order_markov` but the numbers of the description.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

__all__ = ["START", "LiteralTree", "literal_counts"]

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
