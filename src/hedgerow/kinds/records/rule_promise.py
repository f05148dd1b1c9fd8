r"""$(p, m)$-privacy of anatomised records: nobody is too sure that a person has a value, or has it often [1]_.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hedgerow.data import Dataset, Domain
from hedgerow.kinds.records.rules import Rule, check_rules, read_rules
from hedgerow.privacy.guarantee import Criterion, Plain


@dataclass(frozen=True, init=False, repr=False)
class PM(Criterion):
    r"""$(p, m)$-privacy: for each rule, nobody is more than $p$ sure that a person has $m$ or more of its values [1]_.

    It is a promise about anatomised records, and about those values only that its rules name.

    Examples
    --------
    >>> PM(rules=[{"attribute": "visit.diagnosis", "value": "AIDS", "m": 1, "p": "1/3"}]).rules[0].p
    Fraction(1, 3)

    References
    ----------
    .. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017.
    """

    name: ClassVar[str] = "PM"
    kinds: ClassVar = ("records",)

    rules: tuple[Rule, ...]

    def __init__(self, *, rules: Sequence[Rule | Mapping[str, Any]]) -> None:
        object.__setattr__(self, "rules", check_rules(rules))

    @classmethod
    def from_file(cls, path: str | Path) -> PM:
        """Promise the rules of a file (TOML)."""
        return cls(rules=read_rules(path))

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the violations."""
        del outputs
        return {"rules that are not checked yet": len(self.rules)}

    def sentence(self) -> str:
        """State the promise in words."""
        return ""

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover."""
        del domain
        return ()

    def fields(self) -> dict[str, Plain]:
        """The rules."""
        return {"rules": [rule.to_plain() for rule in self.rules]}
