"""Attack by linkage: what somebody who knows a few visits of a person learns from a release."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.measures.scoring import mean_score
from hedgerow.measures.visits import Visits
from hedgerow.score import Score

__all__ = ["measure_linkage"]

Integers: TypeAlias = NDArray[np.int64]

_VICTIMS = 1_000


def measure_linkage(
    truth: Visits,
    ours: Visits,
    rng: np.random.Generator,
    knows: int,
    sensitive: Sequence[tuple[str, Value]],
) -> list[Score]:
    """Attack by linkage.

    The attacker knows that somebody is in the data and knows up to `knows` visits, drawn at random
    from that person's original record. They find the published records that match; where none
    does, a visit may have been suppressed, and they try with fewer, as many as match. Identity:
    one over the number of matches. Attribute: the largest share of a sensitive value among them.
    """
    filled = np.flatnonzero(np.diff(truth.starts))
    if len(filled) == 0:
        return []
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "original": []}
    marks = {"ours": ours.marks(sensitive), "original": truth.marks(sensitive)}
    for victim in rng.choice(filled, _VICTIMS).tolist():
        visits = truth.pairs[truth.starts[victim] : truth.starts[victim + 1]]
        known = rng.choice(visits, min(knows, len(visits)), replace=False).tolist()
        for name, held in (("ours", ours), ("original", truth)):
            found[name].append(_learned(_matching(held, known), marks[name]))
    scores: list[Score] = []
    kinds = [("identity", 1 / max(1, truth.records))]
    if sensitive:
        everybody = _learned(np.arange(truth.records), marks["original"])[1]
        kinds.append(("attribute", everybody))
    for place, (what, guess) in enumerate(kinds):
        mine = np.array([held[place] for held in found["ours"]])
        theirs = float(np.mean([held[place] for held in found["original"]]))
        controls = {"original": theirs, "guessing": guess}
        scores.append(mean_score(f"{what} linkage by {knows} visits", mine, controls))
    return scores


def _matching(held: Visits, known: Sequence[int]) -> Integers:
    """The records that match as many as possible of the known visits; the fewest, if several do."""
    for size in range(len(known), 0, -1):
        tried = (held.matching(some) for some in itertools.combinations(known, size))
        matches = [rows for rows in tried if len(rows)]
        if matches:
            return min(matches, key=len)
    return np.zeros(0, np.int64)


def _learned(rows: Integers, marks: Sequence[NDArray[np.bool_]]) -> tuple[float, float]:
    """How sure the attacker is of who, and of what."""
    if len(rows) == 0:
        return 0.0, 0.0
    shares = [float(flags[rows].mean()) for flags in marks]
    return 1 / len(rows), max(shares, default=0.0)
