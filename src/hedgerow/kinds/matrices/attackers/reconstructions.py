"""The attacks that return a reconstruction, by name; each says by None that it does not apply to a release."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.attackers.cell_posteriors import WEIGHED
from hedgerow.kinds.matrices.attackers.knowledge import EQUATIONS, FILTERING, INVERSION, Knowledge
from hedgerow.kinds.matrices.attackers.known_rows import solve_inner_products, undo_rotation
from hedgerow.kinds.matrices.attackers.spectral_filtering import estimate_noise, filter_noise, shrink_noise
from hedgerow.kinds.matrices.attackers.svd_reconstruction import guess_steps, learn_equations, solve_on_grid
from hedgerow.kinds.matrices.attackers.wavelet_inversion import invert, recover_order
from hedgerow.numerics.arrays import Floats, Integers

Reconstruction: TypeAlias = Callable[[Knowledge], Floats | None]
#: rows whose secret order is recovered: all pairs of them are compared; columns whose equations are solved
_MOST_ROWS, _MOST_COLUMNS = 3000, 40
#: steps are powers of ten, which are not exact
_DECIMALS = 9
#: a column without noise is taken to have so much of it, in its standard deviations
_NO_NOISE = 1e-6


def _filter(knowledge: Knowledge) -> Floats | None:
    """Remove noise by truncation."""
    if not _is_noisy(knowledge):
        return None
    units = _noise_units(knowledge)
    if units is None:
        return filter_noise(knowledge.released).values
    return filter_noise(knowledge.released / units, beta=1.0).values * units


def _shrink(knowledge: Knowledge) -> Floats | None:
    """Remove noise by shrinkage."""
    if not _is_noisy(knowledge):
        return None
    units = _noise_units(knowledge)
    if units is None:
        rows, columns = knowledge.released.shape
        beta = estimate_noise(np.linalg.svd(knowledge.released, full_matrices=False)[1], rows, columns)
        return shrink_noise(knowledge.released, beta=beta)
    return shrink_noise(knowledge.released / units, beta=1.0) * units


def _noise_units(knowledge: Knowledge) -> Floats | None:
    """Return units of columns in which the noise of all of them is 1, if the release tells its size."""
    noise = knowledge.noise
    if noise is None or not noise.any():
        return None
    return np.maximum(noise, _NO_NOISE * np.maximum(knowledge.released.std(0), noise.max()))


def _is_noisy(knowledge: Knowledge) -> bool:
    return (
        knowledge.suits(FILTERING) and knowledge.same_columns and knowledge.parameters.get("rotation", "none") == "none"
    )


def _rotate(knowledge: Knowledge) -> Floats | None:
    """Find the rotation by known rows."""
    if knowledge.released.shape[1] > knowledge.truth.shape[1]:
        return None
    return undo_rotation(knowledge.originals, knowledge.published, knowledge.released)


def _rotate_and_shrink(knowledge: Knowledge) -> Floats | None:
    """Find the rotation by known rows, and then remove noise: a rotation leaves its size as it is."""
    turned = _rotate(knowledge)
    beta = knowledge.beta
    if turned is None or not beta or knowledge.released.shape[1] < knowledge.truth.shape[1]:
        return None
    return shrink_noise(turned, beta=beta)


def _solve(knowledge: Knowledge) -> Floats | None:
    """Solve inner products with known rows."""
    if knowledge.released.shape[1] > knowledge.truth.shape[1]:
        return None
    return solve_inner_products(knowledge.originals, knowledge.published, knowledge.released)


def _invert(knowledge: Knowledge) -> Floats | None:
    """Add the threshold of a wavelet back, in the order that rows had or are likely to have had."""
    order = open_order(knowledge)
    if order is None:
        return None
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    known_at, ordered = place[knowledge.known_at], knowledge.released[order]
    level = int(knowledge.parameters.get("level", 0))
    values = ordered.copy()
    for rows, columns, wavelet in _blocks(knowledge):
        inside = (rows.start <= known_at) & (known_at < rows.stop)
        known, originals = known_at[inside] - rows.start, knowledge.originals[inside][:, columns]
        back = invert(ordered[rows, columns], known, originals, wavelets=(wavelet,), level=level)
        values[rows, columns] = back.values
    return values[place]


def _blocks(knowledge: Knowledge) -> list[tuple[slice, slice, str]]:
    """Return the blocks that have a wavelet each, as the release says: the whole matrix, or parts of equal size."""
    along, _, text = str(knowledge.parameters.get("partition", "none")).partition(":")
    wavelets = [name.strip() for name in str(knowledge.parameters.get("wavelet", "haar")).split(",")]
    rows, columns = knowledge.released.shape
    size = columns if along == "columns" else rows
    cuts = [size * part // len(wavelets) for part in range(1, len(wavelets))]
    if text:
        cuts = [int(part) for part in text.split(",") if part.strip().isdecimal()]
    if len(cuts) != len(wavelets) - 1 or any(second <= first for first, second in pairwise([0, *cuts, size])):
        msg = "the release says that it was cut into blocks which cannot be; it was not made by this method"
        raise ParameterError(msg)
    spans = [slice(*ends) for ends in pairwise([0, *cuts, size])]
    if along == "columns":
        return [(slice(0, rows), span, name) for span, name in zip(spans, wavelets, strict=True)]
    return [(span, slice(0, columns), name) for span, name in zip(spans, wavelets, strict=True)]


def open_order(knowledge: Knowledge) -> Integers | None:
    """Return the order of rows in which a wavelet release was made: known, or recovered; None if it was not one."""
    said = knowledge.parameters
    if not knowledge.suits(INVERSION) or not knowledge.same_columns:
        return None
    if said.get("order", "random") == "names":
        return np.arange(len(knowledge.released))
    recoverable = said.get("partition", "none") == "none" and len(knowledge.released) <= _MOST_ROWS
    return recover_order(knowledge.released) if recoverable else None


def _complete(knowledge: Knowledge) -> Floats | None:
    """Solve the equations of a release of low rank, in numbers with as many decimals as the known rows have."""
    steps = guess_steps(knowledge.originals)
    projected = knowledge.suits(EQUATIONS) and knowledge.same_columns
    if steps is None or not projected or len(steps) > _MOST_COLUMNS:
        return None
    known = (knowledge.originals, knowledge.published) if knowledge.parameters.get("normalise") else ()
    equations = learn_equations(knowledge.released, *known)
    if equations is None:
        return None
    spread = np.sqrt(np.mean((knowledge.originals - knowledge.published) ** 2, axis=0))
    return solve_on_grid(knowledge.released, equations, steps, spread).values


def reconstruct_all(knowledge: Knowledge) -> dict[str, Floats]:
    """Return the reconstructions of all attacks that apply; some of large releases are of a sample, the rest NaN."""
    guesses = {name: guess for name, make in RECONSTRUCTIONS.items() if (guess := make(knowledge)) is not None}
    steps = guess_steps(knowledge.originals)
    if steps is not None and knowledge.same_columns:
        candidates = [knowledge.released, *(guess for name, guess in guesses.items() if name not in _FITTED)]
        best = min(candidates, key=lambda guess: float(np.linalg.norm(guess[knowledge.known_at] - knowledge.originals)))
        guesses[_ROUNDED] = (np.rint(best / steps) * steps).round(_DECIMALS)
    weighed = {name: guess for name, make in WEIGHED.items() if (guess := make(knowledge, guesses)) is not None}
    return guesses | weighed


#: in the order of the thesis
RECONSTRUCTIONS: dict[str, Reconstruction] = {
    FILTERING: _filter,
    "shrinkage of noise": _shrink,
    "Procrustes, known rows": _rotate,
    "Procrustes and shrinkage of noise": _rotate_and_shrink,
    "inner products, known rows": _solve,
    INVERSION: _invert,
    EQUATIONS: _complete,
}
#: those that fit the known rows by construction, whatever the others are
_FITTED = {"Procrustes, known rows", "Procrustes and shrinkage of noise", "inner products, known rows"}
_ROUNDED = "rounding to known decimals"
