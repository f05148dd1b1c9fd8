"""N-grams with their counts: how often a few items follow each other, or end a sequence."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data.axis import Value
from hedgerow.kinds.sequences.data import Sequences


@dataclass(frozen=True, eq=False, repr=False)
class NGrams(Sequences):
    """N-grams with their counts: published with sequences, never private data themselves.

    An n-gram is stored like a sequence. The code after those of the items, which can only be the last of an n-gram,
    marks the end of a sequence. `weights` are the counts.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.data import Domain
    >>> domain = Domain.declare(item=["home", "shop"])
    >>> data = NGrams.from_columns(
    ...     row=np.array([0, 1, 1]),
    ...     item=np.array([0, 0, 2]),
    ...     counts=np.array([7, 3]),
    ...     domain=domain,
    ... )
    >>> data.grams()
    [(('home',), False, 7), (('home',), True, 3)]
    """

    kind: ClassVar[str] = "ngrams"
    units: ClassVar[tuple[str, ...]] = ()
    beyond: ClassVar[int] = 1

    def grams(self) -> list[tuple[tuple[Value, ...], bool, int]]:
        """List the items of each n-gram, whether it ends a sequence, and its count."""
        values, size = self.domain.values("item"), self.domain.size("item")
        starts, items, weights = self.canonical().arrays()
        codes, ends = items.tolist(), starts.tolist()
        rows: list[list[int]] = [codes[a:b] for a, b in itertools.pairwise(ends)]
        return [
            (tuple(values[code] for code in row if code < size), row[-1] == size, weight)
            for row, weight in zip(rows, weights.tolist(), strict=True)
        ]
