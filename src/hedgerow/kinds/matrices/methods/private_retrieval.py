"""Private retrieval: vectors with noise on every coordinate, for inner products."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.retrieval.noise_laws import laplace_variance
from hedgerow.kinds.matrices.retrieval.vectors import RESPONSE
from hedgerow.privacy import Flip, Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher, param

#: over how many entries sums are measured
_KEYWORDS = 20


@dataclass(frozen=True, kw_only=True)
class PrivateRetrieval(Publisher[Matrix]):
    r"""Publish a vector, or a query for its inner products, with unbiased noise on every coordinate.

    Of a column $x$ in the order of its rows, $\tilde x = x + e$ is published, beyond the declared bounds where the
    noise leads: moved into them it would be biased. Whoever holds the data publishes $\tilde x$, whoever asks publishes
    $\tilde y$, each under a promise of its own, and $\tilde x \cdot \tilde y$ estimates $x \cdot y$ [1]_. Better
    estimates from the same releases, and their error, are in `hedgerow.kinds.matrices.answers` and `hedgerow answer`;
    where $\tilde x$ can be downloaded, $\tilde x \cdot y$ needs no release of the query at all.

    Each column is a vector. A query under unit `cell` hides *one coordinate*. Two queries that differ in $m$
    coordinates are told apart with $m \varepsilon$, so that hiding which $k$ keywords are asked for takes
    $\varepsilon_{query} / (2 k)$; this is not private information retrieval. Publish a query once and keep the folder:
    noise that is drawn again for the same query averages out, and costs $\varepsilon$ again, as another query does.

    Privacy
    -------
    noisy vectors: columns in parallel, since a cell is in one column; each coordinate is asked once, with the whole
    budget. Unit `cell`: L1 is the number of steps between the declared bounds, since one coordinate changes by at most
    that: 1 for bits, and twice the largest size for numbers of both signs. Unit `count`: L1 = 1, since one count
    changes by one step, as when a person is added to a histogram; a person who moves from one count to another changes
    two. Randomised response: one bit per cell. The number of rows, their order and the bounds are public.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> visits = Matrix.from_rows([[167], [182], [143], [135], [151], [109]], domain=Domain.declare(visits=range(1001)))
    >>> release = PrivateRetrieval().publish(visits, PureDP(epsilon=1, unit="count"), seed=7)
    >>> release.data.values[:, 0].tolist()
    [167.0, 183.0, 142.0, 136.0, 150.0, 109.0]

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 9.
    .. [2] S. L. Warner. "Randomized response: a survey technique for eliminating evasive answer bias". JASA 60, 1965.
    """

    name: ClassVar[str] = "private-retrieval"
    kinds: ClassVar = ("matrices",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("count", "cell")
    recommended: ClassVar[str] = "vectors of counts, of which sums and inner products over any few entries are asked"

    mode: str = param(
        "laplace",
        "laplace: noise is added to every number; randomised-response: bits are flipped by chance, for queries of bits",
        choices=("laplace", RESPONSE),
    )

    @property
    def workload(self) -> Mapping[str, int]:
        """Sums over a few entries; of bits, whether they were flipped by chance."""
        return {"keywords": _KEYWORDS, "flipped": int(self.mode == RESPONSE)}

    def run(self, data: Matrix, ledger: Ledger) -> Matrix:
        """Ask for every coordinate of every column."""
        self._require_bits(data)
        noisy = np.zeros(data.values.shape, np.int64)
        columns = range(len(data.columns) if len(data) else 0)
        # a coordinate of a query is nearly always below its noise, and its inner products need not be
        only_in_sums = ledger.promised(PureDP).unit == "cell"
        for number, part in ledger.each(columns, spend=ledger.budget, label="noisy vectors"):
            exact = data.column_in_order(number)
            mechanism = self._mechanism(data.bounds[number].steps, part)
            noisy[:, number] = part.ask(
                exact, mechanism, spend=part.budget, label="noisy vectors", only_in_sums=only_in_sums
            )
        return data.on_lattice(noisy, None if data.ids is None else np.sort(data.ids))

    def _mechanism(self, steps: int, ledger: Ledger) -> Laplace | Flip:
        if self.mode == RESPONSE:
            return Flip()
        if ledger.promised(PureDP).unit == "count":
            deviation = math.sqrt(laplace_variance(float(ledger.budget)))
            ledger.note(
                "standard deviation of the noise, also beyond the bounds, in thousandths of a step",
                math.ceil(1000 * deviation),
            )
            return Laplace(l1=1)
        deviation = math.sqrt(laplace_variance(float(ledger.budget / steps))) / steps
        ledger.note(
            "standard deviation of the noise, also beyond the bounds, in thousandths of high - low",
            math.ceil(1000 * deviation),
        )
        return Laplace(l1=steps)

    def _require_bits(self, data: Matrix) -> None:
        for name, axis in zip(data.columns, data.bounds, strict=True):
            if self.mode == RESPONSE and axis.steps > 1:
                msg = (
                    f"mode {RESPONSE} publishes bits, and column {name!r} has {axis.steps + 1:,} possible numbers; "
                    "declare its low and high with one step between them, or take mode=laplace"
                )
                raise ParameterError(msg)
