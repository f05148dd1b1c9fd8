"""A release: published data, its promise, the evidence for it and the recipe.

What is written contains nothing private. Only where a promise counts persons, the release in memory knows the owners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib import import_module, metadata
from typing import Any, Generic, TypeVar, cast

import msgspec

from hedgerow.data import Dataset, Domain
from hedgerow.errors import LimitExceeded, ParameterError
from hedgerow.privacy import Entry, Evidence, Guarantee, Verdict
from hedgerow.privacy.evidence import Support, describe_support
from hedgerow.privacy.guarantee import Owners
from hedgerow.privacy.numbers import read_number
from hedgerow.privacy.parsing import from_plain
from hedgerow.score import CountEstimate
from hedgerow.statement import File, statement_of

#: the version of the fields of `release.json`, independent of the version of the package
SCHEMA = 4
#: the oldest version that is read: a field that is added later has a default, and one that is changed is read as it was
OLDEST_SCHEMA = 3
Kind = TypeVar("Kind", bound=Dataset)
_LONGEST_LABEL = 400
_LARGEST_SHARE = 10**12
#: below this share of counts above their noise, a release rests on noise
_LEAST_SUPPORT = 0.05


@cache
def version() -> str:
    """The version of this Hedgerow."""
    return metadata.version("hedgerow")


@dataclass(frozen=True)
class Recipe:
    """How a release was made: method and parameters, all public."""

    method: str
    parameters: tuple[tuple[str, int | float | str | bool], ...]


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: str
    share: str
    asked: tuple[str, ...]
    mechanisms: tuple[str, ...]


class _Verification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    satisfied: bool
    how: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `release.json`, with its fields in order."""

    schema: int
    hedgerow: str
    kind: str
    for_publication: bool
    guarantee: dict[str, Any]
    method: str
    parameters: dict[str, int | float | str | bool]
    questions: tuple[_Question, ...]
    notes: dict[str, int]
    support: dict[str, float]
    verification: _Verification
    files: tuple[File, ...]
    statement_sha256: str
    domain: dict[str, Any]


def _no_owners() -> Owners:
    return {}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(Generic[Kind]):
    """A publication of data of one kind, such as `Release[Sets]`.

    It contains no exact count, fingerprint, path or seed of its input. Rows are in canonical order and newly
    numbered.
    """

    outputs: Mapping[str, Dataset]
    domain: Domain
    guarantee: Guarantee
    #: the evidence as it is now: more is added while data is made that comes in slices
    evidence_so_far: Callable[[], Evidence]
    recipe: Recipe
    verdict: Verdict
    publishable: bool
    version: str = field(default_factory=version)
    #: the owner of each record, if the promise counts persons: for a file of the owner, and never written to the folder
    owners: Owners = field(default_factory=_no_owners)

    def __post_init__(self) -> None:
        # axes that no published file uses are not published
        used = {name for data in self.outputs.values() for name in data.axes}
        object.__setattr__(self, "domain", self.domain.only(used))

    def __repr__(self) -> str:
        return f"<Release of {self.kind} by {self.recipe.method}: {self.guarantee!r}>"

    @property
    def data(self) -> Kind:
        """The main published data set; `outputs` has all of them by name."""
        if "" not in self.outputs:
            names = ", ".join(self.outputs)
            msg = f"this release has several data sets; take one of outputs: {names}"
            raise ParameterError(msg)
        return cast("Kind", self.outputs[""])

    @property
    def promise(self) -> Guarantee:
        """The guarantee in the words for what is published."""
        return self.guarantee.worded_for(self.outputs)

    @property
    def declared_axes(self) -> frozenset[str]:
        """The axes of the domain that were declared, whatever its source is."""
        return frozenset(name for data in self.outputs.values() for name in data.declared_axes)

    @property
    def evidence(self) -> Evidence:
        """The questions asked of the data, with their shares."""
        return self.evidence_so_far()

    @property
    def comes_in_slices(self) -> bool:
        """Whether its data is made while it is read or written, once."""
        return any(output.comes_in_slices for output in self.outputs.values())

    @property
    def kind(self) -> str:
        """The kind of the data, such as `sets`."""
        return next(iter(self.outputs.values())).kind

    def describe_use(self) -> str:
        """Say in one sentence what this release is of no use for, or how far it rests on its data."""
        if self.is_empty() and self.comes_in_slices:
            return "The release is empty: the stream ended before anything was due."
        if self.is_empty():
            return "The release is empty: the promise leaves nothing to publish."
        if self.is_noise():
            return "The release rests on noise: hardly any answer is above it."
        return describe_support(self.evidence.support)

    def is_empty(self) -> bool:
        """Whether nothing is published."""
        return all(output.is_empty() for output in self.outputs.values())

    def is_noise(self) -> bool:
        """Whether questions were asked and hardly any answer is above its noise, or the data says so itself."""
        support = self.evidence.support
        hidden = bool(support) and all(each.share < _LEAST_SUPPORT for each in support)
        return hidden or any(output.rests_on_noise() for output in self.outputs.values())

    def query(self, where: Sequence[str] = (), *, count: str = "record", seed: int | None = None) -> CountEstimate:
        """Estimate how many records, or vertices of a type, have what is asked for; see `hedgerow.querying.query`."""
        # found by its name when it is asked for: kinds, and what draws worlds, are above this module
        return import_module("hedgerow.querying").query(self, where, count=count, seed=seed)

    def manifest(self, files: Sequence[File] = (), reading: str = "") -> Manifest:
        """Describe the release for `release.json`: everything but the data itself."""
        questions = (
            _Question(entry.label, str(entry.spend), entry.questions, entry.mechanisms)
            for entry in self.evidence.entries
        )
        return Manifest(
            schema=SCHEMA,
            hedgerow=self.version,
            kind=self.kind,
            for_publication=self.publishable,
            guarantee=self.guarantee.to_plain(),
            method=self.recipe.method,
            parameters=dict(self.recipe.parameters),
            questions=tuple(questions),
            notes=dict(self.evidence.notes),
            support={each.label: each.share for each in self.evidence.support},
            verification=_Verification(self.verdict.satisfied, self.verdict.checked),
            files=tuple(files),
            # the statement contains no hashes, so hashing it here is not circular
            statement_sha256=sha256(self.statement(reading).encode()).hexdigest(),
            domain=self.domain.to_plain(),
        )

    @staticmethod
    def from_manifest(
        manifest: Manifest,
        domain: Domain,
        outputs: Mapping[str, Dataset],
        most_cases: int | None = None,
    ) -> Release[Any]:
        """Rebuild a release from its manifest and its data; the promise is verified anew.

        Parameters
        ----------
        most_cases
            How many cases the verification may examine; None for any number.
        """
        guarantee = from_plain(manifest.guarantee)
        for data in outputs.values():
            guarantee.require(data)
        if most_cases is not None and guarantee.count_cases(outputs) > most_cases:
            msg = f"verifying its promise would take more than {most_cases:,} cases"
            raise LimitExceeded(msg)
        _require_lines([*(question.label for question in manifest.questions), *manifest.notes, *manifest.support])
        support = tuple(Support(label, _read_support(share)) for label, share in manifest.support.items())
        entries = tuple(
            Entry(question.label, _read_share(question.share), question.asked, question.mechanisms)
            for question in manifest.questions
        )
        evidence = Evidence(entries, tuple(manifest.notes.items()), support)
        return Release(
            outputs=outputs,
            domain=domain,
            guarantee=guarantee,
            evidence_so_far=lambda: evidence,
            recipe=Recipe(manifest.method, tuple(manifest.parameters.items())),
            verdict=guarantee.verify(outputs),
            publishable=manifest.for_publication,
            version=manifest.hedgerow,
        )

    def to_json(self, files: Sequence[File] = (), reading: str = "") -> bytes:
        """The content of `release.json`."""
        return msgspec.json.format(msgspec.json.encode(self.manifest(files, reading))) + b"\n"

    def statement(self, reading: str = "") -> str:
        """The content of `STATEMENT.md`: the same in words, with how to read the files."""
        parameters = ", ".join(f"{name} = {value}" for name, value in self.recipe.parameters)
        method = f"{self.recipe.method}{f' ({parameters})' if parameters else ''}"
        return statement_of(
            guarantee=self.promise,
            domain=self.domain,
            declared=self.declared_axes,
            evidence=self.evidence,
            verdict=self.verdict,
            method=f"{method}, Hedgerow {self.version}",
            publishable=self.publishable,
            reading=reading,
        )


def _require_lines(labels: Sequence[str]) -> None:
    """Refuse labels that do not fit into one line of the statement."""
    if not all(label.isprintable() and 0 < len(label) <= _LONGEST_LABEL for label in labels):
        msg = "a label of a question or of a note is not one line of text"
        raise ParameterError(msg)


def _read_share(text: str) -> Fraction:
    share = read_number("share", text)
    if not 0 <= share <= _LARGEST_SHARE:
        msg = "a share of a release is out of range"
        raise ParameterError(msg)
    return share


def _read_support(share: float) -> float:
    if not 0 <= share <= 1:
        msg = "a share of counts above their noise is not between 0 and 1"
        raise ParameterError(msg)
    return share
