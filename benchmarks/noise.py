"""Exact noise against insecure NumPy, discrete Laplace noise also against OpenDP: ratios measured in one run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
from floor import best

from hedgerow.privacy import Arrange, Laplace, Shares
from hedgerow.privacy.arrangement import CellRegions
from hedgerow.privacy.samplers import bits

DRAWS = 1_000_000
ORACLE_DRAWS = 20_000
REGIONS = 100_000
CELLS = 500_000


def main() -> None:
    """Print one line per scale."""
    dp.enable_features("contrib")
    zeros = np.zeros(DRAWS, np.int64)
    rng = np.random.default_rng()
    print(f"{DRAWS:,} draws, best of 5; aim: at most 12 x insecure NumPy")
    for scale in (1, 10, 100, 10**4, 10**6):
        chance = -np.expm1(-1 / scale)
        ours, _ = best(lambda scale=scale: Laplace(l1=scale).draw(zeros, Fraction(1), bits()))
        plain, _ = best(lambda p=chance: rng.geometric(p, DRAWS) - rng.geometric(p, DRAWS))
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        oracle = dp.m.make_laplace(*space, scale=float(scale))
        theirs, _ = best(lambda oracle=oracle: oracle([0] * ORACLE_DRAWS), 3)
        theirs *= DRAWS / ORACLE_DRAWS
        print(
            f"scale {scale:>9,}: {ours * 1e3:6.1f} ms, {ours / plain:5.2f} x numpy "
            f"({plain * 1e3:.1f} ms), OpenDP / ours {theirs / ours:6.1f}"
        )
    arrangements(rng)


def arrangements(rng: np.random.Generator) -> None:
    """Print one line per share: ones placed in regions, against as many uniform cells drawn once and sorted."""
    cells = np.unique(rng.integers(0, REGIONS * CELLS, DRAWS))
    at, positions = np.divmod(cells, CELLS)
    ones = np.bincount(at, minlength=REGIONS)
    for share in (Fraction(1, 2), Fraction(12)):
        regions = CellRegions.of(CELLS, ones, at, positions, REGIONS)
        shares = Shares.spread(share, REGIONS)
        ours, _ = best(lambda regions=regions, shares=shares: Arrange().draw(regions, shares, bits()))
        plain, _ = best(lambda: np.sort(rng.integers(0, REGIONS * CELLS, DRAWS)))
        print(
            f"{DRAWS:,} ones in {REGIONS:,} regions, share {float(share):g}: {ours * 1e3:6.1f} ms, "
            f"{ours / plain:5.2f} x numpy ({plain * 1e3:.1f} ms)"
        )


if __name__ == "__main__":
    main()
