"""How well the most frequent patterns are kept: true and false positives, false negatives, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from hedgerow.measures.ngram_index import Gram
from hedgerow.measures.scoring import Better, exact_score
from hedgerow.score import Score

__all__ = ["top_scores"]

Top: TypeAlias = Mapping[Gram, int]


def top_scores(what: str, before: Top, after: Mapping[str, Top], most: int) -> list[Score]:
    """Compare the most frequent patterns of the original with those of releases.

    Parameters
    ----------
    what
        The name of the patterns, such as "n-grams".
    before
        The most frequent patterns of the original, most frequent first, with their counts.
    after
        Those of each control by its name; those of the release under the empty name.
    most
        How many of them are compared.
    """
    true = dict(list(before.items())[:most])
    tops = {name: dict(list(counts.items())[:most]) for name, counts in after.items()}
    kept = {name: len(true.keys() & counts.keys()) for name, counts in tops.items()}
    measured: list[tuple[str, dict[str, float], Better]] = [
        (
            f"share of the top {most} {what} kept",
            {name: n / max(1, len(true)) for name, n in kept.items()},
            "higher",
        ),
        (
            f"top {most} {what} missing from the released top {most}",
            {name: len(true) - n for name, n in kept.items()},
            "lower",
        ),
        (
            f"false positives in the released top {most} {what}",
            {name: len(tops[name]) - n for name, n in kept.items()},
            "lower",
        ),
        (
            f"mean relative error of the top {most} {what}, missing ones counted as 1",
            {name: _relative_error(true, counts) for name, counts in tops.items()},
            "lower",
        ),
    ]
    return [
        exact_score(
            name,
            values[""],
            {control: value for control, value in values.items() if control},
            better=better,
        )
        for name, values, better in measured
    ]


def _relative_error(true: Top, released: Top) -> float:
    errors = [abs(n - released.get(pattern, 0)) / n for pattern, n in true.items()]
    return sum(errors) / max(1, len(errors))
