"""The questions of a run and what they spent, summed by label, as the privacy statement prints them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.support import Support, share_above

__all__ = ["Entry", "Evidence", "EvidenceLog"]

Floats: TypeAlias = NDArray[np.float64]


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
