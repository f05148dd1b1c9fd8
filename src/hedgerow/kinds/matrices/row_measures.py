"""Measures of a matrix row by row: numbers, ranks, angles, distances, and what a classifier learns.

The scores stand first, then what they are made of: classification, ranks, angles and distances, and which rows of a
release and of the original belong together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import MissingExtra
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.score import Score, exact_score

#: rows that are ranked, whose pairs are all compared, and that are learned from; of more, a sample
_RANKED, _COMPARED, _LEARNED = 100_000, 2000, 5000
_PAIRS = 200_000
_ORIGINAL, _RANDOM = "original", "random order"
_BLOCK = 8192


def value_difference(original: Floats, released: Floats) -> tuple[float, float]:
    """Return the size of the difference relative to the original (VD), in the Frobenius and the spectral norm.

    Examples
    --------
    >>> before, after = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[3.0, 0.0], [0.0, 3.0]])
    >>> value_difference(before, after)
    (0.2, 0.25)
    """
    gram, moved = np.zeros((2, original.shape[1], original.shape[1]))
    for start in range(0, len(original), _BLOCK):
        block = original[start : start + _BLOCK]
        change = block - released[start : start + _BLOCK]
        gram += block.T @ block
        moved += change.T @ change
    tiny = np.finfo(float).tiny
    frobenius = math.sqrt(float(np.trace(moved)) / max(float(np.trace(gram)), tiny))
    largest = [max(float(np.linalg.eigvalsh(each)[-1]), 0.0) for each in (moved, gram)]
    return frobenius, math.sqrt(largest[0] / max(largest[1], tiny))


def measure_values(original: Floats, released: Mapping[str, Floats]) -> list[Score]:
    """Measure the relative difference of the numbers, unless all are 0; the release has the empty name."""
    if not original.any():
        return []
    differences = {name: value_difference(original, values) for name, values in released.items()}
    names = ("relative difference of the numbers (VD)", "relative difference of the numbers, spectral norm")
    return [
        exact_score(name, differences[""][at], {key: each[at] for key, each in differences.items() if key})
        for at, name in enumerate(names)
    ]


def measure_least_difference(original: Floats, released: Mapping[str, Floats]) -> list[Score]:
    """Measure how small the relative difference can be, if nobody can tell which rows belong together.

    Of all ways to pair two columns, sorting both gives the smallest difference.
    """
    before = np.sort(original, axis=0)
    least = {key: value_difference(before, np.sort(values, axis=0))[0] for key, values in released.items()}
    name = "least relative difference of the numbers, whichever rows belong together"
    return [exact_score(name, least.pop(""), least)]


def measure_ranks(original: Floats, released: Floats, rng: np.random.Generator) -> list[Score]:
    """Measure how ranks change, beside what a random order gives; in both readings of the published figures."""
    sample = _draw_rows(len(original), _RANKED, rng)
    before, after = original[sample], released[sample]
    changes, published = compare_ranks(before, after), compare_ranks(before, after, argsort=True)
    by_chance = expect_of_shuffled(*before.shape)
    ties = compare_ranks(before, after, ties="average")
    measured = {
        "mean change of ranks of rows (RP)": (changes.rp, by_chance.rp),
        "mean change of ranks of rows, ties averaged": (ties.rp, by_chance.rp),
        "mean change of sorting positions of rows (RP as published)": (published.rp, by_chance.rp),
        "share of ranks of rows kept (RK)": (changes.rk, by_chance.rk),
        "mean change of ranks of columns (CP)": (changes.cp, by_chance.cp),
        "mean change of sorting positions of columns (CP as published)": (published.cp, by_chance.cp),
        "share of ranks of columns kept (CK)": (changes.ck, by_chance.ck),
    }
    return [exact_score(name, value, {_RANDOM: chance}) for name, (value, chance) in measured.items()]


def measure_angles(original: Floats, released: Floats, rng: np.random.Generator) -> list[Score]:
    """Measure how many angles and by how much distances between rows are kept.

    A projection to fewer columns keeps no angles, so that nothing is said about them.
    """
    if original.shape[1] != released.shape[1]:
        return _measure_distances(original, released, rng)
    angles = compare_angles(original, released, rng, most_rows=_COMPARED, most_pairs=_PAIRS)
    scores = [
        Score(
            name=f"share of angles between rows kept, within {math.degrees(tolerance):g}°",
            value=share,
            low=low,
            high=high,
            better="neither",
            scope="owner",
        )
        for tolerance, share, low, high in zip(TOLERANCES, angles.shares, angles.low, angles.high, strict=True)
        if angles.pairs
    ]
    if angles.zero_rows:
        scores.append(exact_score("rows of zeros, which have no angle", angles.zero_rows, {}))
    return [*scores, *_measure_distances(original, released, rng)]


def _measure_distances(original: Floats, released: Floats, rng: np.random.Generator) -> list[Score]:
    changes = compare_distances(original, released, rng)
    if not len(changes):
        return []
    return [exact_score("median relative change of distances between rows", float(np.median(changes)), {})]


def measure_classification(
    original: Floats, released: Floats, labels: NDArray[Any] | None, rng: np.random.Generator, *, same_columns: bool
) -> list[Score]:
    """Measure how well labels are learned, if there are labels and the extra for it is installed."""
    if labels is None:
        return []
    sample = _draw_rows(len(original), _LEARNED, rng)
    before, after, labels = original[sample], released[sample], labels[sample]
    if not has_classifier(labels):
        return []
    commonest = float(np.unique(labels, return_counts=True)[1].max() / len(labels))
    learned = classify(before if same_columns else after, after, labels)
    truth = classify(before, before, labels)
    controls = {_ORIGINAL: truth.released, "commonest label": commonest}
    name = "accuracy of a linear classifier, trained"
    scores = [exact_score(f"{name} and tested on the release", learned.released, controls, better="higher")]
    if same_columns:
        title = f"{name} on the release and tested on the original"
        scores.append(exact_score(title, learned.transferred, controls, better="higher"))
    return scores


def _draw_rows(rows: int, most: int, rng: np.random.Generator) -> NDArray[np.int64] | slice:
    """Draw so many rows, in order; all if there are no more."""
    return np.sort(rng.permutation(rows)[:most]) if rows > most else slice(None)


# How well a linear classifier learns labels from a release: cross-validated, on released and on original rows.

_FOLDS = 5


class Accuracies(NamedTuple):
    """The accuracy on released rows, and of what was learned from released rows on original ones."""

    released: float
    transferred: float


def has_classifier(labels: NDArray[Any] | None) -> bool:
    """Whether there are two labels at least, each on enough rows for cross-validation, and the extra is installed."""
    if labels is None:
        return False
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < _FOLDS:  # noqa: PLR2004 - two labels
        return False
    try:
        _import()
    except MissingExtra:
        return False
    return True


def classify(original: Floats, released: Floats, labels: NDArray[Any]) -> Accuracies:
    """Train a linear support vector machine on released rows, in five folds; rows are in the same order.

    C is 1 / mean squared length of a row, the default of SVM-light. Folds are drawn by a fixed seed, so figures of two
    releases are about the same folds. Needs the extra `learn`.

    Examples
    --------
    >>> rows = np.concatenate((np.linspace(1, 2, 20), np.linspace(4, 5, 20)))[:, None] * [1.0, 0.5]
    >>> classify(rows, rows, np.repeat(["well", "ill"], 20))
    Accuracies(released=1.0, transferred=1.0)
    """
    svm, selection = _import()
    weight = 1.0 / max(float(np.einsum("ij,ij->", released, released)) / len(released), np.finfo(float).tiny)
    folds = selection.StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    right = np.zeros(2)
    for train, test in folds.split(released, labels):
        fitted = svm.SVC(kernel="linear", C=weight).fit(released[train], labels[train])
        right += [np.sum(fitted.predict(values[test]) == labels[test]) for values in (released, original)]
    return Accuracies(*cast("list[float]", (right / len(labels)).tolist()))


def _import() -> tuple[Any, Any]:
    try:
        from sklearn import model_selection, svm  # noqa: PLC0415 - an extra
    except ImportError:
        msg = "classification needs the extra 'learn': pip install 'hedgerow[learn]'"
        raise MissingExtra(msg) from None
    return svm, model_selection


# How a distortion changes ranks: those of rows within each column (RP, RK), and of columns by their means (CP, CK).

Ties: TypeAlias = Literal["stable", "average"]
#: numbers are rounded to so many decimals before they are ranked, since equal numbers differ in their last bits
_DECIMALS = 10


class RankChanges(NamedTuple):
    """How far ranks move, and which share of them stays.

    `rp` and `rk` are about the ranks of rows within each column, `cp` and `ck` about those of columns by their means:
    the mean distance by which a rank moves, and the share of ranks that stay.
    """

    rp: float
    rk: float
    cp: float
    ck: float


def compare_ranks(original: Floats, released: Floats, *, ties: Ties = "stable", argsort: bool = False) -> RankChanges:
    """Compare the ranks of rows and of columns before and after.

    Parameters
    ----------
    ties
        Equal numbers have the ranks of their order (`stable`), or all the mean of them (`average`).
    argsort
        Compare the positions that sort a column, in place of ranks. That is not what the definition of RP and CP says,
        but what the published figures are.

    Examples
    --------
    >>> before = np.array([[1, 9, 4], [5, 2, 6], [3, 7, 8], [2, 8, 1.0]])
    >>> after = np.array([[2, 8, 5], [1, 3, 9], [4, 6, 7], [3, 9, 2.0]])
    >>> [round(value, 6) for value in compare_ranks(before, after)]
    [0.833333, 0.333333, 0.0, 1.0]
    >>> round(compare_ranks(before, after, argsort=True).rp, 6)
    1.166667
    """
    moved = stayed = 0.0
    for before, after in zip(original.T, released.T, strict=True):
        distance = np.abs(_rank(before, ties, argsort=argsort) - _rank(after, ties, argsort=argsort))
        moved += float(distance.sum(dtype=np.float64))
        stayed += int((distance == 0).sum())
    columns = [_rank(values.mean(0), ties, argsort=argsort) for values in (original, released)]
    shift = np.abs(columns[0] - columns[1])
    return RankChanges(moved / original.size, stayed / original.size, float(shift.mean()), float((shift == 0).mean()))


def expect_of_shuffled(rows: int, columns: int) -> RankChanges:
    """Return what is expected if rows and columns are put into a random order, which keeps nothing.

    Examples
    --------
    >>> round(expect_of_shuffled(699, 9).rp, 1)
    233.0
    """
    return RankChanges((rows**2 - 1) / (3 * rows), 1 / rows, (columns**2 - 1) / (3 * columns), 1 / columns)


def _rank(values: Floats, ties: Ties, *, argsort: bool) -> NDArray[np.float64] | NDArray[np.int64]:
    rounded = values.round(_DECIMALS)
    if ties == "average" and not argsort:
        from scipy import stats  # noqa: PLC0415 - slow to import

        return cast("Any", stats).rankdata(rounded)
    order = np.argsort(rounded, kind="stable")
    if argsort:
        return order
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


# Angles and distances between rows before and after: what a distortion keeps, and what an attacker can compute.

#: the tolerances of the thesis: two degrees, one, and a half
TOLERANCES = (math.pi / 90, math.pi / 180, math.pi / 360)
#: beyond so many rows pairs are sampled, and so many pairs are drawn
_ALL_PAIRS_ROWS, _SAMPLED_PAIRS = 100_000, 1_000_000
_ANGLE_BLOCK = 1024
_NORMAL = 1.96


class AngleShares(NamedTuple):
    """The share of pairs of rows whose angle moved by at most each tolerance, with a 95 % interval.

    `low` and `high` equal `shares` where all pairs were compared. Rows of zeros have no angle: pairs with them are left
    out, and `zero_rows` counts them.
    """

    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    pairs: int
    zero_rows: int


def scores_of_rank(values: Floats, rank: int) -> Floats:
    """Return the rows of the best approximation of a rank in the directions it has; angles and distances are the same.

    Examples
    --------
    >>> np.abs(scores_of_rank(np.array([[3.0, 4.0], [6.0, 8.0]]), 1)).round(6).tolist()
    [[5.0], [10.0]]
    """
    _, vectors = np.linalg.eigh(values.T @ values)
    return values @ vectors[:, ::-1][:, :rank]


def compare_angles(
    original: Floats,
    released: Floats,
    rng: np.random.Generator,
    *,
    rank: int | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    most_rows: int = _ALL_PAIRS_ROWS,
    most_pairs: int = _SAMPLED_PAIRS,
) -> AngleShares:
    """Compare the angles between all pairs of rows; a sample of pairs if there are more than `most_rows` rows.

    Parameters
    ----------
    rank
        Compare the best approximations of this rank; None for the rows as they are.
    """
    both = [values if rank is None else scores_of_rank(values, rank) for values in (original, released)]
    sizes = [np.linalg.norm(values, axis=1) for values in both]
    # what is left of a row after rounding is no direction
    usable = np.all([size > 1e-12 * max(size.max(initial=0.0), np.finfo(float).tiny) for size in sizes], axis=0)
    before, after = (values[usable] / size[usable, None] for values, size in zip(both, sizes, strict=True))
    zero_rows = len(original) - len(before)
    sampled = len(before) > most_rows
    changes = _sampled(before, after, rng, most_pairs) if sampled else _all_pairs(before, after)
    counts, pairs = np.zeros(len(tolerances), np.int64), 0
    for change in changes:
        pairs += change.size
        counts += [int((change <= tolerance).sum()) for tolerance in tolerances]
    shares = [float(count) / max(1, pairs) for count in counts]
    low, high = zip(*(_interval(share, pairs) if sampled else (share, share) for share in shares), strict=True)
    return AngleShares(tuple(shares), low, high, pairs, zero_rows)


def compare_distances(original: Floats, released: Floats, rng: np.random.Generator, *, pairs: int = 10_000) -> Floats:
    """Return the relative changes of the distances between random pairs of rows that differ."""
    first, second = _draw_pairs(len(original), pairs, rng)
    before, after = (np.linalg.norm(values[first] - values[second], axis=1) for values in (original, released))
    apart = before > 0
    return np.abs(after[apart] - before[apart]) / before[apart]


def angle_bounds(original: Floats, released: Floats) -> Floats:
    r"""Return $\arcsin d_p$ of each row, $d_p = |A^p - \tilde A^p| / |A^p|$; NaN where $d_p$ is not below 1.

    The angle of two rows moves by at most the sum of theirs.

    Examples
    --------
    >>> angle_bounds(np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 1.0], [3.0, 0.0]])).round(4).tolist()
    [0.5236, nan]
    """
    size = np.linalg.norm(original, axis=1)
    moved = np.linalg.norm(original - released, axis=1)
    bounds = np.full(len(size), np.nan)
    within = moved < size
    bounds[within] = np.arcsin(moved[within] / size[within])
    return bounds


def _all_pairs(before: Floats, after: Floats) -> Iterator[Floats]:
    """Yield the changes of angles of all pairs, block by block."""
    for start in range(0, len(before), _ANGLE_BLOCK):
        rows = slice(start, start + _ANGLE_BLOCK)
        angles = [np.arccos(np.clip(unit[rows] @ unit[start:].T, -1.0, 1.0)) for unit in (before, after)]
        change = np.abs(angles[0] - angles[1])
        yield change[np.triu_indices(len(change), k=1, m=change.shape[1])]


def _sampled(before: Floats, after: Floats, rng: np.random.Generator, pairs: int) -> Iterator[Floats]:
    first, second = _draw_pairs(len(before), pairs, rng)
    angles = [
        np.arccos(np.clip(np.einsum("ij,ij->i", unit[first], unit[second]), -1.0, 1.0)) for unit in (before, after)
    ]
    yield np.abs(angles[0] - angles[1])


def _draw_pairs(rows: int, pairs: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw pairs of two different rows; none if there is only one row."""
    pairs = pairs if rows > 1 else 0
    first = rng.integers(0, max(1, rows), pairs)
    second = (first + rng.integers(1, max(2, rows), pairs)) % max(1, rows)
    return first, second


def _interval(share: float, pairs: int) -> tuple[float, float]:
    """Return the Wilson interval of a share."""
    square = _NORMAL**2
    middle = (share + square / (2 * pairs)) / (1 + square / pairs)
    margin = _NORMAL * math.sqrt(share * (1 - share) / pairs + square / (4 * pairs**2)) / (1 + square / pairs)
    return min(share, max(0.0, middle - margin)), max(share, min(1.0, middle + margin))


# Which row of a release belongs to which row of the original: by their names or numbers, if they have any.


class PairedRows(NamedTuple):
    """The numbers of the original and of the release, row by row."""

    original: Floats
    released: Floats


def match_rows(original: Matrix, released: Matrix) -> tuple[Integers, Integers] | None:
    """Return the positions of the rows that belong together; None if rows have no names that tell.

    Examples
    --------
    >>> data = Matrix.from_rows([[1.0], [2.0]], ids=["a", "b"])
    >>> match_rows(data, data.take(np.array([1, 0])))
    (array([0, 1]), array([1, 0]))
    """
    if released.numbered and len(original) == len(released) and (original.ids is None or original.numbered):
        # rows that were numbered when they were published are in the order of the data
        positions = np.arange(len(original))
        return positions, positions
    if original.ids is None or released.ids is None:
        return None
    first, second = _names(original.ids), _names(released.ids)
    if len({*first}) < len(first) or len({*second}) < len(second):
        return None
    place = {name: number for number, name in enumerate(second)}
    rows = [(number, place[name]) for number, name in enumerate(first) if name in place]
    if not rows:
        return None
    mine, theirs = np.array(rows, np.int64).T
    return mine, theirs


def pair_rows(original: Matrix, released: Matrix) -> PairedRows | None:
    """Pair rows; None if rows have no names, or other columns, so that nobody can tell which belong together.

    Rows without names are published in another order. To pair them, publish with a column `id`, or with
    the reading option `rows=numbered`.

    Examples
    --------
    >>> data = Matrix.from_rows([[1.0], [2.0]], ids=["a", "b"])
    >>> pair_rows(data, data.take(np.array([1, 0]))).released.tolist()
    [[1.0], [2.0]]
    """
    if original.columns != released.columns:
        return None
    matched = match_rows(original, released)
    if matched is None:
        return None
    mine, theirs = matched
    return PairedRows(original.values[mine], released.values[theirs])


def _names(ids: NDArray[Any]) -> list[str]:
    return [str(name) for name in ids.tolist()]
