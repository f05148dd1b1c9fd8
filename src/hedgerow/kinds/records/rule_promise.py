r"""$(p, m)$-privacy of anatomised records: nobody is too sure that a person has a value, or has it often [1]_.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from hedgerow.data import Dataset, Domain
from hedgerow.kinds.records.anatomy import SENSITIVE, form_of, is_anatomised
from hedgerow.kinds.records.anatomy_audit import count_rules, read_parts
from hedgerow.kinds.records.anatomy_words import rules_limits, rules_sentence
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.foresight import foresee_rules
from hedgerow.kinds.records.rules import Rule, check_rules
from hedgerow.privacy.guarantee import Criterion, Guarantee, Plain
from hedgerow.settings import read_files

#: more cases than are ever examined
_MANY = 10**15


@dataclass(frozen=True, init=False, repr=False)
class PM(Criterion):
    r"""$(p, m)$-privacy: for each rule, nobody is more than $p$ sure that a person has $m$ or more of its values [1]_.

    It is a promise about anatomised records, and about those values only that its rules name. `form` is the form of
    them that the words are for, if it is known.

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
    form: str = field(compare=False)

    def __init__(self, *, rules: Sequence[Rule | Mapping[str, Any]]) -> None:
        object.__setattr__(self, "rules", check_rules(rules))
        object.__setattr__(self, "form", "")

    @classmethod
    def from_file(cls, path: str | Path) -> PM:
        """Promise the rules of a file (TOML)."""
        return cls(**read_files({"rules": str(path)}))

    def worded_as(self, form: str) -> PM:
        """The same promise in the words for anatomised records of this form."""
        worded = PM(rules=self.rules)
        object.__setattr__(worded, "form", form)
        return worded

    def worded_for(self, outputs: Mapping[str, Dataset]) -> PM:
        """The same promise in the words for what is published."""
        return self.worded_as(form_of(cast("Records", outputs[SENSITIVE]))) if is_anatomised(outputs) else self

    def foresee(self, data: Dataset, beside: Sequence[Guarantee] = (), *, read: bool = False) -> None:
        """Refuse rules about what there is not, and warn about those that do nothing or leave nothing."""
        sizes = [part.l for part in beside if isinstance(part, LDiversity)]
        foresee_rules(cast("Records", data), self.rules, sizes[0] if sizes else None, read=read)

    def count_cases(self, outputs: Mapping[str, Dataset]) -> int:
        """Count what is examined: vertices for each rule, and the steps of exact tails where counts are listed."""
        cases = 0
        most = max(rule.m for rule in self.rules)
        for data in cast("list[Records]", list(outputs.values())):
            for table in data.tables:
                siblings = np.unique(table.parent, return_counts=True)[1].astype(np.float64)
                # numbers grow with the number of positions
                steps = float((siblings * np.minimum(siblings, most) * (1 + siblings // 1_000)).sum())
                cases += len(self.rules) * (len(table.parent) + min(int(steps), _MANY))
        return cases

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the violations, on both parts together."""
        if not is_anatomised(outputs):
            return {"data sets that are not the two parts of an anatomised release": len(outputs)}
        parts = read_parts(outputs)
        return parts.faults if any(parts.faults.values()) else parts.faults | count_rules(parts, self.rules)

    def sentence(self) -> str:
        """State the promise in words."""
        return rules_sentence(self.rules)

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover."""
        del domain
        return rules_limits(self.form)

    def fields(self) -> dict[str, Plain]:
        """The rules."""
        return {"rules": [rule.to_plain() for rule in self.rules]}
