"""Distortion: no formal promise at all, stated so that nobody mistakes it for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data import Dataset, Domain
from hedgerow.errors import NotSatisfied
from hedgerow.kind_registry import find_kind
from hedgerow.privacy.guarantee import Guarantee, Plain, Verdict
from hedgerow.promises import PROMISES

#: how many units of each kind there must be: what is distorted is hidden among others
_LEAST = {"matrices": ("row", 2), "graphs": ("edge", 1)}


@dataclass(frozen=True, repr=False)
class Distortion(Guarantee):
    """The numbers were changed, and nothing is promised about what can be concluded from them.

    Examples
    --------
    >>> Distortion().sentence()[:20]
    'Nothing is promised.'
    """

    name: ClassVar[str] = "Distortion"
    kinds: ClassVar[tuple[str, ...]] = PROMISES[name].kinds

    @property
    def verifiable_from_data(self) -> bool:
        """Never: a file that is not told apart from the original must not be called verified."""
        return False

    def require_records(self, data: Dataset) -> None:
        """Refuse fewer rows or edges than a method can distort."""
        unit, least = _LEAST[data.kind]
        count = data.count_units(unit)
        if count < least:
            needed = f"{least} {unit}{'s' if least > 1 else ''}"
            msg = f"a distorted release needs at least {needed}; got {count}; nothing was released"
            raise NotSatisfied(msg)

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Report no violation, since nothing is promised; name what is known to undo the methods of each kind."""
        kinds = dict.fromkeys(data.kind for data in outputs.values())
        known = tuple(attack for kind in kinds for attack in find_kind(kind).module("known_attacks").ATTACKS)
        return Verdict("nothing is promised, so there was nothing to verify", {}, known)

    def sentence(self) -> str:
        """State that there is no promise."""
        return (
            "Nothing is promised. The numbers were distorted, and there is no formal guarantee: neither differential "
            "privacy nor k-anonymity. Methods of this family have been broken on public data, as listed below. Treat "
            "the release as you would treat the original."
        )

    def fields(self) -> dict[str, Plain]:
        """None: there is nothing to choose."""
        return {}

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """None of its own: the attacks that are known are those of the kind."""
        del domain
        return ()
