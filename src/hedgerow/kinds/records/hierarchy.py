"""A generalisation hierarchy: a public tree of labels over the values of an axis.

Values are the leaves, with the codes of the axis. Groups of values follow, and the root, `*`, hides everything. What is
lost by publishing a label instead of a value is measured by the share of all values that it may stand for:
$LM'(x) = (|L(x)| - 1) / (|L(*)| - 1)$, with $L(x)$ the leaves below $x$ (V. S. Iyengar, "Transforming data to satisfy
privacy constraints", KDD 2002); 0 if there is only one value.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Axis
from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Floats, Integers

#: the label that hides everything
ROOT = "*"
#: the most groups that contain each other: a hierarchy may come from anyone, and its memory grows with their square
_DEEPEST = 64


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of labels: the leaves first, in the order of an axis, then groups, and the root last.

    Examples
    --------
    >>> courses = Axis(("CS201", "CS301", "CS305", "MA101"), (("CS", "CS2"), ("CS", "CS3"), ("CS", "CS3"), ()))
    >>> tree = Hierarchy.from_axis(courses)
    >>> tree.names[4:], tree.loss.round(2).tolist()
    (('CS', 'CS2', 'CS3', '*'), [0.0, 0.0, 0.0, 0.0, 0.67, 0.0, 0.33, 1.0])
    >>> [tree.names[code] for code in tree.common_ancestor(np.array([0, 1, 3]), np.array([1, 2, 0]))]
    ['CS', 'CS3', '*']
    """

    names: tuple[str, ...]
    parent: Integers

    @classmethod
    def from_axis(cls, axis: Axis) -> Hierarchy:
        """Build the tree of the paths of an axis; without paths all values are below the root."""
        paths = axis.paths or ((),) * len(axis)
        if max(map(len, paths), default=0) > _DEEPEST:
            msg = f"a hierarchy has more than {_DEEPEST} groups within each other; leave some of them out"
            raise DomainError(msg)
        groups: dict[tuple[str, ...], int] = {}
        for path in paths:
            for depth in range(1, len(path) + 1):
                groups.setdefault(path[:depth], len(axis) + len(groups))
        root = len(axis) + len(groups)
        groups[()] = root
        inner = [path for path in groups if path]
        parent = [*(groups[path] for path in paths), *(groups[path[:-1]] for path in inner), -1]
        names = (*map(str, axis.values), *_short_names(inner), ROOT)
        if len(set(names)) < len(names):
            msg = "a group of a hierarchy has the name of a value, of another group, or of the root *; rename it"
            raise DomainError(msg)
        return cls(names, np.array(parent, np.int64))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def leaves(self) -> int:
        """The number of values."""
        return len(self) - len(np.unique(self.parent[self.parent >= 0]))

    @cached_property
    def ancestors(self) -> Integers:
        """The ancestor of each label at depth 0, 1, ..., itself at its own depth, and -1 below it."""
        chains = [self._chain(code) for code in range(len(self))]
        table = np.full((len(self), max(map(len, chains))), -1, np.int64)
        for code, chain in enumerate(chains):
            table[code, : len(chain)] = chain
        return table

    @cached_property
    def loss(self) -> Floats:
        """What is lost by publishing each label instead of a value: 0 for a value, 1 for the root."""
        counts = np.zeros(len(self), np.int64)
        at = self.ancestors[: self.leaves]
        np.add.at(counts, at[at >= 0], 1)
        return (counts - 1) / max(1, self.leaves - 1)

    def common_ancestor(self, first: Integers, second: Integers) -> Integers:
        """Return the deepest label that is at or above both."""
        above, other = self.ancestors[first], self.ancestors[second]
        shared = ((above == other) & (above >= 0)).sum(axis=-1)
        return np.take_along_axis(above, shared[..., None] - 1, axis=-1)[..., 0]

    def covers(self, label: Integers, other: Integers) -> NDArray[np.bool_]:
        """Whether each label is at or above the other one."""
        return self.common_ancestor(label, other) == label

    def _chain(self, code: int) -> list[int]:
        chain = [code]
        while self.parent[chain[-1]] >= 0:
            chain.append(int(self.parent[chain[-1]]))
        return chain[::-1]


def _short_names(paths: list[tuple[str, ...]]) -> list[str]:
    """Name each group by the last part of its path, or by all of it if another group has the same last part."""
    times = Counter(path[-1] for path in paths)
    return [path[-1] if times[path[-1]] == 1 else "/".join(path) for path in paths]
