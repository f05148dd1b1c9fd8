"""The questions of a run and what they spent, summed by label, as the privacy statement prints them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.privacy.mechanisms import Laplace, Mechanism
from hedgerow.privacy.shares import Shares
from hedgerow.privacy.survivors import CandidateSets, Survivors


@dataclass(frozen=True)
class Entry:
    """One label: what it spent, and the questions and mechanisms under it."""

    label: str
    spend: Fraction
    questions: tuple[str, ...]
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """All labels in order of first use, the notes of the method, and how far counts are above their noise."""

    entries: tuple[Entry, ...] = ()
    notes: tuple[tuple[str, int], ...] = ()
    support: tuple[Support, ...] = ()

    def total(self) -> Fraction:
        """Sum the shares of all labels."""
        return sum((entry.spend for entry in self.entries), Fraction(0))


@dataclass
class EvidenceLog:
    """What a ledger and its parts have asked so far, by label; it does not grow with the number of questions."""

    spends: dict[str, Fraction] = field(default_factory=dict[str, Fraction])
    questions: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    mechanisms: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    notes: dict[str, int] = field(default_factory=dict[str, int])
    path_budgets: int = 0
    masses: dict[str, Floats] = field(default_factory=dict[str, Floats])

    def spend(self, label: str, amount: Fraction) -> None:
        """Add to what a label has spent; a refund is a negative amount."""
        self.spends[label] = self.spends.get(label, Fraction(0)) + amount

    def mention(self, label: str, question: str, mechanism: str) -> None:
        """Record a question and its mechanism under a label, each once."""
        self.questions.setdefault(label, {})[question] = None
        self.mechanisms.setdefault(label, {})[mechanism] = None

    def count(self, label: str, mass: Floats) -> None:
        """Add to what a label has counted, and what of it is above its noise."""
        self.masses[label] = self.masses.get(label, np.zeros(2)) + mass

    def evidence(self) -> Evidence:
        """Return all entries, frozen."""
        entries = tuple(
            Entry(label, spend, tuple(self.questions.get(label, ())), tuple(self.mechanisms.get(label, ())))
            for label, spend in self.spends.items()
        )
        support = tuple(Support(label, share_above(*mass.tolist())) for label, mass in self.masses.items())
        return Evidence(entries, tuple(self.notes.items()), support)


# How much of what was counted is above its noise.

#: one question in so many has an answer above its noise that is noise
_QUESTIONS_PER_FALSE_ALARM = 20


@dataclass(frozen=True)
class Support:
    r"""Which share of the counts under a label is above the noise, rounded to a hundredth.

    It tells whether a release rests on its data or on noise. An answer is *above its noise* if noise alone would hardly
    have produced it. Among $M$ cells with noise of scale $b$, no noise reaches $b \ln(20 M)$ with a probability of at
    least 0.95, since $P(Z \ge t) \le e^{-t / b}$ for each.

    Only answers are used, so this costs no privacy. Along a path of a forest the last count stands for those before it:
    what is published rests on it.
    """

    label: str
    share: float


def mass_of_cells(answer: Integers, mechanism: Mechanism, shares: Shares) -> Floats | None:
    """What each answer counts, and what of it is above its noise, in two columns; None if it is not a count.

    Examples
    --------
    >>> from fractions import Fraction
    >>> answer = np.array([500, 3, -4])
    >>> mass_of_cells(answer, Laplace(l1=1), Shares.spread(Fraction(1, 10), 3)).tolist()
    [[500.0, 500.0], [3.0, 0.0], [-4.0, 0.0]]
    """
    if not isinstance(mechanism, Laplace):
        return None
    return _mass(answer, mechanism, shares, math.log(max(1, len(answer))))


def mass_of_survivors(survivors: Survivors, mechanism: Laplace, shares: Shares, families: CandidateSets) -> Floats:
    """The same for survivors of a threshold; all candidates count as cells, also those below it."""
    cells = sum(families.candidates.tolist())  # Python integers: there may be more than 2**63
    return _mass(survivors.noisy, mechanism, shares[survivors.at], math.log(max(1, cells)))


def share_above(total: float, above: float) -> float:
    """The share above the noise; noise may make the total smaller than its parts, or negative."""
    return round(above / max(total, above), 2) if above > 0 else 0.0


def describe_support(support: Sequence[Support]) -> str:
    """Say in one sentence which counts are above their noise; empty if nothing was counted.

    Examples
    --------
    >>> describe_support([Support("sizes", 1.0), Support("item weights", 0.62)])
    'Above their noise: sizes 100 %, item weights 62 %; the rest is an estimate of the method.'
    """
    if not support:
        return ""
    parts = ", ".join(f"{each.label} {100 * each.share:.0f} %" for each in support)
    rest = "" if all(each.share == 1 for each in support) else "; the rest is an estimate of the method"
    return f"Above their noise: {parts}{rest}."


def _mass(answer: Integers, mechanism: Laplace, shares: Shares, log_cells: float) -> Floats:
    # a share of the table that no cell has may be 0
    limits = np.array([float(mechanism.l1 / share) if share else math.inf for share in shares.table])
    limits *= math.log(_QUESTIONS_PER_FALSE_ALARM) + log_cells
    return np.column_stack((answer, np.where(answer >= limits[shares.codes], answer, 0))).astype(np.float64)
