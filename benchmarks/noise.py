"""Discrete Laplace noise against insecure NumPy and against OpenDP: ratios measured in one run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
from floor import best

from hedgerow.privacy import Laplace
from hedgerow.privacy.samplers import bits

DRAWS = 1_000_000
ORACLE_DRAWS = 20_000


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


if __name__ == "__main__":
    main()
