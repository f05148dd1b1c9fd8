r"""Posterior of cells: noise whose law is public is weighed against what the release itself tells about each cell.

The attacker has the release $\tilde A = A + E$, the standard deviation of the noise, which the release states, and the
number of decimals of each column, which a few known rows show, and its bounds where they are public. Nothing else is
known of the rows that are attacked. The law of the numbers of a column, given the other columns, is deconvolved from
the release; with it every cell has a posterior over the multiples of its step, and the guess is its median. Success is
the exact number: noise of the size of a step does not hide whole numbers.

The same is done after a rotation was undone by known rows, or a wavelet inverted: what is left is weighed as noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from hedgerow import progress
from hedgerow.kinds.matrices.attackers.knowledge import INVERSION, Bounds, Knowledge, guess_bounds
from hedgerow.kinds.matrices.attackers.known_rows import fit_rotation
from hedgerow.kinds.matrices.attackers.svd_reconstruction import guess_steps
from hedgerow.numerics.arrays import Floats, Integers

#: rows whose cells are weighed; those of larger releases are a sample
_MOST_WEIGHED = 20_000
#: how often a rotation is fitted again to the cells that it gave
_REFITS = 3
#: points of the grid of a column: a wider one has so little noise for its range that a normal law is as good
_MOST_POINTS = 1024
#: points per standard deviation, where steps are finer; and how many deviations of a column its grid reaches
_FINE, _REACH = 3.0, 12.0
#: rows that laws are fitted to, and rows whose posteriors are computed at a time
_FITTED, _BLOCK = 1000, 2048
#: classes of rows of the second kind of prediction: more fit the noise
_CLASSES = 2
_ROUNDS = 30
#: what every value counts beside what is seen of it: rows, in the law of a column and in that of a class
_PRIOR = 0.5
_HALF = 0.5
_TINY = 1e-300
#: how far a bound may be from a multiple of a step
_ROUNDING = 1e-6
#: a direction without signal is taken to have so much of it, relative to the largest
_NO_SIGNAL = 1e-12


def _weigh_release(knowledge: Knowledge, guesses: Mapping[str, Floats]) -> Floats | None:
    """Weigh the noise of the release, whose size it states, against the law of its numbers."""
    if "shrinkage of noise" not in guesses or knowledge.noise is None:
        return None
    return _weigh_cells(knowledge, knowledge.released, knowledge.noise)


def _weigh_inversion(knowledge: Knowledge, guesses: Mapping[str, Floats]) -> Floats | None:
    """Weigh what a wavelet inversion leaves of the distortion, as far as known rows show it."""
    inverted = guesses.get(INVERSION)
    if inverted is None:
        return None
    left = np.sqrt(np.mean((inverted[knowledge.known_at] - knowledge.originals) ** 2, axis=0))
    return _weigh_cells(knowledge, inverted, left)


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
    return _fill_rows(
        knowledge, rows, refit_cells(knowledge.released[rows], rotation, beta, _numbers(knowledge), known)
    )


#: each takes the reconstructions that were made before; None if it does not apply
WEIGHED: dict[str, Callable[[Knowledge, Mapping[str, Floats]], Floats | None]] = {
    "posterior of cells": _weigh_release,
    "Procrustes and posterior of cells": _weigh_rotation,
    "wavelet inversion and posterior of cells": _weigh_inversion,
}


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


def _weigh_cells(knowledge: Knowledge, guess: Floats, noise: Floats) -> Floats:
    rows, numbers = _weighed_rows(knowledge), _numbers(knowledge)
    return _fill_rows(knowledge, rows, estimate_cells(guess[rows], noise, numbers.steps, bounds=numbers.bounds))


def _numbers(knowledge: Knowledge) -> Numbers:
    return Numbers.of_rows(knowledge.originals, knowledge.declared)


def _weighed_rows(knowledge: Knowledge) -> Integers:
    """Choose the rows whose cells are weighed: those that can be judged before all others."""
    rows = len(knowledge.released)
    if rows <= _MOST_WEIGHED:
        return np.arange(rows)
    progress.tell(f"posteriors of cells: a sample of {_MOST_WEIGHED} of {rows} rows")
    others = np.setdiff1d(np.arange(rows), knowledge.positions)
    judged = knowledge.positions[spread_rows(len(knowledge.positions), _MOST_WEIGHED)]
    return np.sort(np.concatenate((judged, others[spread_rows(len(others), _MOST_WEIGHED - len(judged))])))


def _fill_rows(knowledge: Knowledge, rows: Integers, values: Floats) -> Floats:
    """Return guesses of all rows, of which those that were not weighed are not numbers."""
    guess = np.full((len(knowledge.released), values.shape[1]), np.nan)
    guess[rows] = values
    return guess


def spread_rows(rows: int, most: int) -> Integers:
    """Return at most so many positions, evenly spread over all rows.

    Examples
    --------
    >>> spread_rows(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.int64))


# The median of the posterior of each cell: a linear prediction, and latent classes of rows, against the noise.


class Linear(NamedTuple):
    """The best linear prediction of cells by the other cells of their rows: mean, precision, variance of the rest."""

    mean: Floats
    precision: Floats
    variance: Floats
    noise: Floats

    def predict(self, rows: Floats) -> Floats:
        """Predict each cell from the others of its row."""
        return rows - (rows - self.mean) @ self.precision * self.variance

    def estimate(self, rows: Floats) -> Floats:
        """Return the posterior mean, if everything is normal."""
        return rows - (rows - self.mean) @ self.precision * self.noise**2


class Classes(NamedTuple):
    """Latent classes within which columns are independent: shares, and the law of each column in each class."""

    shares: Floats
    laws: tuple[Floats, ...]


class Column(NamedTuple):
    """How values of a column are predicted: its grid, how its law differs from the normal one, and what to trust."""

    grid: Floats
    ratio: Floats
    weights: Floats


def estimate_cells(
    released: Floats,
    noise: Floats,
    steps: Floats | None,
    *,
    bounds: Bounds | None = None,
) -> Floats:
    """Guess every cell by the median of its posterior; numbers are multiples of their steps, if there are any.

    Parameters
    ----------
    noise
        The standard deviation of the noise of each column; a column without noise is left as it is.
    bounds
        Bounds that are public; none if None.

    Examples
    --------
    >>> rows = np.arange(400)[:, None]
    >>> whole = np.repeat(np.where(rows % 5 < 3, 1.0, 6.0), 4, axis=1)
    >>> noisy = whole + 2.8 * np.sin(rows * [10.0, 23, 37, 51])
    >>> guess = estimate_cells(noisy, np.full(4, 2.0), np.ones(4))
    >>> [round(float((np.rint(each) == whole).mean()), 1) for each in (noisy, guess)]
    [0.1, 1.0]
    """
    guess = released.copy()
    noisy = np.flatnonzero((noise > 0) & (np.ptp(released, axis=0) > 0))
    if not len(noisy) or len(released) <= len(noisy):
        return guess
    sample = released[spread_rows(len(released), _FITTED)][:, noisy]
    linear = _fit_linear(sample, noise[noisy])
    guess[:, noisy] = linear.estimate(released[:, noisy])
    within = Bounds(*(each[noisy] for each in bounds or _unbounded(len(noise))))
    grids = _make_grids(sample, linear, None if steps is None else steps[noisy], within)
    if any(map(len, grids)):
        model = _fit_classes(_likelihoods(sample, grids, linear.noise))
        columns = _fit_columns(sample, grids, linear, model)
        for start in range(0, len(released), _BLOCK):
            rows = slice(start, start + _BLOCK)
            for number, values in _medians(released[rows][:, noisy], linear, model, columns).items():
                guess[rows, noisy[number]] = values
    return guess if steps is None else np.where(noise > 0, np.rint(guess / steps) * steps, guess)


def _unbounded(columns: int) -> Bounds:
    return Bounds(np.full(columns, -np.inf), np.full(columns, np.inf))


def _fit_linear(sample: Floats, noise: Floats) -> Linear:
    """Take mean and covariance of the release, of which the noise explains its part."""
    covariance = np.cov(sample.T).reshape(len(noise), len(noise))
    # in units of the noise, the covariance of what was published is at least 1 in every direction
    squares, vectors = np.linalg.eigh(covariance / np.outer(noise, noise))
    squares = 1.0 + np.maximum(squares - 1.0, _NO_SIGNAL * squares.max())
    precision = (vectors / squares) @ vectors.T / np.outer(noise, noise)
    return Linear(sample.mean(0), precision, 1.0 / np.diag(precision), noise)


def _make_grids(sample: Floats, linear: Linear, steps: Floats | None, bounds: Bounds) -> list[Floats]:
    """Return the values that each column can have: multiples of its step, or of more; none if they are too many."""
    grids: list[Floats] = []
    for number, column in enumerate(sample.T):
        noise = float(linear.noise[number])
        signal = float(np.sqrt(max(linear.variance[number] - noise**2, 0.0)))
        spread = float(np.sqrt(max(column.var() - noise**2, 0.0)))
        step = 0.0 if steps is None else float(steps[number])
        unit = min(noise, signal) / _FINE
        unit = step * max(1, math.floor(unit / step)) if step else unit
        middle = float(column.mean())
        low = max(float(column.min()), middle - _REACH * spread, float(bounds.low[number]))
        high = min(float(column.max()), middle + _REACH * spread, float(bounds.high[number]))
        grids.append(_multiples(low, high, unit) if unit else np.empty(0))
    return grids


def _multiples(low: float, high: float, unit: float) -> Floats:
    """Return the multiples of a unit from a bound to the other; none if there is one only, or if they are too many."""
    if not 0 < (high - low) / unit <= _MOST_POINTS:
        return np.empty(0)
    return unit * np.array(range(math.floor(low / unit + _ROUNDING), math.ceil(high / unit - _ROUNDING) + 1), float)


def _likelihoods(rows: Floats, grids: list[Floats], noise: Floats) -> list[Floats]:
    """Return how likely each published cell is for each value of its column."""
    return [
        np.exp(-0.5 * ((rows[:, number, None] - grid) / noise[number]) ** 2)
        for number, grid in enumerate(grids)
        if len(grid)
    ]


def _fit_classes(likelihoods: list[Floats]) -> Classes:
    """Fit latent classes by expectation and maximisation; they start as equal parts along the first component."""
    means = np.empty((len(likelihoods[0]), len(likelihoods)))
    for number, each in enumerate(likelihoods):
        means[:, number] = each @ np.arange(each.shape[1]) / (each.sum(1) + _TINY)
    centred = (means - means.mean(0)) / (means.std(0) + _TINY)
    along = centred @ np.linalg.eigh(centred.T @ centred)[1][:, -1]
    part = np.argsort(np.argsort(along)) * _CLASSES // len(along)
    belongs = 0.8 * np.eye(_CLASSES)[part] + 0.2 / _CLASSES
    laws = tuple(_normalise(belongs.T @ _normalise(each) + _TINY) for each in likelihoods)
    model = Classes(belongs.mean(0), laws)
    for _ in range(_ROUNDS):
        evidence = _evidence(model, likelihoods)
        belongs = _belongs(model, evidence)
        laws = tuple(
            _normalise((law * ((belongs / seen).T @ each)) + _PRIOR / each.shape[1])
            for law, each, seen in zip(model.laws, likelihoods, evidence, strict=True)
        )
        model = Classes(belongs.mean(0), laws)
    return model


def _evidence(model: Classes, likelihoods: list[Floats]) -> list[Floats]:
    """Return how likely each published cell is in each class."""
    return [each @ law.T + _TINY for each, law in zip(likelihoods, model.laws, strict=True)]


def _belongs(model: Classes, evidence: list[Floats], without: int | None = None) -> Floats:
    """Return the probability of each class for each row, by all cells or without those of one column."""
    logs = np.log(model.shares + _TINY) + sum(
        (np.log(seen) for number, seen in enumerate(evidence) if number != without), np.zeros_like(evidence[0])
    )
    return _normalise(np.exp(logs - logs.max(1, keepdims=True)))


def _fit_columns(sample: Floats, grids: list[Floats], linear: Linear, model: Classes) -> dict[int, Column]:
    """Fit the law of each column beside its predictions, and how much each kind of prediction is worth."""
    columns: dict[int, Column] = {}
    likelihoods = _likelihoods(sample, grids, linear.noise)
    evidence = _evidence(model, likelihoods)
    centres = linear.predict(sample)
    gridded = [number for number, grid in enumerate(grids) if len(grid)]
    for at, number in enumerate(gridded):
        grid, likelihood = grids[number], likelihoods[at]
        normal = _normal_law(centres[:, number], grid, linear, number)
        ratio = _fit_ratio(normal, likelihood)
        laws = [_normalise(normal * ratio), _belongs(model, evidence, at) @ model.laws[at]]
        columns[number] = Column(grid, ratio, _weigh_laws(laws, likelihood))
    return columns


def _normal_law(centres: Floats, grid: Floats, linear: Linear, number: int) -> Floats:
    """Return the normal law of cells around what is predicted of them."""
    unit = grid[1] - grid[0] if len(grid) > 1 else 1.0
    variance = max(float(linear.variance[number] - linear.noise[number] ** 2), 0.0) + unit**2 / 12
    off = (grid - centres[:, None]) ** 2
    return _normalise(np.exp(-0.5 * (off - off.min(1, keepdims=True)) / variance))


def _fit_ratio(normal: Floats, likelihood: Floats) -> Floats:
    """Find by which factor each value is more common than the normal laws say, by iterative scaling."""
    ratio = np.ones(normal.shape[1])
    for _ in range(_ROUNDS):
        law = _normalise(normal * ratio)
        ratio = ratio * (_normalise(law * likelihood).sum(0) + _PRIOR) / (law.sum(0) + _PRIOR)
    return ratio


def _weigh_laws(laws: list[Floats], likelihood: Floats) -> Floats:
    """Find how much each of several laws is worth, by how likely they make what was published."""
    seen = np.column_stack([(law * likelihood).sum(1) for law in laws]) + _TINY
    weights = np.full(len(laws), 1.0 / len(laws))
    for _ in range(_ROUNDS):
        weights = _normalise(seen * weights).mean(0)
    return weights


def _medians(rows: Floats, linear: Linear, model: Classes, columns: dict[int, Column]) -> dict[int, Floats]:
    """Return the median of the posterior of each cell of the columns that have a grid."""
    grids = [columns[number].grid if number in columns else np.empty(0) for number in range(rows.shape[1])]
    likelihoods = _likelihoods(rows, grids, linear.noise)
    evidence = _evidence(model, likelihoods)
    centres = linear.predict(rows)
    medians: dict[int, Floats] = {}
    for at, (number, column) in enumerate(columns.items()):
        normal = _normal_law(centres[:, number], column.grid, linear, number)
        by_class = _belongs(model, evidence, at) @ model.laws[at]
        law = column.weights[0] * _normalise(normal * column.ratio) + column.weights[1] * by_class
        below = np.cumsum(_normalise(law * likelihoods[at]), axis=1)
        medians[number] = column.grid[np.minimum((below < _HALF).sum(1), len(column.grid) - 1)]
    return medians


def _normalise(weights: Floats) -> Floats:
    """Scale rows to a sum of 1."""
    return weights / (weights.sum(1, keepdims=True) + _TINY)
