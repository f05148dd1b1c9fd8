"""What was asked, summed by label: the part of a run that is printed in the privacy statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

__all__ = ["Entry", "Evidence", "EvidenceLog"]


@dataclass(frozen=True)
class Entry:
    """One label: its share of the promise, and what was asked under it."""

    label: str
    spend: Fraction
    questions: tuple[str, ...]
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """All labels in order of first use, and the notes of the method."""

    entries: tuple[Entry, ...] = ()
    notes: tuple[tuple[str, int], ...] = ()

    def total(self) -> Fraction:
        """Sum the shares of all labels."""
        return sum((entry.spend for entry in self.entries), Fraction(0))


@dataclass
class EvidenceLog:
    """Where a ledger and its parts write; never one entry per question."""

    spends: dict[str, Fraction] = field(default_factory=dict[str, Fraction])
    asked: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    means: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    notes: dict[str, int] = field(default_factory=dict[str, int])
    forests: int = 0

    def spend(self, label: str, amount: Fraction) -> None:
        """Add to what a label has spent; a refund is negative."""
        self.spends[label] = self.spends.get(label, Fraction(0)) + amount

    def mention(self, label: str, question: str, mechanism: str) -> None:
        """Remember what was asked under a label, once."""
        self.asked.setdefault(label, {})[question] = None
        self.means.setdefault(label, {})[mechanism] = None

    def evidence(self) -> Evidence:
        """Freeze what is written."""
        entries = tuple(
            Entry(label, spend, tuple(self.asked.get(label, ())), tuple(self.means.get(label, ())))
            for label, spend in self.spends.items()
        )
        return Evidence(entries, tuple(self.notes.items()))
