"""Measures of a matrix row by row: numbers, ranks, angles, distances, and what a classifier learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.matrix_classification import classify, has_classifier
from hedgerow.measures.rank_changes import compare_ranks, expect_of_shuffled
from hedgerow.measures.row_angles import TOLERANCES, compare_angles, compare_distances
from hedgerow.measures.scoring import exact_score
from hedgerow.score import Score

__all__ = [
    "measure_angles",
    "measure_classification",
    "measure_least_difference",
    "measure_ranks",
    "measure_values",
    "value_difference",
]

Floats: TypeAlias = NDArray[np.float64]

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
