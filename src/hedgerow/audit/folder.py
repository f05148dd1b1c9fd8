"""Verification of a release folder by a receiver or an auditor, from its content alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hedgerow.audit.data_files import check_data_files
from hedgerow.data import Dataset, Source
from hedgerow.errors import (
    HedgerowError,
    InputError,
    LimitExceeded,
    NotSatisfied,
    UnknownMethod,
    UnsupportedGuarantee,
    UnsupportedVersion,
)
from hedgerow.io.codec import codec_of, explain
from hedgerow.io.owners import read_owners
from hedgerow.io.release_reader import RELEASE, SIGNATURE, STATEMENT, allowed_names, open_folder, read_own_file
from hedgerow.io.signing import SIGNATURE_BYTES, is_signed
from hedgerow.privacy import Guarantee
from hedgerow.publishers import find_method
from hedgerow.publishers.base import require_support
from hedgerow.publishers.settings import configure
from hedgerow.release import SCHEMA, Manifest, Release, version

__all__ = ["verify_data", "verify_folder"]


#: what is checked of the domain of a promise that needs a public one; asserting is no proof, and the statement says so
_DOMAIN = {
    Source.DECLARED: "the domain does not come from the data",
    Source.ASSERTED: "the domain comes from the data, and the publisher asserts that it is public knowledge",
    Source.INFERRED: "the domain is public",
}


def verify_folder(
    folder: Path,
    expected: Guarantee | None = None,
    *,
    kind: str | None = None,
    key: Any = None,
    leave_out_signature: bool = False,
    trusted: bool = False,
    owners: Path | None = None,
) -> dict[str, bool | None]:
    """Verify a release folder; return each check by name, and whether it passed.

    None means that a check is not possible here: another version of Hedgerow made the release, or the check needs too
    much memory or time. It does not count as passed.

    Parameters
    ----------
    expected
        The promise that the receiver expects, if any.
    kind
        The kind of data that the receiver expects, if any.
    key
        The public key of the expected signer, if any; without it a signature cannot be checked.
    leave_out_signature
        Whether a signature that cannot be checked is no part of the result.
    trusted
        Whether the release may take any amount of memory and time.
    owners
        The file of the owners of its records, if a promise counts persons; only the owner of the data has it.
    """
    checks: dict[str, bool | None] = {}
    if key is not None:
        checks["release.json is signed by the owner of the key"] = _is_signed(folder, key)
    elif os.path.lexists(folder / SIGNATURE) and not leave_out_signature:
        checks[f"{SIGNATURE} is a signature (give --key FILE; --no-signature leaves it out of the verdict)"] = None
    try:
        release, manifest = open_folder(folder, trusted=trusted)
        statement = read_own_file(folder / STATEMENT)
    except (UnsupportedVersion, LimitExceeded) as error:
        return {**checks, f"{error}": None}
    except InputError as error:
        if not os.path.lexists(folder / RELEASE):
            raise
        return {**checks, f"the release can be read ({error})": False}
    if kind is not None:
        checks["the data is what was asked for"] = release.kind == kind
    checks |= _check_content(folder, release, manifest, statement) | _check_promise(release, expected)
    return checks | _check_persons(release, owners)


def _check_content(folder: Path, release: Release[Any], manifest: Manifest, statement: bytes) -> dict[str, bool | None]:
    """Check the files of the folder; its data was read before, so it is what `release.json` names."""
    checks: dict[str, bool | None] = {
        "the files are those that were published": (sha256(statement).hexdigest() == manifest.statement_sha256),
        "the data can be read, and is within the domain": True,
        "nothing else is in the folder": _has_only_release_files(folder, manifest),
        "it is for publication": release.publishable,
    }
    if manifest.hedgerow != version():  # its order and its wording may differ
        made_by = f"it was made by Hedgerow {manifest.hedgerow}, and this is {version()}"
        return {**checks, f"{made_by}: verify it with that version": None}
    if manifest.schema != SCHEMA:
        older = f"it was made with version {manifest.schema} of {RELEASE}, and this Hedgerow writes version {SCHEMA}"
        return {**checks, f"{older}: whether it is as it was written cannot be checked": None}
    reading = explain(manifest.files)
    numbered = any(codec_of(file.kind).keeps_order(file.options) for file in manifest.files)
    order = "records are in the order of the original, as stated" if numbered else "the order of records says nothing"
    return checks | {
        **check_data_files(folder, release, manifest, order),
        "release.json holds what it should and nothing else": (
            read_own_file(folder / RELEASE, None) == release.to_json(manifest.files, reading)
        ),
        "the statement says what release.json says": (statement == release.statement(reading).encode()),
        **_check_method(release),
    }


def _check_method(release: Release[Any]) -> dict[str, bool | None]:
    """Check that the method could have made the release: its parameters, kind, promise, unit and questions."""
    check = "method, parameters, kind, promise and questions go together"
    try:
        method = configure(find_method(release.recipe.method), dict(release.recipe.parameters))
        require_support(method, next(iter(release.outputs.values())), release.guarantee)
    except UnknownMethod:
        return {"the method is not one of this installation: its words cannot be checked": None}
    except HedgerowError:
        return {check: False}
    has_questions = bool(release.evidence.entries) == (release.guarantee.budget is not None)
    units = [*release.guarantee.units, *(part.fields().get("unit") for part in release.guarantee.parts())]
    has_limit = "person" not in units or release.domain.records_per_person
    return {check: has_questions and bool(has_limit)}


def _has_only_release_files(folder: Path, manifest: Manifest) -> bool:
    """Whether the folder has exactly the files of a release, and the signature the size of a signature."""
    names = {path.name for path in folder.iterdir()}
    if SIGNATURE in names:
        signature = (folder / SIGNATURE).lstat()
        if not stat.S_ISREG(signature.st_mode) or signature.st_size != SIGNATURE_BYTES:
            return False
    return names | {SIGNATURE} == allowed_names(manifest)


def _check_promise(release: Release[Any], expected: Guarantee | None) -> dict[str, bool | None]:
    checks: dict[str, bool | None] = {f"{release.guarantee.name}: {release.verdict.checked}": release.verdict.satisfied}
    budget = release.guarantee.budget
    if budget is not None:
        checks["the questions spend no more than the promise"] = release.evidence.total() <= budget
    if release.guarantee.needs_public_domain:
        source = release.domain.source
        checks[_DOMAIN[source]] = source is not Source.INFERRED
    if expected is not None:
        checks["the promise is the one asked for"] = release.guarantee == expected
    return checks


def _check_persons(release: Release[Any], owners: Path | None) -> dict[str, bool | None]:
    """Check a promise about persons, which takes the owners of the records; without them it cannot be checked."""
    unchecked = release.guarantee.unchecked(release.domain)
    if owners is None:
        return (
            {f"{unchecked}, which are not published (the publisher has them: --owners FILE)": None} if unchecked else {}
        )
    known = {name: read_owners(owners, name, data.count_units(data.units[0])) for name, data in release.outputs.items()}
    verdict = release.guarantee.verify_owners(release.outputs, known)
    if verdict is None:
        return {}
    failures = f" ({verdict.failures})" if verdict.failures else ""
    return {f"{verdict.checked}{failures}": verdict.satisfied}


def _is_signed(folder: Path, key: Any) -> bool:
    try:
        signature = read_own_file(folder / SIGNATURE, SIGNATURE_BYTES)
        return is_signed(key, signature, read_own_file(folder / RELEASE, None))
    except InputError:
        return False


def verify_data(data: Dataset, guarantee: Guarantee) -> Mapping[str, int]:
    """Verify a promise on data, if that is possible, and return the violations; warn about rarely intended values."""
    if not guarantee.verifiable_from_data:
        msg = (
            f"{guarantee.name} is a promise about how data was made and cannot be verified from a file; "
            "verify the release folder"
        )
        raise UnsupportedGuarantee(msg)
    guarantee = guarantee.about(data)
    guarantee.require(data)
    guarantee.require_records(data)
    guarantee.warn_about(data)
    verdict = guarantee.verify({"": data})
    if not verdict.satisfied:
        msg = f"{guarantee.name} is not satisfied: {verdict.failures}"
        raise NotSatisfied(msg)
    return verdict.violations
