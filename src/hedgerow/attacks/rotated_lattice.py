r"""The lattice of a rotation: whole numbers tell a rotation without noise by themselves.

The attacker has a release $\tilde A = A R$ and knows the steps of the columns: scores are whole numbers, heights are in
centimetres. Sums and differences of rows of $A$ are multiples of the steps, so that those of the release form a turned
lattice, whose shortest vectors are the steps along the turned axes. Lattice reduction finds them: the rotation is known
but for the names and signs of columns, and those are told by a sample of *other* people, of whom nobody is in the
release. Success is the original itself.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.attacks.cell_posteriors import spread_rows
from hedgerow.attacks.lattice_reduction import reduce_lattice

__all__ = ["find_axes", "name_columns"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

#: rows per column that are combined, and how many combinations of them are expected to be needed at most
_ROWS, _SCALE = 3, 100.0
#: other rows are tried if some do not show all axes
_TRIALS = 3
#: how far the length of a vector may be from a step, and two vectors from a right angle
_NEAR = 0.02
#: bins of the histograms by which columns are told apart; correlations beyond this are as good as 1
_BINS, _CERTAIN = 16, 0.999
#: rounds in which names of two columns are exchanged
_EXCHANGES = 20


def find_axes(released: Floats, steps: Floats) -> Floats | None:
    """Return the turned axes, one per row, in no order and with any signs; None if they are not found.

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> axes = find_axes(np.arange(40)[:, None] * [3, 5] % [7, 9] @ turn, np.ones(2))
    >>> sorted(np.abs(axes @ turn.T).round(6).tolist())
    [[0.0, 1.0], [1.0, 0.0]]
    """
    columns = len(steps)
    distinct = np.unique(released, axis=0)
    if len(distinct) < columns + _TRIALS:
        return None
    # rows far apart in a sorted list differ in many ways
    for start in range(_TRIALS):
        rows = distinct[start:][spread_rows(len(distinct) - start, _ROWS * columns)]
        axes = _reduce_rows(rows, steps)
        if axes is not None:
            return axes
    return None


def _reduce_rows(rows: Floats, steps: Floats) -> Floats | None:
    """Find the axes in the lattice of some rows: its vectors as long as a step, at right angles to each other."""
    unit = float(steps.min())
    lattice = reduce_lattice(rows / unit, 1.0, np.full(len(rows), _SCALE))
    vectors = lattice.basis @ rows
    lengths = np.linalg.norm(vectors, axis=1)
    chosen: list[Floats] = []
    for at in np.argsort(lengths).tolist():
        if np.min(np.abs(lengths[at] / steps - 1)) > _NEAR:
            continue
        axis = vectors[at] / lengths[at]
        if all(abs(float(axis @ other)) <= _NEAR for other in chosen):
            chosen.append(axis)
    if len(chosen) < len(steps) - 1:
        return None
    return _complete(np.array(chosen))


def _complete(axes: Floats) -> Floats:
    """Make axes orthonormal, and add the one that is missing, if there is one."""
    left, _, right = np.linalg.svd(axes)
    whole = left @ right[: len(axes)]
    return np.vstack((whole, right[len(axes) :]))


def name_columns(coordinates: Floats, sample: Floats) -> tuple[Integers, Floats]:
    """Tell which column of the sample each coordinate is, and its sign: by its values, and by its correlations.

    Both are compared in units of chance, as chi-squared statistics.

    Examples
    --------
    >>> people = -np.log(1 - np.arange(200)[:, None] * [0.618034, 0.414214, 0.732051] % 1) * [1, 5, 2]
    >>> names, signs = name_columns(people[:100][:, [2, 0, 1]] * [1, -1, 1], people[100:])
    >>> names.tolist(), signs.tolist()
    ([2, 0, 1], [1.0, -1.0, 1.0])
    """
    from scipy import optimize  # noqa: PLC0415 - slow to import

    costs = np.array([_compare_values(sign * coordinates, sample) for sign in (1.0, -1.0)])
    names = cast("Any", optimize).linear_sum_assignment(costs.min(0))[1].astype(np.int64)
    signs = np.where(costs[0] <= costs[1], 1.0, -1.0)[np.arange(len(names)), names]
    names = _exchange(coordinates * signs, sample, names, costs.min(0))
    return names, np.where(costs[0] <= costs[1], 1.0, -1.0)[np.arange(len(names)), names]


def _compare_values(coordinates: Floats, sample: Floats) -> Floats:
    """Return how unlike the values of each coordinate and each column are: their histograms, and their means."""
    costs = np.empty((coordinates.shape[1], sample.shape[1]))
    many = len(coordinates) * len(sample) / (len(coordinates) + len(sample))
    levels = np.arange(1, _BINS) / _BINS
    for number, column in enumerate(sample.T):
        # between values, so that rounding does not move a value to another bin
        values = np.unique(column)
        at_values = np.unique(np.searchsorted(values, np.quantile(column, levels)))
        cuts = (values[np.maximum(at_values - 1, 0)] + values[at_values]) / 2
        expected = _share_out(column, cuts)
        for at, other in enumerate(coordinates.T):
            seen = _share_out(other, cuts)
            shares = (expected - seen) ** 2 / np.maximum(expected + seen, np.finfo(float).tiny)
            mean = (column.mean() - other.mean()) ** 2 / max(float(column.var()), np.finfo(float).tiny)
            costs[at, number] = many * (2 * float(shares.sum()) + mean)
    return costs


def _share_out(values: Floats, cuts: Floats) -> Floats:
    """Return the share of the values in each bin between the cuts."""
    bins: Integers = np.searchsorted(cuts, values).astype(np.int64)
    return np.bincount(bins, minlength=len(cuts) + 1) / len(values)


def _exchange(coordinates: Floats, sample: Floats, names: Integers, costs: Floats) -> Integers:
    """Exchange names of two columns as long as values and correlations together become more like the sample."""
    many = len(coordinates) * len(sample) / (len(coordinates) + len(sample))
    ours, theirs = (_correlate(rows) for rows in (coordinates, sample))

    def unlike(tried: Integers) -> float:
        difference = np.sum((ours - theirs[np.ix_(tried, tried)]) ** 2) / 2
        return float(many * difference + costs[np.arange(len(tried)), tried].sum())

    best = unlike(names)
    for _ in range(_EXCHANGES):
        before = best
        for one, other in zip(*np.triu_indices(len(names), 1), strict=True):
            tried = names.copy()
            tried[[one, other]] = names[[other, one]]
            now = unlike(tried)
            if now < best:
                names, best = tried, now
        if best >= before:
            break
    return names


def _correlate(rows: Floats) -> Floats:
    """Return correlations by Fisher's transformation, in which all of them are equally uncertain."""
    scaled = (rows - rows.mean(0)) / np.maximum(rows.std(0), np.finfo(float).tiny)
    correlations = scaled.T @ scaled / len(rows)
    np.fill_diagonal(correlations, 0.0)
    return np.arctanh(np.clip(correlations, -_CERTAIN, _CERTAIN))
