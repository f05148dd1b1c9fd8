"""What leaves: data, the promise, the evidence for it and the recipe; nothing private inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib import metadata
from typing import Any, Generic, TypeVar, cast

import msgspec

from hedgerow.data import Dataset, Domain
from hedgerow.errors import LimitExceeded, ParameterError
from hedgerow.privacy import Entry, Evidence, Guarantee, Verdict
from hedgerow.privacy.numbers import read_number
from hedgerow.privacy.parsing import from_plain
from hedgerow.statement import File, statement_of

__all__ = ["SCHEMA", "Manifest", "Recipe", "Release", "version"]

#: the version of `release.json`; another one has other fields, whatever the version of the package
SCHEMA = 2

Kind = TypeVar("Kind", bound=Dataset)

_LONGEST_LABEL = 400
_MOST_SHARE = 10**12


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
    """The content of `release.json`, in its order."""

    schema: int
    hedgerow: str
    kind: str
    for_publication: bool
    guarantee: dict[str, Any]
    method: str
    parameters: dict[str, int | float | str | bool]
    questions: tuple[_Question, ...]
    notes: dict[str, int]
    verification: _Verification
    files: tuple[File, ...]
    statement_sha256: str
    domain: dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(Generic[Kind]):
    """A publication, of data of a kind: `Release[Sets]`.

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
    version: str = field(default_factory=version)

    def __post_init__(self) -> None:
        # what no published file stands on is nobody's business
        used = {name for data in self.outputs.values() for name in data.axes}
        object.__setattr__(self, "domain", self.domain.only(used))

    def __repr__(self) -> str:
        return f"<Release of {self.kind} by {self.recipe.method}: {self.guarantee!r}>"

    @property
    def data(self) -> Kind:
        """The published data set; `outputs` has what is published beside it, by name."""
        if "" not in self.outputs:
            names = ", ".join(self.outputs)
            msg = f"this release has several data sets; take one of outputs: {names}"
            raise ParameterError(msg)
        return cast("Kind", self.outputs[""])

    @property
    def kind(self) -> str:
        """What the data is."""
        return next(iter(self.outputs.values())).kind

    def manifest(self, files: Sequence[File] = (), reading: str = "") -> Manifest:
        """Lay out everything but the data itself: its files, and how they are read."""
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
            verification=_Verification(self.verdict.satisfied, self.verdict.checked),
            files=tuple(files),
            # the statement says nothing of hashes: this one goes round in no circle
            statement_sha256=sha256(self.statement(reading).encode()).hexdigest(),
            domain=self.domain.to_plain(),
        )

    @staticmethod
    def from_manifest(
        written: Manifest,
        domain: Domain,
        outputs: Mapping[str, Dataset],
        effort: int | None = None,
    ) -> Release[Any]:
        """Put a release together again from what was written; its promise is checked again.

        Parameters
        ----------
        effort
            How many cases that may look at.
        """
        guarantee = from_plain(written.guarantee)
        for data in outputs.values():
            guarantee.require(data)
        if effort is not None and guarantee.effort(outputs) > effort:
            msg = f"to check its promise more than {effort:,} cases would have to be looked at"
            raise LimitExceeded(msg)
        _require_lines([*(asked.label for asked in written.questions), *written.notes])
        entries = tuple(
            Entry(asked.label, _share(asked.share), asked.asked, asked.mechanisms) for asked in written.questions
        )
        return Release(
            outputs=outputs,
            domain=domain,
            guarantee=guarantee,
            evidence=Evidence(entries, tuple(written.notes.items())),
            recipe=Recipe(written.method, tuple(written.parameters.items())),
            verdict=guarantee.verify(outputs),
            publishable=written.for_publication,
            version=written.hedgerow,
        )

    def to_json(self, files: Sequence[File] = (), reading: str = "") -> bytes:
        """The content of `release.json`."""
        return msgspec.json.format(msgspec.json.encode(self.manifest(files, reading))) + b"\n"

    def statement(self, reading: str = "") -> str:
        """The content of `STATEMENT.md`: the same for people, and how the files are read."""
        given = ", ".join(f"{name} = {value}" for name, value in self.recipe.parameters)
        method = f"{self.recipe.method}{f' ({given})' if given else ''}"
        return statement_of(
            guarantee=self.guarantee,
            domain=self.domain,
            evidence=self.evidence,
            verdict=self.verdict,
            made=f"{method}, Hedgerow {self.version}",
            publishable=self.publishable,
            reading=reading,
        )


def _require_lines(labels: Sequence[str]) -> None:
    """Refuse labels that would be more than a line of the statement."""
    if not all(label.isprintable() and 0 < len(label) <= _LONGEST_LABEL for label in labels):
        msg = "a label of a question or a note is no line of text"
        raise ParameterError(msg)


def _share(text: str) -> Fraction:
    share = read_number("share", text)
    if not 0 <= share <= _MOST_SHARE:
        msg = "a share of a release is out of range"
        raise ParameterError(msg)
    return share
