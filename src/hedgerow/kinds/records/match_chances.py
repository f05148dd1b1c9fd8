r"""How likely each record matches a tree pattern, and how many of its vertices are expected to: one estimator for all.

What is known of each vertex is a chance: that its label, or its sensitive value, is asked for. It is 0 or 1 in an
original, $|L(q) \cap L(x)| / |L(x)|$ for a generalised label $x$ and values $L(q)$ that are asked for, and a share of
the values of a position in anatomised records. Vertices are independent of each other, so that one pass from the leaves
to the root finds the chance of a match exactly: for every set of nodes of a type, the chance that a vertex matches all
of them. Of a vertex with children $c$, and one node $q$ below a node $p$,

$$P(v \models p) = P(v \text{ itself}) \cdot \bigl(1 - \prod_c (1 - P(c \models q))\bigr).$$

Several nodes of one type need different vertices. Children are then taken in one by one, and what is kept is the chance
of each family of sets of nodes that have found children of their own. For counts of vertices, one vertex is marked as
the one that is counted: chances of the others are multiplied with it, and added up over all vertices.

Only vertices that may match are looked at: identifiers are sorted, those of the vertices of a type below one parent
follow each other, and all others have chance 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.kinds.records.tree_pattern import ANYTHING, Asked, Pattern
from hedgerow.numerics.arrays import Floats, Integers

#: for each of several nodes, which sets of nodes below it (as bits) have found children of their own
_Families: TypeAlias = tuple[frozenset[int], ...]
_NONE: Floats = np.zeros(0)


class Source(Protocol):
    """Vertices by identifiers, and how likely they have what is asked for.

    The chance of something that is asked of one vertex may depend on nothing that is asked of another one.
    """

    @property
    def schema(self) -> RecordSchema:
        """The types of vertices."""
        ...

    def candidates(self, number: int, asked: Asked) -> Integers:
        """Vertices of a type among which are all that may have what is asked for, sorted."""
        ...

    def chances(self, number: int, vertices: Integers, asked: Asked) -> Floats:
        """How likely each of these has what is asked for."""
        ...

    def above(self, number: int, vertices: Integers) -> Integers:
        """The parents of these, sorted since the vertices are."""
        ...


class Matches(NamedTuple):
    """The roots that may match, how likely each does, and how many of the counted vertices below it are expected to."""

    roots: Integers
    chance: Floats
    expected: Floats


class _TypeMatches(NamedTuple):
    """Vertices of a type, or what is known of their children.

    `together` has a row for each set of nodes, as bits: the chance that all of them match. `counted` is the expected
    number of vertices that are counted, with this vertex on the way to them; None where none is below. Of children,
    `absent` is what `together` is for vertices without any that match: 1 where nothing is asked of them.
    """

    vertices: Integers
    together: Floats
    counted: Floats | None = None
    absent: Floats = _NONE


def find_matches(source: Source, pattern: Pattern) -> Matches:
    """Find how likely each record matches, from the leaves of the pattern to its root."""
    below: dict[int, list[_TypeMatches]] = {number: [] for number in pattern.by_type}
    matches = _TypeMatches(np.zeros(0, np.int64), np.ones((2, 0)))
    for number in sorted(pattern.by_type, reverse=True):  # types come after those above them
        matches = _match_type(source, pattern, number, below[number])
        if number:
            below[source.schema.parents[number]].append(_pass_up(source, pattern, number, matches))
    chance = matches.together[1]
    return Matches(matches.vertices, chance, chance if matches.counted is None else matches.counted)


def _match_type(source: Source, pattern: Pattern, number: int, below: Sequence[_TypeMatches]) -> _TypeMatches:
    """Match all nodes of a type, given what is known of the children of its vertices."""
    nodes = pattern.by_type[number]
    vertices = _find_supported(source, pattern, number, below)
    below = [_spread(each, vertices) for each in below]
    together = np.ones((1 << len(nodes), len(vertices)))
    for some in range(1, len(together)):
        asked = ANYTHING
        for bit, node in enumerate(nodes):
            if some >> bit & 1:
                asked = asked.and_also(pattern.nodes[node].asked)
        together[some] = source.chances(number, vertices, asked)
        for each in below:
            together[some] *= each.together[some]
    counted = None
    if number in pattern.path:
        on_path = 1 << nodes.index(pattern.path[number])
        counted = together[on_path]
        if any(each.counted is not None for each in below):
            counted = source.chances(number, vertices, pattern.nodes[pattern.path[number]].asked)
            for each in below:
                counted = counted * (each.together[on_path] if each.counted is None else each.counted)
    kept = together[1:].any(axis=0)
    if kept.all():
        return _TypeMatches(vertices, together, counted)
    return _TypeMatches(vertices[kept], together[:, kept], None if counted is None else counted[kept])


def _find_supported(source: Source, pattern: Pattern, number: int, below: Sequence[_TypeMatches]) -> Integers:
    """The vertices that may match one of the nodes of a type: their children do, or else they have what is asked."""
    supports: list[Integers] = []
    for bit, node in enumerate(pattern.by_type[number]):
        support: Integers | None = None
        for each in below:
            if not each.absent[1 << bit]:
                alive = each.together[1 << bit] > 0
                own = each.vertices if alive.all() else each.vertices[alive]
                support = own if support is None else np.intersect1d(support, own, assume_unique=True)
        supports.append(source.candidates(number, pattern.nodes[node].asked) if support is None else support)
    return supports[0] if len(supports) == 1 else np.unique(np.concatenate(supports))


def _spread(below: _TypeMatches, vertices: Integers) -> _TypeMatches:
    """What is known of the children of these vertices; those that are not listed have none that match."""
    if np.array_equal(below.vertices, vertices):
        return below
    place = np.minimum(np.searchsorted(below.vertices, vertices), len(below.vertices) - 1)
    listed = below.vertices[place] == vertices if len(below.vertices) else np.zeros(len(vertices), np.bool_)
    together = np.repeat(below.absent[:, None], len(vertices), axis=1)
    together[:, listed] = below.together[:, place[listed]]
    counted = None
    if below.counted is not None:
        counted = np.zeros(len(vertices))
        counted[listed] = below.counted[place[listed]]
    return _TypeMatches(vertices, together, counted, below.absent)


# What vertices have below them.


def _pass_up(source: Source, pattern: Pattern, number: int, matches: _TypeMatches) -> _TypeMatches:
    """Say of the parents of some vertices how likely they have children for each set of nodes above."""
    parents = source.above(number, matches.vertices)
    new = np.diff(parents, prepend=-1) != 0
    listed, inverse = parents[new], np.cumsum(new) - 1
    above, nodes = pattern.by_type[source.schema.parents[number]], pattern.by_type[number]
    owned = [sum(1 << bit for bit, node in enumerate(nodes) if pattern.nodes[node].above == each) for each in above]
    subsets = range(1 << len(above))
    absent = np.array([not any(bits and some >> at & 1 for at, bits in enumerate(owned)) for some in subsets])
    together = np.ones((len(subsets), len(listed)))
    children: _Children | None = None
    if len(nodes) == 1:
        with np.errstate(divide="ignore"):  # a certain vertex: the logarithm of 0
            missed = np.bincount(inverse, np.log1p(-matches.together[1]), minlength=len(listed))
        together[~absent] = -np.expm1(missed)
    else:
        children = _Children.of(matches, inverse, np.flatnonzero(new))
        families = _Automaton(owned, children.occurring)
        reached = children.walk(families)
        for some in np.flatnonzero(~absent):
            wanted = [bits if some >> at & 1 else 0 for at, bits in enumerate(owned)]
            together[some] = reached[families.accepting(wanted)].sum(axis=0)
    counted: Floats | None = None
    if matches.counted is not None:
        own = pattern.path[number]
        others = owned[above.index(pattern.nodes[own].above)] & ~(1 << nodes.index(own))
        if others and children is not None:
            families = _Automaton([others], children.occurring)
            reached = children.walk(families, matches.counted)
            counted = reached[families.accepting([others])].sum(axis=0)
        else:
            counted = np.bincount(inverse, matches.counted, minlength=len(listed)).astype(np.float64)
    return _TypeMatches(listed, together, counted, absent.astype(np.float64))


class _Automaton:
    """The families of sets of nodes that have found children of their own, and which follows when a child comes."""

    def __init__(self, owned: Sequence[int], occurring: Sequence[int]) -> None:
        start: _Families = tuple(frozenset([0]) for _ in owned)
        self._owned = owned
        self.states: dict[_Families, int] = {start: 0}
        self.following: list[dict[int, int]] = []
        queue = [start]
        while queue:
            state = queue.pop(0)  # in the order of their numbers
            steps: dict[int, int] = {}
            for child in occurring:
                after = tuple(_take(family, child & bits) for family, bits in zip(state, owned, strict=True))
                if after not in self.states:
                    self.states[after] = len(self.states)
                    queue.append(after)
                steps[child] = self.states[after]
            self.following.append(steps)

    def accepting(self, wanted: Sequence[int]) -> list[int]:
        """The states in which all of these nodes have found children."""
        return [
            number
            for state, number in self.states.items()
            if all(bits in family for family, bits in zip(state, wanted, strict=True))
        ]


def _take(family: frozenset[int], matched: int) -> frozenset[int]:
    """Add what a child can serve: one of the nodes that it matches, or none."""
    more = {
        some | 1 << bit for some in family for bit in range(matched.bit_length()) if matched >> bit & ~(some >> bit) & 1
    }
    return family | more


@dataclass(frozen=True, eq=False)
class _Children:
    """Vertices in the order of their parents: `exact` is the chance that exactly these nodes match, by sets as bits."""

    exact: Floats
    parent: Integers
    rank: Integers
    parents: int

    @classmethod
    def of(cls, matches: _TypeMatches, inverse: Integers, first: Integers) -> _Children:
        """Take the chance that exactly these nodes match from the chances that at least these do."""
        exact = matches.together.copy()
        for bit in range(len(exact).bit_length() - 1):
            without = np.flatnonzero(np.arange(len(exact)) >> bit & 1 == 0)
            exact[without] -= exact[without | 1 << bit]
        rank = np.arange(len(inverse)) - first[inverse]
        return cls(np.maximum(exact, 0), inverse, rank, len(first))

    @property
    def occurring(self) -> list[int]:
        """The sets of nodes that a child may match."""
        return np.flatnonzero(self.exact.any(axis=1)).tolist()

    def walk(self, automaton: _Automaton, counted: Floats | None = None) -> Floats:
        """Take in the children of each parent one by one; return the chance of each state at the end.

        With `counted`, one child is the one on the way to what is counted: it serves no other node.
        """
        reached = np.zeros((len(automaton.states), self.parents))
        reached[0] = 1
        marked = np.zeros_like(reached)
        order = np.argsort(self.rank, kind="stable")
        for each in np.split(order, np.cumsum(np.bincount(self.rank))[:-1]) if len(order) else []:
            at = self.parent[each]
            before, before_marked = reached[:, at], marked[:, at]
            after, after_marked = np.zeros_like(before), np.zeros_like(before)
            for state, steps in enumerate(automaton.following):
                for child, following in steps.items():
                    after[following] += before[state] * self.exact[child, each]
                    after_marked[following] += before_marked[state] * self.exact[child, each]
            if counted is not None:
                after_marked += before * counted[each]
            reached[:, at], marked[:, at] = after, after_marked
        return reached if counted is None else marked
