"""Shrinkage: noisy counts moved towards a model, or a prior, by as much as noise explains their difference.

A table is shrunk as a whole where one model has one error (`shrink_table`), and cell by cell where large cells are
easily told from noise and small ones are not (`shrink_cells`, `shrink_by_size`). Without a model, counts have a prior
that is estimated from all of them (`fit_prior`), as in empirical Bayes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.proportional_fitting import ratio
from hedgerow.numerics.rounding import on_grid

#: standard deviations by which a sum of squares must exceed its expectation under noise alone to be significant:
#: noise alone does so in one of 50 runs (two cells) to one of 250 (a thousand cells)
_SIGNIFICANT = 3.0
#: the variance of the square of Laplace noise, in squares of the variance of the noise
_SQUARES = 5.0
#: the smallest and largest class of sizes of cells, in powers of two of the scale of the noise
_SIZES = 12


def differs_from_model(noisy: Floats, model: Floats, scale: float) -> bool:
    """Whether noisy counts differ from a model significantly more than Laplace noise of a scale does.

    Examples
    --------
    >>> differs_from_model(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), scale=1)
    True
    >>> differs_from_model(np.array([21.0, 19, 20, 20]), np.full(4, 20.0), scale=1)
    False
    """
    variance = 2 * scale**2
    most = noisy.size + _SIGNIFICANT * np.sqrt(_SQUARES * noisy.size)
    return bool(np.sum((noisy - model) ** 2) > most * variance)


def shrink_table(noisy: Floats, model: Floats, scale: float) -> Floats:
    """Shrink noisy counts towards a model; no result is below 0.

    The excess of the squared differences over the variance of the noise estimates the error of the model, relative
    to its size. A cell moves from the model towards the noisy count by the ratio of this error to the sum of error and
    noise; not at all if the whole table does not differ significantly.

    Examples
    --------
    >>> shrink_table(np.array([6.0, 4, 5, 5]), np.full(4, 5.0), scale=2).tolist()
    [5.0, 5.0, 5.0, 5.0]
    >>> shrink_table(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), scale=1).round(1).tolist()
    [29.6, 10.4, 20.0, 20.0]
    """
    if not np.any(model) or not differs_from_model(noisy, model, scale):
        return model
    error = _model_error(noisy, model, scale, np.zeros(noisy.shape, np.int64))
    return np.maximum(0.0, model + (noisy - model) * error / (error + 2 * scale**2))


class Shrunk(NamedTuple):
    """Shrunk answers; `known` marks the cells that differ so much from the model that they are taken as answered."""

    values: Floats
    known: Flags


def shrink_cells(noisy: Floats, model: Floats, scale: float, classes: Integers | None = None) -> Shrunk:
    """Shrink noisy counts towards a model, as `shrink_table` does, but keep the cells that are clear of the noise.

    A cell that differs from the model by more than noise does in a whole class is taken as answered. With `classes`,
    every class of cells has an error of the model of its own.

    Examples
    --------
    >>> shrink_cells(np.array([6.0, 4, 5, 5]), np.full(4, 5.0), 2).values.tolist()
    [5.0, 5.0, 5.0, 5.0]
    >>> shrink_cells(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), 1).known.tolist()
    [True, True, False, False]
    """
    classes = np.zeros(noisy.shape, np.int64) if classes is None else classes
    number, off = np.bincount(classes.ravel()), noisy - model
    error = _model_error(noisy, model, scale, classes)
    known = np.abs(off) > scale * (np.log(np.maximum(number, 2)) + 1)[classes]
    values = np.where(known, noisy, model + off * error / (error + 2 * scale**2))
    return Shrunk(np.maximum(0.0, values), known)


def shrink_by_size(noisy: Floats, model: Floats, scale: float) -> Shrunk:
    """Shrink noisy counts towards a model, cells of different sizes separately: see `shrink_cells`.

    Large cells need little to be believed, the many small ones a lot.

    Examples
    --------
    >>> shrink_by_size(np.array([30.0, 10, 20, 20, 1]), np.array([20.0, 20, 20, 20, 0.5]), 1).values.tolist()
    [30.0, 10.0, 20.0, 20.0, 0.5]
    """
    power = np.frexp(on_grid(np.maximum(model / scale, 2.0**-_SIZES)))[1] - 1
    return shrink_cells(noisy, model, scale, np.clip(power, -_SIZES, _SIZES).astype(np.int64) + _SIZES)


def _model_error(noisy: Floats, model: Floats, scale: float, classes: Integers) -> Floats:
    """The squared error of each cell of a model: what noise does not explain, in proportion to squared sizes."""
    flat, off = classes.ravel(), noisy - model
    number = np.bincount(flat)
    excess = np.bincount(flat, (off**2).ravel()) - number * (2 * scale**2)
    largest = np.zeros(len(number))
    np.maximum.at(largest, flat, model.ravel())
    # relative to the largest cell of its class, so that squares of tiny numbers do not vanish
    relative = ratio(model, largest[classes]) ** 2
    squares = np.bincount(flat, relative.ravel())
    return np.maximum(0.0, ratio(excess, squares))[classes] * relative


def fit_prior(likelihood: Floats, guess: Floats, *, pseudo: Floats | float, rounds: int) -> Floats:
    """Estimate how hidden values are distributed over a grid, by expectation maximization.

    Parameters
    ----------
    likelihood
        How likely each observation is (a row each) if its hidden value is a point of the grid (a column each).
    guess
        The distribution to start with.
    pseudo
        Observations of each point that are added in every round: they keep it possible.

    Examples
    --------
    >>> likelihood = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    >>> fit_prior(likelihood, np.array([0.5, 0.5]), pseudo=0.0, rounds=60).round(4).tolist()
    [0.8125, 0.1875]
    """
    prior = guess
    for _ in range(rounds):
        prior = prior * ((1 / (likelihood @ prior)) @ likelihood) + pseudo
        prior = prior / prior.sum()
    return prior
