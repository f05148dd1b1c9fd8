"""How much of the most frequent patterns is kept: true and false ones, lost ones, their counts."""

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
        What the patterns are called.
    before
        The most frequent ones of the original, most frequent first, with their counts.
    after
        Those of each control by its name; those of the release stand under no name.
    most
        How many of them count.
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
            f"top {most} {what} no longer among them",
            {name: len(true) - n for name, n in kept.items()},
            "lower",
        ),
        (
            f"among the released top {most} {what} by mistake",
            {name: len(tops[name]) - n for name, n in kept.items()},
            "lower",
        ),
        (
            f"mean relative error of the top {most} {what}, lost ones as 1",
            {name: _loss(true, counts) for name, counts in tops.items()},
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


def _loss(true: Top, released: Top) -> float:
    errors = [abs(n - released.get(pattern, 0)) / n for pattern, n in true.items()]
    return sum(errors) / max(1, len(errors))
