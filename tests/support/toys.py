"""Small methods and criteria that exist only to put the spine to the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hedgerow.data import Dataset
from hedgerow.kinds.sets.data import Sets
from hedgerow.privacy import Choose, Criterion, Flip, Laplace, Ledger, PureDP
from hedgerow.promises import Option, Promise
from hedgerow.publisher import Publisher, param


@dataclass(frozen=True, kw_only=True)
class TokenTree(Publisher[Sets]):
    r"""Publish single items by an adaptive tree of tokens: pairs of items, then items.

    A record owns up to three tokens, its first three items. A favourite pair of items is chosen; it
    spends all that is left of its path on its items, other pairs spend half and ask again.

    Privacy
    -------
    favourite: a record moves the count of a pair by at most 3; a quarter of the budget. tokens: at most
    3 a record, each in one pair and one item; three quarters along every path.

    Examples
    --------
    >>> TokenTree().name
    'toy-token-tree'

    References
    ----------
    .. [1] None: a toy.
    """

    name: ClassVar[str] = "toy-token-tree"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")

    cutoff: int = param(1, "noisy count a node must reach", ge=1)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Choose a favourite, grow pairs, grow items, ask the rest again."""
        size = data.domain.size("item")
        tokens = count_tokens(data, most=3)
        pairs = np.add.reduceat(tokens, np.arange(0, size, 2))
        choice, growth = ledger.split(1, 3)
        favourite = choice.ask(pairs[None, :], Choose(sensitivity=3), spend=choice.budget, label="favourite")
        tree = growth.paths(spend=growth.budget, touches=3, label="tokens")
        held = np.flatnonzero(pairs)
        grown = tree.survivors(
            np.zeros(len(held), np.int64),
            held,
            pairs[held],
            Laplace(l1=1),
            under=tree.root,
            candidates=len(pairs),
            cutoff=self.cutoff,
            spend=growth.budget / 3,
            label="pairs",
        )
        below = tree.left(grown.nodes) / np.where(grown.codes == favourite, 1, 2)
        at, slot = np.nonzero(_items_of(grown.codes, tokens))
        leaves = tree.survivors(
            at,
            slot,
            _items_of(grown.codes, tokens)[at, slot],
            Laplace(l1=1),
            under=grown.nodes,
            candidates=np.where(2 * grown.codes + 1 < size, 2, 1),
            cutoff=self.cutoff,
            spend=below,
            label="items",
        )
        items = 2 * grown.codes[leaves.at] + leaves.codes
        noisy = leaves.noisy.copy()
        again = np.flatnonzero(grown.codes[leaves.at] != favourite)
        _, second = tree.ask(
            tokens[items[again]],
            Laplace(l1=1),
            under=leaves.nodes[again],
            spend=tree.left(leaves.nodes[again]),
            label="items again",
        )
        noisy[again] = np.maximum(1, (noisy[again] + second) // 2)
        tree.close()
        return Sets.from_masks(np.left_shift(1, items), noisy, data.domain)


def count_tokens(data: Sets, *, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Count the first `most` items of every record, by item."""
    codes = data.domain.axis("item").codes
    counts = np.zeros(data.domain.size("item"), np.int64)
    for itemset, number in data.itemsets():
        counts[[codes[item] for item in itemset[:most]]] += number
    return counts


def _items_of(pairs: Any, tokens: Any) -> Any:
    padded = np.append(tokens, 0)
    return padded[np.stack((2 * pairs, 2 * pairs + 1), axis=1)]


@dataclass(frozen=True, init=False, repr=False)
class MinimumSupport(Criterion):
    """Every published itemset is the set of at least `k` records."""

    name: ClassVar[str] = "MinimumSupport"
    k: int

    def __init__(self, k: int | str) -> None:
        object.__setattr__(self, "k", int(k))

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the itemsets of fewer records."""
        records = Counter(record for output in outputs.values() for record in output.records())
        return {"rare itemsets": sum(number < self.k for number in records.values())}

    def sentence(self) -> str:
        """Say the promise."""
        return f"Every published set is the set of at least {self.k} records."

    def fields(self) -> dict[str, str]:
        """The number of the promise."""
        return {"k": str(self.k)}


@dataclass(frozen=True, init=False, repr=False)
class FewItems(Criterion):
    """No published record has more than `k` items: another promise with an option `--k`."""

    name: ClassVar[str] = "FewItems"
    kinds: ClassVar = ("sets",)
    k: int

    def __init__(self, *, k: int | str) -> None:
        object.__setattr__(self, "k", int(k))

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the longer records."""
        return {"long records": sum(len(r) > self.k for output in outputs.values() for r in output.records())}

    def sentence(self) -> str:
        """Say the promise."""
        return f"No published record has more than {self.k} items."

    def fields(self) -> dict[str, str]:
        """The number of the promise."""
        return {"k": str(self.k)}


@dataclass(frozen=True, kw_only=True)
class PassOn(Publisher[Sets]):
    """Publish data as it is, if it keeps the promise already: the smallest syntactic method.

    Privacy
    -------
    None by itself; the criterion is verified on the output.

    Examples
    --------
    >>> PassOn().name
    'toy-pass-on'

    References
    ----------
    .. [1] None: a toy.
    """

    name: ClassVar[str] = "toy-pass-on"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (MinimumSupport,)
    units: ClassVar = ()

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Return the very rows that came in."""
        del ledger
        return data


@dataclass(frozen=True, kw_only=True)
class NoisySize(Publisher[Sets]):
    """Publish one set as often as there are records, noisily: keeps two promises at once.

    Privacy
    -------
    size: a record moves it by one.

    Examples
    --------
    >>> NoisySize().name
    'toy-noisy-size'

    References
    ----------
    .. [1] None: a toy.
    """

    name: ClassVar[str] = "toy-noisy-size"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP, MinimumSupport)
    units: ClassVar = ("record", "person")

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Ask for the size and publish that many records of item 0."""
        size = ledger.ask(np.array([len(data)]), Laplace(l1=1), spend=ledger.budget, label="size")
        return Sets.from_masks(np.array([1]), np.maximum(size, 1), data.domain)


#: rows of the table of promises for the toys
ROWS = {
    "MinimumSupport": Promise(
        "toys:MinimumSupport", {"k": Option("how many records have each published set")}, example={"k": "2"}
    ),
    "FewItems": Promise(
        "toys:FewItems", {"k": Option("how many items a record may have")}, example={"k": "9"}, kinds=("sets",)
    ),
}


@dataclass(frozen=True, kw_only=True)
class PickAndFlip(Publisher[Sets]):
    """Publish two noisy bits about the ends of records, along a forest of two tokens a record.

    Privacy
    -------
    ends: a record owns two tokens, its first and its last item. The score of "mostly item 0" against
    "mostly another" moves by one up and one down a token, and a bit belongs to one token.

    Examples
    --------
    >>> PickAndFlip().name
    'toy-pick-and-flip'

    References
    ----------
    .. [1] None: a toy.
    """

    name: ClassVar[str] = "toy-pick-and-flip"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Choose which is more common at each end, then say whether item 0 is there at all."""
        first, last = data.domain.values("item")[0], data.domain.values("item")[-1]
        held = data.records()
        there = np.array([sum(r[0] == first for r in held), sum(r[-1] == last for r in held)])
        lead = 2 * there - len(held)
        tree = ledger.paths(spend=ledger.budget, touches=2, label="ends")
        half = ledger.budget / 2
        nodes, choice = tree.ask(
            np.stack((lead, -lead), axis=1),
            Choose(sensitivity=1),
            under=np.zeros(2, np.int64),
            spend=half,
            label="more common",
        )
        bits = (there > 0).astype(np.int64)
        _, bit = tree.ask(bits, Flip(), under=nodes, spend=half, label="there at all")
        return Sets.from_masks(np.ones(2, np.int64), 1 + choice + 2 * bit, data.domain)
