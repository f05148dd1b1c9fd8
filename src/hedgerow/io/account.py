"""An account: what may be spent on one data set in all, and what was; the owner's file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from hedgerow.errors import BudgetExceeded, EngineError, ParameterError, UnsupportedGuarantee
from hedgerow.io.files import read_bytes, reason, write_file
from hedgerow.io.locks import locked
from hedgerow.io.toml import read_toml, toml_value
from hedgerow.privacy import Guarantee
from hedgerow.privacy.numbers import read_number, show

__all__ = [
    "FAILED",
    "OUT",
    "PENDING",
    "Account",
    "change_account",
    "create_account",
    "with_entry",
    "with_fields",
    "without_entry",
]

#: the states of an entry; all of them are charged
PENDING, OUT, FAILED = "pending", "out", "failed: charged"


@dataclass(frozen=True)
class Account:
    """What an account file says."""

    unit: str
    total: Fraction
    releases: tuple[dict[str, Any], ...]

    @property
    def spent(self) -> Fraction:
        """The epsilon of all releases, whatever became of them: they add up."""
        return sum((read_number("epsilon", entry["epsilon"]) for entry in self.releases), Fraction(0))

    @classmethod
    def read(cls, path: Path) -> Account:
        """Read an account file: `total` and `unit`, and a section `[[releases]]` per release."""
        if not path.exists():
            msg = f"there is no account {path}; create one: hedgerow account {path} --total 2 --unit person (or record)"
            raise ParameterError(msg)
        content = read_toml(path, ParameterError)
        try:
            account = cls(
                str(content["unit"]),
                read_number("total", content["total"]),
                tuple(map(_checked, content.get("releases", []))),
            )
        except (KeyError, TypeError, AttributeError, ParameterError):
            account = None
        if account is None or account.total <= 0 or content.get("releases") == []:
            msg = (
                f"{path} is not an account: it needs a total greater than 0 and a unit, and in "
                "each [[releases]] an epsilon greater than 0"
            )
            raise ParameterError(msg)
        return account

    def entry(self, key: str) -> dict[str, Any] | None:
        """The entry with this id."""
        return next((entry for entry in self.releases if entry.get("id") == key), None)

    def require_room(self, path: Path, guarantee: Guarantee) -> Fraction:
        """Refuse a release beyond the total; return its epsilon."""
        epsilon = guarantee.budget
        if epsilon is None:
            msg = f"an account sums epsilons, and {guarantee.name} has none; leave --account out"
            raise UnsupportedGuarantee(msg)
        if guarantee.units != (self.unit,):
            msg = f"{path} is for unit {self.unit!r}; the release is for {', '.join(map(repr, guarantee.units))}"
            raise UnsupportedGuarantee(msg)
        left = self.total - self.spent
        if epsilon > left:
            msg = f"{path} has {show(left)} left of {show(self.total)}; the release needs {show(epsilon)}"
            raise BudgetExceeded(msg)
        return epsilon


def _checked(entry: dict[str, Any]) -> dict[str, Any]:
    """Refuse an entry that would give something back, or whose state nobody knows."""
    state = entry.get("state", OUT)
    named = True
    if state == PENDING:
        texts = all(isinstance(entry.get(name, ""), str) for name in ("id", "out", "sha256"))
        named = texts and re.fullmatch(r"\w+", entry["id"]) and "out" in entry
    if state not in {PENDING, OUT, FAILED} or not named:
        raise KeyError
    if read_number("epsilon", entry["epsilon"]) <= 0:
        raise KeyError
    return entry


def create_account(path: Path, total: str, unit: str) -> None:
    """Write an account with nothing spent; only its owner may open it until he shares it."""
    if path.exists():
        msg = f"{path} is there already; leave --total and --unit out to see it"
        raise ParameterError(msg)
    if read_number("total", total) <= 0:
        msg = f"total must be greater than 0; got {total}"
        raise ParameterError(msg)
    text = "# what may be spent on one data set in all: hedgerow account FILE lists it\n"
    write_file(path, (text + _lines({"total": total, "unit": unit})).encode(), private=True)


def change_account(path: Path, change: Callable[[Account, str], str]) -> None:
    """Change the text of an account; who else wants to waits meanwhile, and says so.

    The file is replaced, and who could write the old one can write the new one.
    """
    try:
        with locked(path):
            account = Account.read(path)
            if path.stat().st_nlink > 1:
                msg = f"{path} has several names; an account must have one"
                raise ParameterError(msg)
            before = read_bytes(path).decode("utf-8-sig")
            after = change(account, before)
            if after != before:
                _require_account(path, after)
                write_file(path, after.encode(), like=path)
    except FileNotFoundError:
        Account.read(path)  # says what to do
        raise
    except OSError as error:
        msg = f"{path} cannot be locked ({reason(error)})"
        raise EngineError(msg) from None


def _require_account(path: Path, text: str) -> None:
    """Refuse to write what could not be read again."""
    try:
        parsed = tomllib.loads(text).get("releases", [])
        if not isinstance(parsed, list):
            raise TypeError  # noqa: TRY301
        list(map(_checked, cast("list[dict[str, Any]]", parsed)))
    except (ValueError, KeyError, TypeError, AttributeError, ParameterError):
        msg = f"{path} has its releases in another layout than one [[releases]] each; write it so"
        raise ParameterError(msg) from None


def with_entry(text: str, entry: Mapping[str, str]) -> str:
    """Add an entry at the end."""
    return f"{text.rstrip()}\n\n[[releases]]\n{_lines(entry)}"


def without_entry(text: str, key: str) -> str:
    """Take an entry out again."""
    return "".join(entry for entry in _entries(text) if not _has(entry, key)).rstrip() + "\n"


def with_fields(text: str, key: str, fields: Mapping[str, str]) -> str:
    """Set fields of an entry; what its owner wrote besides stays as it is."""
    parts = _entries(text)
    for number, entry in enumerate(parts):
        if _has(entry, key):
            same = re.compile(rf"\s*({'|'.join(fields)})\s*=")
            lines = [line for line in entry.split("\n") if not same.match(line)]
            at = next(n for n, line in enumerate(lines) if _is_id(line, key)) + 1
            parts[number] = "\n".join(lines[:at]) + "\n" + _lines(fields) + "\n".join(lines[at:])
    return "".join(parts)


def _entries(text: str) -> list[str]:
    """Cut the text in front of every entry."""
    return re.split(r"(?m)^(?=\[\[releases\]\])", text)


def _has(entry: str, key: str) -> bool:
    return any(_is_id(line, key) for line in entry.split("\n"))


def _is_id(line: str, key: str) -> bool:
    return re.fullmatch(rf"""\s*id\s*=\s*["']{re.escape(key)}["']\s*(#.*)?""", line) is not None


def _lines(fields: Mapping[str, str]) -> str:
    try:
        return "".join(f"{name} = {toml_value(text)}\n" for name, text in fields.items())
    except UnicodeEncodeError:
        msg = "an account cannot hold a name that is not UTF-8; choose another for the release"
        raise ParameterError(msg) from None
