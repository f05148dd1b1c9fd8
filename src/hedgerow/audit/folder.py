"""Check a release folder as a receiver, or an auditor, would: by what it holds and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from hedgerow.data import Dataset
from hedgerow.errors import NotSatisfied, UnsupportedGuarantee
from hedgerow.io.files import ending_of, read_bytes
from hedgerow.io.folder import open_folder
from hedgerow.io.read import KINDS, format_of
from hedgerow.privacy import Guarantee, PureDP

__all__ = ["verify_data", "verify_folder"]


def verify_folder(folder: Path, expected: Guarantee | None = None) -> dict[str, bool]:
    """Check a release folder; each check by name, and whether it passed.

    Parameters
    ----------
    expected
        The promise the receiver was told, if any.
    """
    release, held = open_folder(folder)
    spent = sum((Fraction(asked.share) for asked in held.questions), Fraction(0))
    budgets = [part.epsilon for part in release.guarantee.parts() if isinstance(part, PureDP)]
    statement = read_bytes(folder / "STATEMENT.md").decode(errors="replace")
    names = {"release.json", "STATEMENT.md", *(file.file for file in held.files)}
    checks = {
        "the data can be read, and is within the domain": True,
        "the order of records says nothing": all(
            _is_canonical(folder / file.file, release.outputs[file.data], file.format, file.columns)
            for file in held.files
        ),
        "the statement says what release.json says": statement == release.statement(held.files),
        "nothing else is in the folder": {path.name for path in folder.iterdir()} == names,
        "it is for publication": release.publishable,
        f"{release.guarantee.name}: {release.verdict.checked}": release.verdict.satisfied,
    }
    if budgets:
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
        broken = ", ".join(f"{number} x {what}" for what, number in verdict.violations.items())
        msg = f"{guarantee.name} is not satisfied: {broken}"
        raise NotSatisfied(msg)
    return verdict.violations


def _is_canonical(path: Path, data: Dataset, form: str, columns: Mapping[str, str]) -> bool:
    """Whether the file holds just what we would write for its data."""
    _, layout = format_of(form, ending_of(path))
    return layout.write(KINDS[data.kind].rows(data), columns) == read_bytes(path)
