"""Posteriors of cells, by what a release says and a few known rows show: after noise, a rotation or a wavelet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from hedgerow import progress
from hedgerow.kinds.matrices.attackers.cell_posteriors import Bounds, estimate_cells, guess_bounds, spread_rows
from hedgerow.kinds.matrices.attackers.knowledge import Knowledge, fit_rotation
from hedgerow.kinds.matrices.attackers.svd_reconstruction import guess_steps
from hedgerow.numerics.arrays import Floats, Integers

#: rows whose cells are weighed; those of larger releases are a sample
_MOST = 20_000
#: how often a rotation is fitted again to the cells that it gave
_REFITS = 3


class Numbers(NamedTuple):
    """What numbers the original can have: multiples of steps, if any, within bounds."""

    steps: Floats | None
    bounds: Bounds

    @classmethod
    def of_rows(cls, rows: Floats, declared: Bounds | None = None) -> Numbers:
        """Tell them by some rows."""
        return cls(guess_steps(rows), declared or guess_bounds(rows))


def refit_cells(
    released: Floats, rotation: Floats, noise: float, numbers: Numbers, known: Mapping[int, Floats] | None = None
) -> Floats:
    """Undo a rotation that is nearly known, weigh the noise, and fit the rotation again to the cells, in turns.

    Parameters
    ----------
    known
        Original rows that are known, by their positions in the release.
    """
    deviations = np.full(rotation.shape[0], noise)
    for _ in range(_REFITS):
        cells = estimate_cells(released @ rotation.T, deviations, numbers.steps, bounds=numbers.bounds)
        for at, row in (known or {}).items():
            cells[at] = row
        rotation = fit_rotation(cells, released)
    return estimate_cells(released @ rotation.T, deviations, numbers.steps, bounds=numbers.bounds)


def _weigh_release(knowledge: Knowledge, guesses: Mapping[str, Floats]) -> Floats | None:
    """Weigh the noise of the release, whose size it states, against the law of its numbers."""
    if "shrinkage of noise" not in guesses or knowledge.noise is None:
        return None
    return _weigh(knowledge, knowledge.released, knowledge.noise)


def _weigh_inversion(knowledge: Knowledge, guesses: Mapping[str, Floats]) -> Floats | None:
    """Weigh what a wavelet inversion leaves of the distortion, as far as known rows show it."""
    inverted = guesses.get("wavelet inversion")
    if inverted is None:
        return None
    left = np.sqrt(np.mean((inverted[knowledge.known_at] - knowledge.originals) ** 2, axis=0))
    return _weigh(knowledge, inverted, left)


def _weigh_rotation(knowledge: Knowledge, guesses: Mapping[str, Floats]) -> Floats | None:
    """Weigh the noise of a release whose rotation known rows tell, and fit the rotation again to what comes out."""
    beta = knowledge.beta
    if "Procrustes and shrinkage of noise" not in guesses or knowledge.same_columns or not beta:
        return None
    rows = _weighed_rows(knowledge)
    place = {row: at for at, row in enumerate(rows.tolist())}
    known = {
        place[row]: original
        for row, original in zip(knowledge.known_at.tolist(), knowledge.originals, strict=True)
        if row in place
    }
    rotation = fit_rotation(knowledge.originals, knowledge.published)
    return _of_all(knowledge, rows, refit_cells(knowledge.released[rows], rotation, beta, _numbers(knowledge), known))


def _weigh(knowledge: Knowledge, guess: Floats, noise: Floats) -> Floats:
    rows, numbers = _weighed_rows(knowledge), _numbers(knowledge)
    return _of_all(knowledge, rows, estimate_cells(guess[rows], noise, numbers.steps, bounds=numbers.bounds))


def _numbers(knowledge: Knowledge) -> Numbers:
    return Numbers.of_rows(knowledge.originals, knowledge.declared)


def _weighed_rows(knowledge: Knowledge) -> Integers:
    """Choose the rows whose cells are weighed: those that can be judged before all others."""
    rows = len(knowledge.released)
    if rows <= _MOST:
        return np.arange(rows)
    progress.tell(f"posteriors of cells: a sample of {_MOST} of {rows} rows")
    others = np.setdiff1d(np.arange(rows), knowledge.positions)
    judged = knowledge.positions[spread_rows(len(knowledge.positions), _MOST)]
    return np.sort(np.concatenate((judged, others[spread_rows(len(others), _MOST - len(judged))])))


def _of_all(knowledge: Knowledge, rows: Integers, values: Floats) -> Floats:
    """Return guesses of all rows, of which those that were not weighed are not numbers."""
    guess = np.full((len(knowledge.released), values.shape[1]), np.nan)
    guess[rows] = values
    return guess


#: each takes the reconstructions that were made before; None if it does not apply
WEIGHED: dict[str, Callable[[Knowledge, Mapping[str, Floats]], Floats | None]] = {
    "posterior of cells": _weigh_release,
    "Procrustes and posterior of cells": _weigh_rotation,
    "wavelet inversion and posterior of cells": _weigh_inversion,
}
