"""What leaves: data, the promise, the evidence for it and the recipe; nothing private inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

import msgspec

from hedgerow.data import Dataset, Domain, Source
from hedgerow.errors import ParameterError
from hedgerow.privacy import Evidence, Guarantee, PureDP, Verdict
from hedgerow.privacy.guarantee import show

__all__ = ["Recipe", "Release"]


@dataclass(frozen=True)
class Recipe:
    """How a release was made: method and parameters, all public."""

    method: str
    parameters: tuple[tuple[str, int | float | str | bool], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """A publication.

    It holds no exact count, no fingerprint, path or seed of its input; rows are in canonical
    order and numbered afresh.
    """

    outputs: Mapping[str, Dataset]
    domain: Domain
    guarantee: Guarantee
    evidence: Evidence
    recipe: Recipe
    verdict: Verdict
    publishable: bool

    @property
    def data(self) -> Any:
        """The published data set, where there is one; see `outputs` where there are several."""
        if list(self.outputs) != [""]:
            names = ", ".join(self.outputs)
            msg = f"this release has several data sets; take one of outputs: {names}"
            raise ParameterError(msg)
        return self.outputs[""]

    def to_json(self) -> bytes:
        """The content of `release.json`."""
        return msgspec.json.format(
            msgspec.json.encode(
                {
                    "hedgerow": _version(),
                    "kind": next(iter(self.outputs.values())).kind,
                    "data": list(self.outputs) if list(self.outputs) != [""] else None,
                    "for_publication": self.publishable,
                    "guarantee": {"name": self.guarantee.name, **self.guarantee.fields()},
                    "domain": self.domain.source.value,
                    "records_per_person": self.domain.records_per_person,
                    "method": self.recipe.method,
                    "parameters": dict(self.recipe.parameters),
                    "questions": [
                        {
                            "label": entry.label,
                            "share": str(entry.spend),
                            "asked": entry.questions,
                            "mechanisms": entry.mechanisms,
                        }
                        for entry in self.evidence.entries
                    ],
                    "notes": dict(self.evidence.notes),
                    "verification": {
                        "satisfied": self.verdict.satisfied,
                        "how": self.verdict.checked,
                    },
                }
            )
        )

    def statement(self) -> str:
        """The content of `STATEMENT.md`: the same for people."""
        return "\n\n".join(part for part in self._statement_parts() if part) + "\n"

    def _statement_parts(self) -> list[str]:
        return [
            "# Privacy statement",
            "" if self.publishable else _NOT_FOR_PUBLICATION,
            self.guarantee.sentence(),
            _unit(self.guarantee, self.domain),
            _DOMAIN[self.domain.source],
            _questions(self.evidence, self.guarantee),
            f"Verification: {self.verdict.checked}.",
            _method(self.recipe),
        ]


_NOT_FOR_PUBLICATION = (
    "**Not for publication.** The noise of this run is repeatable: whoever knows the seed can "
    "take it off again, so none of the promises below holds."
)

_DOMAIN = {
    Source.DECLARED: (
        "The domain (which values exist) was declared from public knowledge and is not protected."
    ),
    Source.ASSERTED: (
        "Whoever publishes asserts that the domain (which values exist) is public although it was "
        "read off the data; which values occur at all is not protected."
    ),
    Source.INFERRED: (
        "The domain (which values exist) was read off the data; which values occur at all is not "
        "protected."
    ),
}


@cache
def _version() -> str:
    return metadata.version("hedgerow")


def _unit(guarantee: Guarantee, domain: Domain) -> str:
    if not guarantee.units:
        return ""
    if "person" in guarantee.units:
        return (
            "The unit is one person with all their records; at most "
            f"{domain.records_per_person} of them were used, chosen without regard to what they "
            "hold."
        )
    return (
        f"The unit is one {guarantee.units[0]}. Whoever owns several is protected less, in "
        "proportion to their number."
    )


def _questions(evidence: Evidence, guarantee: Guarantee) -> str:
    if not evidence.entries:
        return ""
    budgets = [part.epsilon for part in guarantee.parts() if isinstance(part, PureDP)]
    of = f" of {show(budgets[0])}" if budgets else ""
    lines = [
        f"- {entry.label}: {show(entry.spend)}{of} ({', '.join(entry.mechanisms) or 'not asked'})"
        for entry in evidence.entries
    ]
    notes = [f"- {label}: {value}" for label, value in evidence.notes]
    return "Questions asked of the data, with their share of epsilon:\n\n" + "\n".join(
        lines + notes
    )


def _method(recipe: Recipe) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in recipe.parameters)
    return f"Method: {recipe.method}{f' ({given})' if given else ''}, Hedgerow {_version()}."
