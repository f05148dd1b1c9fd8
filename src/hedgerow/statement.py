"""The privacy statement: what a receiver, a lawyer and an engineer read."""

from __future__ import annotations

import msgspec

from hedgerow.data import Domain, Source
from hedgerow.privacy import Evidence, Guarantee, Verdict
from hedgerow.privacy.numbers import show

__all__ = ["File", "limits_of", "statement_of"]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a release: which data set it holds, and how it is read."""

    data: str
    kind: str
    file: str
    sha256: str
    format: str
    columns: dict[str, str]
    options: dict[str, str] = {}


def statement_of(
    *,
    guarantee: Guarantee,
    domain: Domain,
    evidence: Evidence,
    verdict: Verdict,
    made: str,
    publishable: bool,
    reading: str,
) -> str:
    """Write the statement of a release; `reading` says how its files are read."""
    sections = [
        "# Privacy statement",
        "" if publishable else _NOT_FOR_PUBLICATION,
        "## What is promised",
        guarantee.sentence(),
        _unit(guarantee, domain),
        "## What is not covered",
        "\n".join(f"- {limit}" for limit in limits_of(guarantee, domain)),
        _questions(evidence, guarantee),
        f"## How to read the data\n\n{reading}" if reading else "",
        f"## How it was made\n\nMethod: {made}.\n\nVerification: {verdict.checked}.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def limits_of(guarantee: Guarantee, domain: Domain) -> tuple[str, ...]:
    """Say what is not covered: by the promise, by the domain, by anything we do."""
    return (*guarantee.limits(domain), _DOMAIN[domain.source], _TIME)


_NOT_FOR_PUBLICATION = (
    "**Not for publication.** The noise of this run is repeatable: whoever knows the seed can "
    "take it off again, so none of the promises below holds."
)

_DOMAIN = {
    Source.DECLARED: ("Which values exist at all (the domain): it was declared from public knowledge."),
    Source.ASSERTED: (
        "Which values exist at all (the domain): it was read off the data, and whoever publishes "
        "asserts that it is public knowledge."
    ),
    Source.INFERRED: ("Which values exist at all (the domain): it was read off the data."),
}

_TIME = (
    "How long the publication took and how much memory it used. Both depend on the data and on the "
    "noise: whoever could measure them may know more than the release tells."
)


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
        f"The unit is one {guarantee.units[0]}. Whoever owns several is protected less, in proportion to their number."
    )


def _questions(evidence: Evidence, guarantee: Guarantee) -> str:
    if not evidence.entries:
        return ""
    of = "" if guarantee.budget is None else f" of {show(guarantee.budget)}"
    lines = [
        f"- {entry.label}: {show(entry.spend)}{of} ({', '.join(entry.mechanisms) or 'not asked'})"
        for entry in evidence.entries
    ]
    listed = "\n".join(lines)
    asked = f"## Questions asked of the data, with their share of epsilon\n\n{listed}"
    if not evidence.notes:
        return asked
    notes = "\n".join(f"- {label}: {value:,}" for label, value in evidence.notes)
    return f"{asked}\n\n## How far the answers go\n\n{notes}"
