"""Check a release folder as a receiver, or an auditor, would: by what it holds and nothing else."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

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
from hedgerow.io.files import UNLIMITED, is_plainly_packed, read_bytes
from hedgerow.io.opening import RELEASE, SIGNATURE, STATEMENT, names_of, open_folder, own_bytes
from hedgerow.io.parquet import read_table
from hedgerow.io.signing import SIGNATURE_BYTES, is_signed
from hedgerow.privacy import Guarantee
from hedgerow.publishers import find_method
from hedgerow.publishers.base import require_support
from hedgerow.publishers.settings import configure
from hedgerow.release import Manifest, Release, version
from hedgerow.statement import File

__all__ = ["verify_data", "verify_folder"]


def verify_folder(
    folder: Path,
    expected: Guarantee | None = None,
    *,
    kind: str | None = None,
    key: Any = None,
    trusted: bool = False,
) -> dict[str, bool | None]:
    """Check a release folder; each check by name, and whether it passed.

    None stands for what cannot be checked here: another version of Hedgerow made it, and what that
    version writes is not known to this one; or it asks for too much. That is no yes.

    Parameters
    ----------
    expected
        The promise the receiver was told, if any.
    kind
        What the receiver was told the data is, if anything.
    key
        The public key of whoever is said to have signed it, if any.
    trusted
        Whether it may take as much memory and time as it asks for.
    """
    checks: dict[str, bool | None] = {}
    if key is not None:
        checks["release.json is signed by the owner of the key"] = _is_signed(folder, key)
    try:
        release, written = open_folder(folder, trusted=trusted)
        statement = own_bytes(folder / STATEMENT)
    except (UnsupportedVersion, LimitExceeded) as error:
        return {**checks, f"{error}": None}
    except InputError as error:
        if not os.path.lexists(folder / RELEASE):
            raise
        return {**checks, f"the release can be read ({error})": False}
    if kind is not None:
        checks["the data is what was asked for"] = release.kind == kind
    return checks | _checked(folder, release, written, statement) | _promised(release, expected)


def _checked(folder: Path, release: Release[Any], written: Manifest, statement: bytes) -> dict[str, bool | None]:
    """Check what the folder holds; its data was read, and so it is what `release.json` names."""
    checks: dict[str, bool | None] = {
        "the files are those that were published": (sha256(statement).hexdigest() == written.statement_sha256),
        "the data can be read, and is within the domain": True,
        "nothing else is in the folder": _is_alone(folder, written),
        "it is for publication": release.publishable,
    }
    if written.hedgerow != version():  # it may order or word it otherwise
        made = f"it was made by Hedgerow {written.hedgerow}, and this is {version()}"
        return {**checks, f"{made}: verify it with that version": None}
    reading = explain(written.files)
    return checks | {
        "the order of records says nothing": all(
            _is_canonical(folder / file.file, release.outputs[file.data], file) for file in written.files
        ),
        "release.json holds what it should and nothing else": (
            own_bytes(folder / RELEASE, None) == release.to_json(written.files, reading)
        ),
        "the statement says what release.json says": (statement == release.statement(reading).encode()),
        **_made(release),
    }


def _made(release: Release[Any]) -> dict[str, bool | None]:
    """Check that the method can have made it: its parameters, kind, promise, unit and questions."""
    what = "method, parameters, kind, promise and questions go together"
    try:
        method = configure(find_method(release.recipe.method), dict(release.recipe.parameters))
        require_support(method, next(iter(release.outputs.values())), release.guarantee)
    except UnknownMethod:
        return {"the method is not one of this installation: its words cannot be checked": None}
    except HedgerowError:
        return {what: False}
    asked = bool(release.evidence.entries) == (release.guarantee.budget is not None)
    owners = "person" not in release.guarantee.units or release.domain.records_per_person
    return {what: asked and bool(owners)}


def _is_alone(folder: Path, written: Manifest) -> bool:
    """Whether there are just the files of a release, and a signature is nothing but one."""
    there = {path.name for path in folder.iterdir()}
    if SIGNATURE in there:
        signature = (folder / SIGNATURE).lstat()
        if not stat.S_ISREG(signature.st_mode) or signature.st_size != SIGNATURE_BYTES:
            return False
    return there | {SIGNATURE} == names_of(written)


def _promised(release: Release[Any], expected: Guarantee | None) -> dict[str, bool | None]:
    checks: dict[str, bool | None] = {f"{release.guarantee.name}: {release.verdict.checked}": release.verdict.satisfied}
    budget = release.guarantee.budget
    if budget is not None:
        checks["the questions spend no more than the promise"] = release.evidence.total() <= budget
    if release.guarantee.needs_public_domain:
        public = release.domain.source is not Source.INFERRED
        checks["the domain does not come from the data"] = public
    if expected is not None:
        checks["the promise is the one asked for"] = release.guarantee == expected
    return checks


def _is_signed(folder: Path, key: Any) -> bool:
    try:
        signature = own_bytes(folder / SIGNATURE, SIGNATURE_BYTES)
        return is_signed(key, signature, own_bytes(folder / RELEASE, None))
    except InputError:
        return False


def verify_data(data: Dataset, guarantee: Guarantee) -> Mapping[str, int]:
    """Count what breaks a promise in data, if it can be seen there; warn of what is seldom meant."""
    if not guarantee.verifiable_from_data:
        msg = (
            f"{guarantee.name} is a promise about how data was made and cannot be seen in a file; "
            "verify the release folder"
        )
        raise UnsupportedGuarantee(msg)
    guarantee.require(data)
    guarantee.warn_about(data)
    verdict = guarantee.verify({"": data})
    if not verdict.satisfied:
        msg = f"{guarantee.name} is not satisfied: {verdict.failures}"
        raise NotSatisfied(msg)
    return verdict.violations


def _is_canonical(path: Path, data: Dataset, file: File) -> bool:
    """Whether the file holds just what we would write for its data."""
    wanted = codec_of(data.kind).write(data, file.format, file.columns)
    there = read_bytes(path, most=UNLIMITED)  # it was read before, within its limit
    if not is_plainly_packed(path):
        return False
    if wanted != there and file.format == "parquet":
        # another version of the library packs the same table into other bytes
        return read_table(wanted).equals(read_table(there))
    return wanted == there
