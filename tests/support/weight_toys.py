"""A method that publishes weighted and directed networks, to write and read releases with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hedgerow import Graph
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.publisher import Publisher


@dataclass(frozen=True, kw_only=True)
class HalfWeights(Publisher[Graph]):
    """Publish half of every weight, or the bare edges.

    Privacy
    -------
    None.

    Examples
    --------
    >>> HalfWeights().name
    'toy-half-weights'

    References
    ----------
    .. [1] None: a toy.
    """

    name: ClassVar[str] = "toy-half-weights"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    uses: ClassVar = ("weights", "directions", "paths")

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Halve all weights: a power of two changes no digit of them."""
        if data.paths is not None:
            ledger.disclose("pairs that are listed", len(data.paths.listed))
            ledger.disclose("vertices between which paths stay", len(data.paths.between))
        return data.without_weights() if data.weights is None else data.weighted(data.weights / 2)
