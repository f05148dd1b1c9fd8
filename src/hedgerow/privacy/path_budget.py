r"""A budget along the paths of a forest of cells, within one reserved share.

Privacy
-------
A record owns at most $T$ tokens (`touches`), and each token follows one path of the forest: among the cells below a
node, it is in at most one. A cell with share $s$ is answered by its mechanism scaled to $T$ tokens, so a count loses
$|moved| \cdot s / (T \, l_1)$, and a region of an arrangement at most $s / T$ per true cell. Removing one record moves
each count by at most $l_1$ per token that passes it, and one true cell of a region is one token; so the losses of all
cells are at most

$$\sum_{tokens} \sum_{cells\ on\ its\ path} s / T \le T \cdot spend / T = spend,$$

because the shares along every path from the root stay within `spend`: the amount spent above each node is recorded, and
a question that would exceed the budget of a path is refused before anything is drawn. Siblings cost nothing extra.
Which nodes are asked about, and with which shares, may depend on answers only.

The children of a node are asked for once. A second question below the same node would see the same tokens at the price
of siblings, so it is refused: put both questions in one call, or ask below the new nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, LiteralString, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import BudgetExceeded, InternalError
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.privacy.arrangement import Arrange, CellRegions, PlacedOnes
from hedgerow.privacy.evidence import mass_of_cells, mass_of_survivors
from hedgerow.privacy.mechanisms import Laplace, Mechanism, require_known
from hedgerow.privacy.questions import Answers, ArrangementQuestion, CellQuestion, ThresholdQuestion
from hedgerow.privacy.shares import Shares, Spend
from hedgerow.privacy.survivors import CandidateSets

#: nodes of different forests of one ledger have different numbers
_NODES_PER_FOREST = 1 << 40


class SurvivingNodes(NamedTuple):
    """Candidates that reached the cutoff, as nodes: node, position of its parent in `under`, code and noisy count."""

    nodes: Integers
    at: Integers
    codes: NDArray[Any]
    noisy: Integers


class ArrangedNodes(NamedTuple):
    """Placed ones: the regions as nodes, and the region of each one, as a position in `under`, and its position in it.

    Ones are sorted by region and position, so that their order does not tell which of them are true.
    """

    nodes: Integers
    at: Integers
    positions: Integers


class PathBudget:
    """A budget along the paths of a forest of cells, opened by `Ledger.paths`."""

    def __init__(
        self,
        spend: Fraction,
        touches: int,
        answers: Answers,
        mention: Callable[[str, str], None],
        refund: Callable[[Fraction], None],
        count: Callable[[Floats], None],
        number: int = 0,
    ) -> None:
        self._spend = spend
        self._touches = touches
        self._answers = answers
        self._mention = mention
        self._refund = refund
        self._count = count
        self._spent = Shares.of([Fraction(0)])
        self._asked = np.zeros(1, np.bool_)
        self._mass = np.zeros((1, 2))
        self._most = Fraction(0)
        self._first = number * _NODES_PER_FOREST
        self._open = True

    @property
    def root(self) -> Integers:
        """The node that every path starts from."""
        return np.full(1, self._first, np.int64)

    def ask(
        self,
        exact: Integers,
        mechanism: Mechanism,
        *,
        under: Integers,
        spend: Spend,
        label: LiteralString,
    ) -> tuple[Integers, Integers]:
        """Ask about cells below nodes; return the cells as nodes, and the answers.

        Parameters
        ----------
        exact
            The private answers, one per cell (or a row of scores per choice).
        mechanism
            How to answer, with the sensitivity to *one token*.
        under
            The parent of each cell; cells of one parent are siblings and share no token.
        spend
            One share for all, or one per cell.
        """
        if len(under) != len(exact):
            msg = f"each cell needs its parent: got {len(under)} for {len(exact)}"
            raise InternalError(msg)
        shares = Shares.spread(spend, len(exact))
        stretched = require_known(mechanism).over(self._touches)
        stretched.check(exact, shares)
        total = self._enter(under, shares, label)
        self._mention(label, mechanism.name)
        answer = self._answers.answer(CellQuestion(label, stretched, shares, exact, under))
        mass = self._replace(under, mass_of_cells(answer, stretched, shares))
        return self._add(total, mass), answer

    def survivors(
        self,
        at: Integers,
        codes: NDArray[Any],
        exact: Integers,
        mechanism: Laplace,
        *,
        under: Integers,
        candidates: int | NDArray[Any],
        cutoff: int | Integers,
        spend: Spend,
        label: LiteralString,
    ) -> SurvivingNodes:
        """Ask about families of children, however many, and get those that reach the cutoff, as nodes.

        Parameters
        ----------
        at, codes, exact
            The children that occur: their family, as a position in `under`; their code within it,
            from 0; their count. All other children are empty.
        mechanism
            How to answer, with the sensitivity to *one token*.
        under
            The parent of each family. All parents belong here, also those none of whose children occurs. A parent may
            have several families, which share no token.
        candidates, cutoff, spend
            One for all, or one per family.
        """
        families = CandidateSets.of(candidates, cutoff, at, codes, len(under))
        shares = Shares.spread(spend, len(under))
        stretched = require_known(mechanism).over(self._touches)
        stretched.check(exact, shares)
        families.check(exact)
        families.require_few(stretched, shares)
        total = self._enter(under, shares, label)
        self._mention(label, mechanism.name)
        question = ThresholdQuestion(label, stretched, shares, exact, families, under)
        survivors = self._answers.answer(question)
        mass = self._replace(under, mass_of_survivors(survivors, stretched, shares, families))
        return SurvivingNodes(self._add(total[survivors.at], mass), survivors.at, survivors.codes, survivors.noisy)

    def arrange(
        self,
        at: Integers,
        positions: Integers,
        *,
        sizes: int | Integers,
        ones: int | Integers,
        under: Integers,
        spend: Spend,
        label: LiteralString,
    ) -> ArrangedNodes:
        """Place ones in regions of cells, more likely where they agree with the truth: see `Arrange`.

        Parameters
        ----------
        at, positions
            The true cells, in any order: their region, as a position in `under`, and their position in it, from 0. A
            token is one true cell, and no two regions share a cell.
        sizes, ones
            The number of cells and of ones of each region, both public: known, or computed from answers.
        under
            The parent of each region. All regions belong here, also those without a true cell.
        spend
            One share for all, or one per region. With a share of 0 the ones of a region are placed uniformly.
        """
        regions = CellRegions.of(sizes, ones, at, positions, len(under))
        shares = Shares.spread(spend, len(under))
        mechanism = Arrange(cells=self._touches)
        total = self._enter(under, shares, label, free=True)
        self._mention(label, mechanism.name)
        placement: PlacedOnes = self._answers.answer(ArrangementQuestion(label, mechanism, shares, regions, under))
        return ArrangedNodes(self._add(total, self._replace(under, None)), placement.at, placement.positions)

    def left(self, nodes: Integers) -> Shares:
        """Return the share that is left below each node; it depends on answers only."""
        return self._spent[nodes - self._first].take_from(self._spend)

    def close(self) -> Fraction:
        """Close the forest and return to the ledger what no path has spent.

        What counts is what was asked along a path, whether or not any candidate reached the cutoff.
        """
        self._require_open()
        self._open = False
        unspent = self._spend - self._most
        if unspent > 0:
            self._refund(unspent)
        return unspent

    def _enter(self, under: Integers, shares: Shares, label: str, *, free: bool = False) -> Shares:
        """Refuse a question that is not allowed; return what the path of each new cell will have spent.

        A `free` question may spend nothing in some cells: its answer then does not depend on them.
        """
        self._require_open()
        under = under - self._first
        if len(under) and (under.min() < 0 or under.max() >= len(self._asked)):
            msg = f"{label!r} asks below a node that is not in this forest"
            raise InternalError(msg)
        if np.any(self._asked[under]):
            msg = (
                f"{label!r} asks twice below the same node; put both questions in one call, "
                "or ask below the nodes the first one returned"
            )
            raise BudgetExceeded(msg)
        if any(share < 0 or (share == 0 and not free) for share in shares.used()):
            msg = f"{label!r} must spend more than 0 in every cell"
            raise BudgetExceeded(msg)
        total = self._spent[under] + shares
        most = max(total.used(), default=Fraction(0))
        if most > self._spend:
            msg = f"{label!r} would spend {most} along a path that may spend {self._spend}"
            raise BudgetExceeded(msg)
        self._asked[under] = True
        self._most = max(self._most, most)
        return total

    def _replace(self, under: Integers, mass: Floats | None) -> Floats:
        """Replace what was counted at nodes by the counts below them, or hand it on where nothing was counted."""
        parents = under - self._first
        if mass is None:
            mass = self._mass[parents] / np.bincount(parents)[parents, None]
        else:
            distinct = np.zeros(len(self._mass), np.bool_)
            distinct[parents] = True
            self._count(mass.sum(axis=0) - self._mass[distinct].sum(axis=0))
        self._mass[parents] = 0
        return mass

    def _add(self, spent: Shares, mass: Floats) -> Integers:
        start = len(self._asked)
        merged = (*self._spent.table, *spent.table)
        codes = np.concatenate((self._spent.codes, spent.codes + len(self._spent.table)))
        self._spent = Shares(merged, codes).packed()
        self._asked = np.concatenate((self._asked, np.zeros(len(spent), np.bool_)))
        self._mass = np.concatenate((self._mass, mass))
        return np.arange(start, len(self._asked), dtype=np.int64) + self._first

    def _require_open(self) -> None:
        if not self._open:
            msg = "this forest is closed; ask before `close`"
            raise BudgetExceeded(msg)
