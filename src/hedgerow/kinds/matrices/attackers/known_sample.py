r"""Known sample: a rotation is found by somebody who knows nobody in the release, but people like them.

The attacker has the release $\tilde A = A R + E$ with a secret rotation $R$, and a sample of rows of *other* people:
an earlier survey, another hospital, a published table. No row of it is in the release. A rotation carries means,
covariances and the whole cloud of rows with it, so that the sample and the release are the same cloud twice. Success is
the rows of the release.

Without noise, whole numbers tell the rotation by themselves: sums and differences of rows of $A$ are multiples of the
steps of the columns (scores are whole numbers, heights are in centimetres), so that those of the release form a turned
lattice, whose shortest vectors are the steps along the turned axes. Lattice reduction finds them; only the names and
signs of the columns are told by the sample. Success is then the original itself.

The owner has one set of people. It is cut in two by chance: the rows of one half are released, and the original rows of
the other half, of whom the release says nothing, are the sample. A rotation turns every row alike, so that half of a
release is what would have been released of half of the people.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow.kinds.matrices.attackers.cell_posteriors import Numbers, refit_cells, spread_rows
from hedgerow.kinds.matrices.attackers.knowledge import Knowledge
from hedgerow.kinds.matrices.attackers.lattice_reduction import reduce_lattice
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.assignment import assign

#: fewer rows per column tell no covariances; more columns than these have too many turns, or too large a lattice
_LEAST_ROWS, _MOST_TURNED, _MOST_LATTICE = 4, 40, 16
#: rows of a release that are turned back: more tell no more
_MOST_ROWS = 20_000
#: rows that tell how many decimals a column has: a rare number with more of them must not decide
_TELL = 2
#: steps are powers of ten, which are not exact
_DECIMALS = 9


class KnownSample(NamedTuple):
    """The rows of a release, the sample of others, and the noise; beside it which rows the judge compares."""

    released: Floats
    sample: Floats
    noise: float
    numbers: Numbers
    rows: Integers


def split_people(knowledge: Knowledge, rng: np.random.Generator) -> KnownSample | None:
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
    return KnownSample(knowledge.released[knowledge.positions[rows]], sample, noise, numbers, rows)


def reconstruct_by_sample(known: KnownSample) -> dict[str, Floats]:
    """Return the reconstructions of all attacks by a sample of others."""
    released, sample = known.released, known.sample
    axes = align_axes(sample, released)
    rotation = match_clouds(sample, released, axes, noise=known.noise)
    guesses = {
        "covariance axes, sample of others": released @ axes.T,
        "closest points, sample of others": released @ rotation.T,
    }
    if known.noise:
        weighed = refit_cells(released, rotation, known.noise, known.numbers)
        return guesses | {"closest points and posterior of cells, sample of others": weighed}
    whole = _solve_lattice(known)
    return guesses if whole is None else guesses | {"lattice of a rotation, sample of others": whole}


def _solve_lattice(known: KnownSample) -> Floats | None:
    """Find the turned axes by the steps of the columns, and name them by the sample."""
    steps = known.numbers.steps
    if steps is None or len(steps) > _MOST_LATTICE:
        return None
    axes = find_axes(known.released, steps)
    if axes is None:
        return None
    coordinates = known.released @ axes.T
    names, signs = name_columns(coordinates, known.sample)
    guess = np.empty_like(coordinates)
    guess[:, names] = coordinates * signs
    return (np.rint(guess / steps) * steps).round(_DECIMALS)


# The rotation that carries the cloud of the sample onto that of the release.

#: rows of either cloud that are matched with each other; rounds; and the turn at which they end
_MATCHED, _ROUNDS, _STILL = 600, 60, 1e-6
#: the largest turn of a round, and how far the equations of a turn are kept from singular
_LARGEST_TURN, _RIDGE = 0.5, 1e-9
#: a size below this share of the largest is rounding
_NO_SIZE = 1e-9


def align_axes(sample: Floats, released: Floats) -> Floats:
    """Return the rotation that carries the axes of the sample's covariance onto those of the release.

    The direction of an axis is told by the mean along it, and by its skewness: each is weighed by how sure it is.

    Examples
    --------
    >>> people = -np.log(1 - np.arange(4000)[:, None] * [0.618034, 0.414214] % 1) * [3, 1]
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> align_axes(people[:2000], people[2000:] @ turn).round(1).tolist()
    [[0.6, -0.8], [0.8, 0.6]]
    """
    axes = [np.linalg.eigh(np.cov(rows.T).reshape(rows.shape[1], -1)) for rows in (sample, released)]
    variances = keep_from_zero(np.sqrt(np.maximum(np.maximum(axes[0][0], axes[1][0]), 0.0))) ** 2
    along = [rows @ vectors for rows, (_, vectors) in zip((sample, released), axes, strict=True)]
    means = [rows.mean(0) for rows in along]
    rarity = 1 / len(sample) + 1 / len(released)
    by_means = 2 * means[0] * means[1] / (variances * rarity)
    scaled = [(rows - mean) / np.sqrt(variances) for rows, mean in zip(along, means, strict=True)]
    skewness = [(rows**3).mean(0) for rows in scaled]
    # sums of cubes vary as sixth powers do
    unsure = sum(((rows**6).mean(0) / len(rows) for rows in scaled), np.full(len(variances), np.finfo(float).tiny))
    signs = np.where(by_means + 2 * skewness[0] * skewness[1] / unsure < 0, -1.0, 1.0)
    return (axes[0][1] * signs) @ axes[1][1].T


def match_clouds(sample: Floats, released: Floats, rotation: Floats, *, noise: float = 0.0) -> Floats:
    """Improve a rotation by iterative closest points: rows are matched one to one, and the release is turned to them.

    Distances are in deviations of the columns, so that a turn that would mix a small column with a large one shows.

    Parameters
    ----------
    noise
        The standard deviation of noise in the release, which makes small columns tell less.

    Examples
    --------
    >>> people = -np.log(1 - np.arange(800)[:, None] * [0.618034, 0.414214] % 1) * [3, 1]
    >>> turn, near = (np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in (0.9, 0.8))
    >>> better = match_clouds(people[:400], people[400:] @ turn, near)
    >>> bool(np.abs(better - turn).max() < 0.3 * np.abs(near - turn).max())
    True
    """
    from scipy import linalg  # noqa: PLC0415 - slow to import

    sample, released = (rows[spread_rows(len(rows), _MATCHED)] for rows in (sample, released))
    weights = 1.0 / keep_from_zero(np.hypot(sample.std(0), noise))
    there = sample * weights
    for _ in range(_ROUNDS):
        rows = released @ rotation.T
        here = rows * weights
        distances = (here**2).sum(1)[:, None] - 2 * here @ there.T + (there**2).sum(1)
        mine, theirs = assign(distances)
        turn = cast("Any", linalg).expm(_small_turn(rows[mine], sample[theirs], weights))
        rotation = turn.T @ rotation
        if np.abs(turn - np.eye(len(turn))).max() < _STILL:
            break
    return rotation


def keep_from_zero(sizes: Floats) -> Floats:
    """Return sizes of which none is below a small share of the largest, so that they can be divided by.

    Examples
    --------
    >>> keep_from_zero(np.array([0.0, 5.0])).tolist(), keep_from_zero(np.zeros(1)).tolist()
    ([5e-09, 5.0], [1.0])
    """
    largest = float(sizes.max())
    return np.maximum(sizes, _NO_SIZE * largest) if largest > 0 else np.ones_like(sizes)


def _small_turn(rows: Floats, wanted: Floats, weights: Floats) -> Floats:
    """Return the skew matrix K that makes rows + rows K nearest to the wanted rows, columns by their weights.

    Unlike the Procrustes fit this weighs columns; the equations are linear in the entries above the diagonal of K.
    """
    squares, gram = weights**2, rows.T @ rows
    first, second = np.triu_indices(len(weights), 1)
    pull = (rows.T @ (wanted - rows)) * squares
    right = pull[first, second] - pull[second, first]
    left = np.zeros((len(first), len(first)))
    for ends, starts, sign in ((second, first, 1), (first, second, 1)):
        left += sign * (ends[:, None] == ends) * squares[ends][:, None] * gram[np.ix_(starts, starts)]
    for one, other, starts, ends in ((first, second, second, first), (second, first, first, second)):
        left -= (one[:, None] == other) * squares[one][:, None] * gram[np.ix_(starts, ends)]
    sizes = np.sqrt(np.maximum(np.diag(left), np.finfo(float).tiny))
    scaled = left / np.outer(sizes, sizes) + _RIDGE * np.eye(len(sizes))
    entries = cast("Floats", np.linalg.lstsq(scaled, right / sizes, rcond=None)[0]) / sizes
    entries *= min(1.0, _LARGEST_TURN / max(float(np.abs(entries).max(initial=0.0)), np.finfo(float).tiny))
    skew = np.zeros((len(weights), len(weights)))
    skew[first, second], skew[second, first] = entries, -entries
    return skew


# The lattice of a rotation without noise, by the steps of the columns.

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
    costs = np.array([_compare_values(sign * coordinates, sample) for sign in (1.0, -1.0)])
    names = assign(costs.min(0))[1]
    signs = np.where(costs[0] <= costs[1], 1.0, -1.0)[np.arange(len(names)), names]
    names = _exchange(coordinates * signs, sample, names, costs.min(0))
    return names, np.where(costs[0] <= costs[1], 1.0, -1.0)[np.arange(len(names)), names]


def _compare_values(coordinates: Floats, sample: Floats) -> Floats:
    """Return how unlike the values of each coordinate and each column are: their histograms, and their means."""
    costs = np.empty((coordinates.shape[1], sample.shape[1]))
    many = len(coordinates) * len(sample) / (len(coordinates) + len(sample))
    levels = np.arange(1, _BINS) / _BINS
    variances = keep_from_zero(sample.std(0)) ** 2
    for number, column in enumerate(sample.T):
        # between values, so that rounding does not move a value to another bin
        values = np.unique(column)
        at_values = np.unique(np.searchsorted(values, np.quantile(column, levels)))
        cuts = (values[np.maximum(at_values - 1, 0)] + values[at_values]) / 2
        expected = _share_out(column, cuts)
        for at, other in enumerate(coordinates.T):
            seen = _share_out(other, cuts)
            shares = (expected - seen) ** 2 / np.maximum(expected + seen, np.finfo(float).tiny)
            mean = float((column.mean() - other.mean()) ** 2 / variances[number])
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
    scaled = (rows - rows.mean(0)) / keep_from_zero(rows.std(0))
    correlations = scaled.T @ scaled / len(rows)
    np.fill_diagonal(correlations, 0.0)
    return np.arctanh(np.clip(correlations, -_CERTAIN, _CERTAIN))
