"""The privacy statement of a release, written for its receivers, for lawyers and for engineers."""

from __future__ import annotations

import msgspec

from hedgerow.data import Domain, Source
from hedgerow.privacy import Evidence, Guarantee, Verdict
from hedgerow.privacy.numbers import show
from hedgerow.privacy.support import describe_support

__all__ = ["File", "limits_of", "statement_of"]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a release: which data set it contains, and how to read it."""

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
    method: str,
    publishable: bool,
    reading: str,
) -> str:
    """Write the statement of a release; `reading` explains how to read its files."""
    sections = [
        "# Privacy statement",
        "" if publishable else _NOT_FOR_PUBLICATION,
        "## What is promised",
        guarantee.sentence(),
        _unit(guarantee, domain),
        "## What is not covered",
        "\n".join(f"- {limit}" for limit in limits_of(guarantee, domain, verdict)),
        _questions(evidence, guarantee),
        f"## How to read the data\n\n{reading}" if reading else "",
        f"## How it was made\n\nMethod: {method}.\n\nVerification: {verdict.checked}.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def limits_of(guarantee: Guarantee, domain: Domain, verdict: Verdict) -> tuple[str, ...]:
    """List what is not covered: the limits of the promise, of its check, of the domain and of every publication."""
    return (*guarantee.limits(domain), *verdict.assumed, _DOMAIN[domain.source], _TIME)


_NOT_FOR_PUBLICATION = (
    "**Not for publication.** The noise of this run is repeatable: anyone who knows the seed can remove it, "
    "so none of the promises below holds."
)

_DOMAIN = {
    Source.DECLARED: (
        "The domain, that is, which values can occur, and their order: it was declared from public knowledge."
    ),
    Source.ASSERTED: (
        "The domain, that is, which values can occur, and their order: it was taken from the data, and the publisher "
        "asserts that it is public knowledge."
    ),
    Source.INFERRED: "The domain, that is, which values can occur, and their order: it was taken from the data.",
}

_TIME = (
    "How long the publication took and how much memory it used. Both depend on the data, and on the noise if any "
    "was drawn: anyone who could measure them may know more than the release shows."
)


def _unit(guarantee: Guarantee, domain: Domain) -> str:
    if not guarantee.units:
        return ""
    if "person" in guarantee.units:
        return (
            "The unit of protection is one person with all of their records. At most "
            f"{domain.records_per_person} records per person were used, chosen without regard to their content."
        )
    return (
        f"The unit of protection is one {guarantee.units[0]}. A person with more than one is protected less, in "
        "proportion to their number."
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
    questions = f"## Questions asked of the data, with their share of {guarantee.budget_name}\n\n{listed}"
    if evidence.support:
        questions = f"{questions}\n\n{describe_support(evidence.support)}"
    if not evidence.notes:
        return questions
    notes = "\n".join(f"- {label}: {value:,}" for label, value in evidence.notes)
    return f"{questions}\n\n## Notes on the answers\n\n{notes}"
