"""The privacy statement of a release, written for its receivers, for lawyers and for engineers."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from hedgerow.data import Domain, Source
from hedgerow.privacy import Evidence, Guarantee, Verdict
from hedgerow.privacy.evidence import describe_support
from hedgerow.privacy.numbers import show


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a release: which data set it contains, how to read it, and which libraries packed it."""

    data: str
    kind: str
    file: str
    sha256: str
    format: str
    columns: dict[str, str]
    options: dict[str, str] = {}
    written_by: dict[str, str] = {}


def statement_of(
    *,
    guarantee: Guarantee,
    domain: Domain,
    declared: Collection[str],
    evidence: Evidence,
    verdict: Verdict,
    method: str,
    publishable: bool,
    reading: str,
) -> str:
    """Write the statement of a release.

    Parameters
    ----------
    declared
        The axes of the domain that were declared, even if others were taken from the data.
    reading
        How to read its files.
    """
    sections = [
        "# Privacy statement",
        "" if publishable else _NOT_FOR_PUBLICATION,
        "## What is promised",
        guarantee.sentence(),
        _unit(guarantee, domain),
        "## What is not covered",
        "\n".join(f"- {limit}" for limit in limits_of(guarantee, domain, verdict, declared)),
        _questions(evidence, guarantee),
        f"## How to read the data\n\n{reading}" if reading else "",
        f"## How it was made\n\nMethod: {method}.\n\nVerification: {verdict.checked}.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def limits_of(
    guarantee: Guarantee, domain: Domain, verdict: Verdict, declared: Collection[str] = ()
) -> tuple[str, ...]:
    """List what is not covered: the limits of the promise, of its check, of the domain and of every publication."""
    return (*guarantee.limits(domain), *verdict.assumed, _describe_domain(domain, declared), _TIME)


_NOT_FOR_PUBLICATION = (
    "**Not for publication.** The noise of this run is repeatable: anyone who knows the seed can remove it, "
    "so none of the promises below holds."
)
_DOMAIN = "The domain, that is, which values can occur, and their order:"
_DECLARED = "declared from public knowledge"
#: where a domain comes from that was not declared as a whole
_TAKEN = {
    Source.ASSERTED: "taken from the data, and the publisher asserts that {} public knowledge",
    Source.INFERRED: "taken from the data",
}
_TIME = (
    "How long the publication took and how much memory it used. Both depend on the data, and on the noise if any "
    "was drawn: anyone who could measure them may know more than the release shows."
)


def _describe_domain(domain: Domain, declared: Collection[str]) -> str:
    """Say where the domain comes from; axes that were declared are told apart from those that were not."""
    taken = [name for name, _ in domain.axes if name not in declared]
    if domain.source is Source.DECLARED or not taken:
        return f"{_DOMAIN} it was {_DECLARED}."
    if not declared:
        return f"{_DOMAIN} it was {_TAKEN[domain.source].format('it is')}."
    those = _TAKEN[domain.source].format("they are")
    return f"{_DOMAIN} those of {', '.join(taken)} were {those}; those of all other fields were {_DECLARED}."


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
        facts = "\n".join(f"- {label}: {value:,}" for label, value in evidence.notes)
        return f"## Exact numbers about this release\n\n{facts}" if facts else ""
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
