"""Check a release folder as a receiver, or an auditor, would: by what it holds and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import metadata
from pathlib import Path

import polars as pl

from hedgerow.data import Dataset
from hedgerow.errors import InputError, NotSatisfied, UnsupportedGuarantee
from hedgerow.io.files import ending_of, read_bytes
from hedgerow.io.folder import open_folder
from hedgerow.io.read import any_kind, format_of
from hedgerow.privacy import Guarantee, PureDP
from hedgerow.release import Release, Written
from hedgerow.statement import File

__all__ = ["verify_data", "verify_folder"]


def verify_folder(folder: Path, expected: Guarantee | None = None) -> dict[str, bool]:
    """Check a release folder; each check by name, and whether it passed.

    Parameters
    ----------
    expected
        The promise the receiver was told, if any.
    """
    try:
        release, held = open_folder(folder)
        statement = read_bytes(folder / "STATEMENT.md").decode(errors="replace")
    except InputError as error:
        if not (folder / "release.json").is_file():
            raise
        return {f"the release can be read ({error})": False}
    names = {"release.json", "STATEMENT.md", *(file.file for file in held.files)}
    checks = {
        "the data can be read, and is within the domain": True,
        "the order of records says nothing": all(
            _is_canonical(folder / file.file, release.outputs[file.data], file)
            for file in held.files
        ),
        "release.json holds what it should and nothing else": _says_itself(folder, release, held),
        "the statement says what release.json says": _is_stated(statement, release, held),
        "nothing else is in the folder": {path.name for path in folder.iterdir()} == names,
        "it is for publication": release.publishable,
        f"{release.guarantee.name}: {release.verdict.checked}": release.verdict.satisfied,
    }
    budgets = [part.epsilon for part in release.guarantee.parts() if isinstance(part, PureDP)]
    if budgets:
        spent = sum((entry.spend for entry in release.evidence.entries), Fraction(0))
        checks["the questions spend no more than the promise"] = spent <= sum(budgets)
    if expected is not None:
        checks["the promise is the one asked for"] = release.guarantee == expected
    return checks


def verify_data(data: Dataset, guarantee: Guarantee) -> Mapping[str, int]:
    """Count what breaks a promise in data; differential privacy cannot be seen in data."""
    if any(isinstance(part, PureDP) for part in guarantee.parts()):
        msg = (
            "differential privacy is a promise about how data was made and cannot be seen in a "
            "file; verify the release folder"
        )
        raise UnsupportedGuarantee(msg)
    verdict = guarantee.verify({"": data})
    if not verdict.satisfied:
        broken = ", ".join(
            f"{number} x {what}" for what, number in verdict.violations.items() if number
        )
        msg = f"{guarantee.name} is not satisfied: {broken}"
        raise NotSatisfied(msg)
    return verdict.violations


def _is_canonical(path: Path, data: Dataset, file: File) -> bool:
    """Whether the file holds just what we would write for its data."""
    _, layout = format_of(file.format, ending_of(path))
    wanted, there = layout.write(any_kind(data.kind).rows(data), file.columns), read_bytes(path)
    if wanted != there and file.format == "parquet":
        # another version of the library packs the same table into other bytes
        return pl.read_parquet(wanted).equals(pl.read_parquet(there))
    return wanted == there


def _says_itself(folder: Path, release: Release, held: Written) -> bool:
    if held.hedgerow != metadata.version("hedgerow"):
        return held.verification.satisfied  # another version may order or word it otherwise
    return read_bytes(folder / "release.json") == release.to_json(held.files)


def _is_stated(statement: str, release: Release, held: Written) -> bool:
    if held.hedgerow != metadata.version("hedgerow"):
        return release.guarantee.sentence() in statement
    return statement == release.statement(held.files)
