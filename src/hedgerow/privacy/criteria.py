"""The syntactic family: promises that anyone can check on the published data.

A criterion shares no code with the methods that keep it: it imports neither `steps` nor
publishers, and it reads the output the way a receiver would.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction

from hedgerow.data import Dataset
from hedgerow.privacy.guarantee import Guarantee, Verdict
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.questions import Answers

__all__ = ["Criterion"]


class Criterion(Guarantee):
    """A promise about the output itself; verified there before anything is released."""

    @abstractmethod
    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count what breaks the promise, by kind; never quote the data."""

    def open(self, data: Dataset, answers: Answers) -> Ledger:
        """Open a ledger with nothing to spend: it has coins, and refuses every question."""
        del data
        return Ledger(Fraction(0), answers, promises=(self,))

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check the output as published."""
        return Verdict("checked on the published data", self.violations(outputs))
