"""Syntactic privacy: promises that anyone can verify on the published data.

A criterion shares no code with the methods that keep it: it imports neither `steps` nor publishers, and it reads the
output as a receiver would.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from hedgerow.data import Dataset
from hedgerow.privacy.guarantee import Guarantee, Verdict

__all__ = ["Criterion"]


class Criterion(Guarantee):
    """A promise about the output itself, verified before anything is released."""

    @abstractmethod
    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the violations of each kind; never quote the data."""

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check the output as published."""
        for data in outputs.values():
            self.require(data)
        return Verdict("checked on the published data", self.violations(outputs))
