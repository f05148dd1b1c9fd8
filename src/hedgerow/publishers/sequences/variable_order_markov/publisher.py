"""Sequences from a Markov chain of variable order, with private lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data import Sequences
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.noise_limits import require_little_noise
from hedgerow.publishers.sequences.variable_order_markov.estimation import estimate_rows
from hedgerow.publishers.sequences.variable_order_markov.exploration import explore
from hedgerow.publishers.sequences.variable_order_markov.lengths import ask_lengths, items_by_noise
from hedgerow.publishers.sequences.variable_order_markov.plan import make_plan
from hedgerow.publishers.sequences.variable_order_markov.tokens import Tokens
from hedgerow.publishers.sequences.variable_order_markov.writing import write_sequences

__all__ = ["VariableOrderMarkov"]

#: the start, one item and the rest have a row at least
_LEAST_ROWS = 3


@dataclass(frozen=True, kw_only=True)
class VariableOrderMarkov(Publisher[Sequences]):
    r"""Publish sequences by a Markov chain whose order is as high as the noise allows, with their lengths.

    A noisy histogram of lengths says how many sequences end where. Then it is asked what follows each item, and, where
    counts are large enough, what follows longer contexts. Noisy counts become posterior means under a prior that is
    fitted to all of them (empirical Bayes). At most `tokens` items of a sequence are counted, spread over the whole of
    it; how many is chosen from the noisy lengths. The method is our own; contexts that grow where it pays are those of
    prediction suffix trees [1]_, [2]_.

    Privacy
    -------
    lengths: a sequence is in one bin (L1 = 1); a tenth of the budget.
    items, followers: which tokens of a sequence are counted, at most $L$, is a public function of the sequence and of
    its number among equal sequences, so one sequence more adds the tokens of one copy and changes no other. A token is
    in one cell (context and symbol) of each level, and follows one path. Along a path, single items spend a quarter of
    nine tenths of the budget if they are asked for, an opened context half of what is left, any other all of it. $L$,
    contexts and shares depend on noisy answers and public numbers only, and so does what is written.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> clicks = [["home", "search", "shop"]] * 4000 + [["home"]] * 2000
    >>> data = Sequences.from_records(clicks, domain=domain)
    >>> release = VariableOrderMarkov().publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 200]
    [(('home',), 2000), (('home', 'search', 'shop'), 4000)]

    References
    ----------
    .. [1] D. Ron, Y. Singer, N. Tishby. "The power of amnesia: learning probabilistic automata with variable memory
       length". Machine Learning 25, 1996.
    .. [2] J. Zhang, X. Xiao, X. Xie. "PrivTree: a differentially private algorithm for hierarchical decompositions".
       SIGMOD 2016.
    """

    name: ClassVar[str] = "variable-order-markov"
    kinds: ClassVar = (Sequences,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")
    recommended: ClassVar[str] = "sequences of items, from about 1,000 / epsilon on"
    #: equal sequences are numbered
    reads_all_records: ClassVar[bool] = True

    longest: int = param(128, "longest sequences that are published; longer ones count as so long", ge=1, le=10_000)
    tokens: int = param(
        0, "how many items of a sequence are counted, its end included; 0: chosen from noisy lengths", ge=0, le=1_000
    )
    order: int = param(4, "length of the longest contexts", ge=1, le=10)
    cells: int = param(4_000_000, "most counts that are asked for, contexts times symbols", ge=1)

    def run(self, data: Sequences, ledger: Ledger) -> Sequences:
        """Ask for lengths, build the context tree, estimate its rows, and write sequences."""
        symbols = data.domain.size("item") + 1
        self._require_reason(symbols, float(ledger.budget))
        lengths = ask_lengths(data, ledger, self.longest)
        plan = make_plan(lengths, symbols, ledger.left, tokens=self.tokens, order=self.order, cells=self.cells)
        coins = ledger.coins()
        tree = explore(Tokens.of(data, plan.tokens), ledger, plan, coins)
        estimates = estimate_rows(tree, plan, coins)
        ledger.note("counted tokens per sequence", plan.tokens)
        ledger.note("contexts", len(tree) - 1)
        row, item, counts = write_sequences(tree, estimates.follow, lengths, coins)
        return Sequences.from_columns(row=row, item=item, domain=data.domain, counts=counts)

    def _require_reason(self, symbols: int, epsilon: float) -> None:
        """Refuse what cannot work, by public numbers only."""
        if _LEAST_ROWS * symbols > self.cells:
            msg = f"cells must be at least {_LEAST_ROWS * symbols:,} for {symbols - 1:,} items; got {self.cells:,}"
            raise ParameterError(msg)
        noise = items_by_noise(self.longest, epsilon)
        require_little_noise(noise, "items", "take a larger epsilon or a smaller longest")
