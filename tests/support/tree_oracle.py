"""Two trees made one, slowly and exactly: fractions, recursion, and every matching tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

from hedgerow.data import Domain
from hedgerow.kinds.records.data import Tree
from hedgerow.kinds.records.schema import RecordSchema

#: every vertex counts a little, so that it is kept even if its labels are all hidden
KEEP = Fraction(1, 2**23)


@dataclass(frozen=True)
class Labels:
    """A hierarchy: the chain of each label from the root to itself."""

    chains: Mapping[str, tuple[str, ...]]
    leaves: frozenset[str]

    @classmethod
    def of(cls, values: Sequence[str], paths: Sequence[Sequence[str]]) -> Labels:
        chains = {"*": ("*",)}
        for value, path in zip(values, paths, strict=True):
            chain = ("*", *path, value)
            chains.update({chain[depth]: chain[: depth + 1] for depth in range(len(chain))})
        return cls(chains, frozenset(values))

    def loss(self, label: str) -> Fraction:
        below = sum(label in self.chains[leaf] for leaf in self.leaves)
        return Fraction(below - 1, len(self.leaves) - 1) if len(self.leaves) > 1 else Fraction(0)

    def common(self, first: str, second: str) -> str:
        return [a for a, b in zip(self.chains[first], self.chains[second], strict=False) if a == b][-1]


@dataclass
class Vertex:
    """A vertex of a record or a representative: sensitive values in the order of the members, None if not given."""

    kind: str
    labels: list[str]
    values: list[object]
    children: list[Vertex] = field(default_factory=list)

    @classmethod
    def of(cls, tree: Tree) -> Vertex:
        kind, labels, value, children = tree
        return cls(kind, [str(label) for label in labels], [value], [cls.of(child) for child in children])

    def all(self) -> Iterator[Vertex]:
        yield self
        for child in self.children:
            yield from child.all()

    @property
    def size(self) -> Fraction:
        return sum((len(vertex.labels) + KEEP for vertex in self.all()), Fraction(0))


#: pairs of children: the cost, and the representative if there may be one
Made: TypeAlias = dict[tuple[int, int], tuple[Fraction, Vertex | None]]


@dataclass(frozen=True)
class Oracle:
    """How trees are made one: hierarchies by type, the most equal values of a position, and the mapping."""

    hierarchies: Mapping[str, Sequence[Labels]]
    buckets: Mapping[str, Mapping[object, object]]
    most: int | None = 1
    mapping: str = "assignment"

    @classmethod
    def of(cls, schema: RecordSchema, domain: Domain, **options: object) -> Oracle:
        hierarchies, buckets = {}, {}
        for kind in schema.types:
            axes = [domain.axis(name) for name in kind.quasi_axes]
            hierarchies[kind.name] = [
                Labels.of(list(map(str, axis.values)), axis.paths or ((),) * len(axis)) for axis in axes
            ]
            if kind.sensitive_axis:
                axis = domain.axis(kind.sensitive_axis)
                named = zip(axis.values, axis.paths or ((),) * len(axis), strict=True)
                buckets[kind.name] = {value: path[0] if path else value for value, path in named}
        return cls(hierarchies, buckets, **options)

    def diverse(self, a: Vertex, b: Vertex) -> bool:
        if a.kind != b.kind or (a.values[0] is None) != (b.values[0] is None):
            return False
        if a.values[0] is None or self.most is None:
            return True
        bucket = self.buckets[a.kind]
        return max(Counter(bucket[value] for value in a.values + b.values).values()) <= self.most

    def kept(self, vertex: Vertex) -> Fraction:
        """One minus the loss, over all labels of a tree, and a little per vertex."""
        total = Fraction(0)
        for one in vertex.all():
            pairs = zip(self.hierarchies[one.kind], one.labels, strict=True)
            total += KEEP + sum((1 - tree.loss(label) for tree, label in pairs), Fraction(0))
        return total

    def merge(self, a: Vertex, b: Vertex, wa: int = 1, wb: int = 1) -> tuple[Fraction, Vertex | None]:
        """The cost of Algorithm 1, and the representative, if the roots may become one."""
        if not self.diverse(a, b):
            return wa * a.size + wb * b.size, None
        pairs = zip(self.hierarchies[a.kind], a.labels, b.labels, strict=True)
        merged = Vertex(a.kind, [tree.common(x, y) for tree, x, y in pairs], a.values + b.values)
        for kind in sorted({child.kind for child in a.children}):
            ours = [child for child in a.children if child.kind == kind]
            theirs = [child for child in b.children if child.kind == kind]
            made = {(i, j): self.merge(x, y, wa, wb) for i, x in enumerate(ours) for j, y in enumerate(theirs)}
            solve = self.try_all if self.mapping == "assignment" else self.take_cheapest
            merged.children += solve(made, len(ours), len(theirs))
        return wa * a.size + wb * b.size - (wa + wb) * self.kept(merged), merged

    def try_all(self, made: Made, rows: int, columns: int) -> list[Vertex]:
        """The best of all ways to match the smaller side."""
        small = range(min(rows, columns))
        best: tuple[Fraction, list[Vertex]] = (Fraction(0), [])
        for partners in permutations(range(max(rows, columns)), len(small)):
            pairs = [(i, j) if rows <= columns else (j, i) for i, j in zip(small, partners, strict=True)]
            trees = [tree for tree in (made[pair][1] for pair in pairs) if tree is not None]
            value = sum(map(self.kept, trees), Fraction(0))
            if value > best[0]:
                best = (value, trees)
        return best[1]

    def take_cheapest(self, made: Made, rows: int, columns: int) -> list[Vertex]:
        """Each of the smaller side takes the cheapest that is free and allowed."""
        free = list(range(max(rows, columns)))
        trees: dict[tuple[int, int], Vertex] = {}
        for i in range(min(rows, columns)):
            pairs = {j: (i, j) if rows <= columns else (j, i) for j in free}
            allowed = [j for j in free if made[pairs[j]][1] is not None]
            if allowed:
                best = min(allowed, key=lambda j: made[pairs[j]][0])
                free.remove(best)
                trees[pairs[best]] = made[pairs[best]][1]
        return [trees[pair] for pair in sorted(trees)]  # the order of the first tree, which later matching depends on


def show(vertex: Vertex) -> tuple[object, ...]:
    """A representative as plain values that can be compared: siblings sorted."""
    return vertex.kind, tuple(vertex.labels), tuple(vertex.values), tuple(sorted(map(show, vertex.children), key=repr))
