"""Verification by a receiver or an auditor: of a release folder from its content alone, or of one data file."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections import deque
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

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
from hedgerow.formats.codec import codec_of, explain
from hedgerow.formats.files import UNLIMITED, ending_of, hash_parts, is_plainly_compressed, read_bytes, read_chunks
from hedgerow.formats.packing import libraries_of, pack
from hedgerow.formats.parquet import is_same_table
from hedgerow.formats.parquet_pages import describe_foreign
from hedgerow.methods import find_method
from hedgerow.privacy import Guarantee
from hedgerow.publisher import require_support
from hedgerow.release import SCHEMA, Manifest, Release, version
from hedgerow.releases.owner_files import read_owners
from hedgerow.releases.reader import RELEASE, SIGNATURE, STATEMENT, allowed_names, open_folder, read_own_file
from hedgerow.releases.signing import SIGNATURE_BYTES, is_signed
from hedgerow.settings import configure
from hedgerow.statement import File

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


# The data files hold their data, in the order that says nothing, and no other byte.

#: by itself it does not determine the bytes: systems build it with changes, under the same version
_BUILT_DIFFERENTLY = "zlib"


class _Comparison(NamedTuple):
    """Whether a file has the content that we write, and nothing else; None if that cannot be told, and why."""

    same: bool
    alone: bool | None = True
    why: str = ""


def check_data_files(folder: Path, release: Release[Any], manifest: Manifest, order: str) -> dict[str, bool | None]:
    """Compare the data files with what we write for their data; `order` is the name of the check of the content.

    The bytes of a data file are a function of its content and of the libraries that packed it (`formats/packing.py`).
    So the data is written again: if that gives the file, there is nothing else in it. If not, the content is compared
    without its packing, and the file is searched for what no version of a library writes. What is left cannot be told
    from what another version of a library would have written: the check is not possible here.
    """
    compared = {file.file: _compare(folder / file.file, release.outputs[file.data], file) for file in manifest.files}
    checks: dict[str, bool | None] = {order: all(each.same for each in compared.values())}
    others = {
        f"{name} holds nothing but its data: {each.why}": each.alone for name, each in compared.items() if each.why
    }
    return checks | (others or {"the files hold nothing but the data": checks[order]})


def _compare(path: Path, data: Dataset, file: File) -> _Comparison:
    compression = ending_of(path).compression
    packed = pack(data, file.format, file.columns, compression)
    deque(packed.parts, maxlen=0)  # take them all, keep none
    if packed.digest.hexdigest() == file.sha256:  # which was compared with the file before
        return _Comparison(same=True)
    if not is_plainly_compressed(path):
        return _Comparison(same=True, alone=False, why="it has a head or a part that Hedgerow does not write")
    # it was read before, within its limit
    if packed.content.digest() != hash_parts(read_chunks(path, most=UNLIMITED)).digest():
        if file.format not in _COMPARED:
            return _Comparison(same=False)
        ours, theirs = codec_of(data.kind).write(data, file.format, file.columns), read_bytes(path, most=UNLIMITED)
        same, foreign = _COMPARED[file.format](theirs, ours)
        if not same or foreign:
            return _Comparison(same, alone=False, why=foreign)
    return _judge(file, libraries_of(file.kind, file.format, compression))


def _judge(file: File, here: dict[str, str]) -> _Comparison:
    """Judge a file of which only the packing is not ours: another version of a library may have written it."""
    by, own = (", ".join(f"{name} {version}" for name, version in each.items()) for each in (file.written_by, here))
    if file.written_by != here:
        why = f"it was written by {by}, and what is here, {own}, writes other bytes: verify it with those versions"
        return _Comparison(same=True, alone=None, why=why)
    if _BUILT_DIFFERENTLY in here:
        return _Comparison(same=True, alone=None, why=f"its bytes are not those that {own}, writes as it is built here")
    return _Comparison(same=True, alone=False, why=f"its bytes are not those that {own} writes")


def _compare_tables(content: bytes, ours: bytes) -> tuple[bool, str]:
    """Whether a Parquet file has our table, and what else it has."""
    same = is_same_table(content, ours)
    return same, describe_foreign(content, ours) if same else ""


def _compare_archives(content: bytes, ours: bytes) -> tuple[bool, str]:
    """Whether a zip archive has our members, and what else it has."""
    with zipfile.ZipFile(io.BytesIO(content)) as theirs, zipfile.ZipFile(io.BytesIO(ours)) as own:
        members, known = theirs.infolist(), own.infolist()
        same = [(each.filename, theirs.read(each)) for each in members] == [
            (each.filename, own.read(each)) for each in known
        ]
        heads = [[(each.date_time, each.flag_bits, each.external_attr) for each in some] for some in (members, known)]
        # the size of an archive without comments, extra fields, and gaps between its members
        size = 22 + sum(76 + 2 * len(each.filename.encode()) + each.compress_size for each in members)
    plain = heads[0] == heads[1] and size == len(content)
    return same, "" if plain or not same else "the archive has parts that Hedgerow does not write"


#: how the content of a format is compared that a library packs
_COMPARED: dict[str, Callable[[bytes, bytes], tuple[bool, str]]] = {
    "parquet": _compare_tables,
    "zip": _compare_archives,
}
