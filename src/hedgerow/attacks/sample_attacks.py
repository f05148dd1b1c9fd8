"""Attacks on a rotated release by somebody who knows nobody in it, but has a sample of other people's rows.

The owner has one set of people. It is cut in two by chance: the rows of one half are released, and the original rows of
the other half, of whom the release says nothing, are the sample. A rotation turns every row alike, so that half of a
release is what would have been released of half of the people.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.attacks.cell_posteriors import spread_rows
from hedgerow.attacks.knowledge import Knowledge
from hedgerow.attacks.other_people import align_axes, match_clouds
from hedgerow.attacks.rotated_lattice import find_axes, name_columns
from hedgerow.attacks.weighed_cells import Numbers, refit_cells

__all__ = ["Strangers", "meet_strangers", "reconstruct_strangers"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

#: fewer rows per column tell no covariances; more columns than these have too many turns, or too large a lattice
_LEAST_ROWS, _MOST_TURNED, _MOST_LATTICE = 4, 40, 16
#: rows of a release that are turned back: more tell no more
_MOST_ROWS = 20_000
#: rows that tell how many decimals a column has: a rare number with more of them must not decide
_TELL = 2
#: steps are powers of ten, which are not exact
_DECIMALS = 9


class Strangers(NamedTuple):
    """The rows of a release, the sample of others, and the noise; beside it which rows the judge compares."""

    released: Floats
    sample: Floats
    noise: float
    numbers: Numbers
    rows: Integers


def meet_strangers(knowledge: Knowledge, rng: np.random.Generator) -> Strangers | None:
    """Cut the people in two; None if the release is not rotated, or has too few rows or columns for these attacks."""
    columns = knowledge.truth.shape[1]
    if knowledge.same_columns or knowledge.released.shape[1] != columns or not 1 < columns <= _MOST_TURNED:
        return None
    order = rng.permutation(len(knowledge.truth))
    rows, others = order[: len(order) // 2][:_MOST_ROWS], order[len(order) // 2 :]
    if len(rows) < _LEAST_ROWS * columns:
        return None
    noise = 0.0 if knowledge.noise is None else float(np.sqrt(np.mean(knowledge.noise**2)))
    sample = knowledge.truth[others]
    few = sample[spread_rows(len(sample), _TELL * columns)]
    numbers = Numbers.of_rows(few, knowledge.declared)
    return Strangers(knowledge.released[knowledge.positions[rows]], sample, noise, numbers, rows)


def reconstruct_strangers(strangers: Strangers) -> dict[str, Floats]:
    """Return the reconstructions of all attacks by a sample of others."""
    released, sample = strangers.released, strangers.sample
    axes = align_axes(sample, released)
    rotation = match_clouds(sample, released, axes, noise=strangers.noise)
    guesses = {
        "covariance axes, sample of others": released @ axes.T,
        "closest points, sample of others": released @ rotation.T,
    }
    if strangers.noise:
        weighed = refit_cells(released, rotation, strangers.noise, strangers.numbers)
        return guesses | {"closest points and posterior of cells, sample of others": weighed}
    whole = _solve_lattice(strangers)
    return guesses if whole is None else guesses | {"lattice of a rotation, sample of others": whole}


def _solve_lattice(strangers: Strangers) -> Floats | None:
    """Find the turned axes by the steps of the columns, and name them by the sample."""
    steps = strangers.numbers.steps
    if steps is None or len(steps) > _MOST_LATTICE:
        return None
    axes = find_axes(strangers.released, steps)
    if axes is None:
        return None
    coordinates = strangers.released @ axes.T
    names, signs = name_columns(coordinates, strangers.sample)
    guess = np.empty_like(coordinates)
    guess[:, names] = coordinates * signs
    return (np.rint(guess / steps) * steps).round(_DECIMALS)
