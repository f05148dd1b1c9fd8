"""Accounts: the total epsilon that may be spent on one data set, and what was spent; a file of the owner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

from hedgerow.errors import BudgetExceeded, EngineError, ParameterError, UnsupportedGuarantee
from hedgerow.io.files import read_bytes, reason, write_file
from hedgerow.io.locks import locked
from hedgerow.io.toml import parse_sections, read_toml, toml_value
from hedgerow.kinds import KINDS
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

#: the states of an entry; an entry counts in every state
PENDING, OUT, FAILED = "pending", "out", "failed: charged"
#: the line of an entry that names it
_ID = re.compile(r"""^[ \t]*id[ \t]*=[ \t]*["'](?P<id>\w+)["'][ \t\r]*(#.*)?$""", re.MULTILINE)


@dataclass(frozen=True)
class Account:
    """The content of an account file."""

    unit: str
    total: Fraction
    releases: tuple[dict[str, Any], ...]

    @cached_property
    def spent(self) -> Fraction:
        """The sum of the epsilons of all entries, whatever their state."""
        equal = Counter(entry["epsilon"] for entry in self.releases)
        return sum((_epsilon(epsilon) * number for epsilon, number in equal.items()), Fraction(0))

    @classmethod
    def read(cls, path: Path) -> Account:
        """Read an account file: `total` and `unit`, and one section `[[releases]]` per release."""
        if not path.exists():
            msg = f"there is no account {path}; create it: hedgerow account {path} --total 2 --unit UNIT"
            raise ParameterError(msg)
        content = read_toml(path, ParameterError, _parse)
        try:
            account = cls(
                str(content["unit"]),
                read_number("total", content["total"]),
                tuple(map(_check_entry, content.get("releases", []))),
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
        """Refuse a release beyond the total; return its epsilon, for one unit.

        A promise for k units together is charged what one unit costs, epsilon / k: these numbers add up for one unit
        whatever k each release has, so the account also bounds any k units, by k times what it has spent.
        """
        epsilon = guarantee.budget
        if epsilon is None:
            msg = f"an account sums epsilons, and {guarantee.name} has none; omit --account"
            raise UnsupportedGuarantee(msg)
        if guarantee.units != (self.unit,):
            msg = f"{path} is for unit {self.unit!r}; the release is for {', '.join(map(repr, guarantee.units))}"
            raise UnsupportedGuarantee(msg)
        left = self.total - self.spent
        if epsilon > left:
            msg = f"{path} has {show(left)} left of {show(self.total)}; the release needs {guarantee.show_budget()}"
            raise BudgetExceeded(msg)
        return epsilon


@lru_cache(maxsize=2)
def _parse(text: str) -> dict[str, Any]:
    """Parse the text of an account; a publication reads the same one several times."""
    return parse_sections(text, "releases")


@lru_cache(maxsize=1000, typed=True)
def _epsilon(value: Any) -> Fraction:
    """Read the epsilon of an entry; most entries have one of a few."""
    epsilon = read_number("epsilon", value)
    if epsilon <= 0:
        raise KeyError
    return epsilon


def _check_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Refuse an entry with an epsilon that is not positive, or with an unknown state."""
    state = entry.get("state", OUT)
    identified = True
    if state == PENDING:
        texts = all(isinstance(entry.get(name, ""), str) for name in ("id", "out", "sha256"))
        identified = texts and re.fullmatch(r"\w+", entry["id"]) and "out" in entry
    if state not in {PENDING, OUT, FAILED} or not identified:
        raise KeyError
    _epsilon(entry["epsilon"])  # which refuses one that is not positive
    return entry


def create_account(path: Path, total: str, unit: str) -> None:
    """Write a new account; at first only its owner may open the file."""
    if path.exists():
        msg = f"{path} exists already; omit --total and --unit to list it"
        raise ParameterError(msg)
    if read_number("total", total) <= 0:
        msg = f"total must be greater than 0; got {total}"
        raise ParameterError(msg)
    units = list(dict.fromkeys(name for kind in KINDS.values() for name in kind.type.units))
    if unit not in units:
        msg = f"there is no unit {unit!r}; there are: {', '.join(units)}"
        raise ParameterError(msg)
    text = "# the epsilon that may be spent on one data set; hedgerow account FILE lists it\n"
    write_file(path, (text + _lines({"total": total, "unit": unit})).encode(), private=True)


def change_account(path: Path, change: Callable[[Account, str], str]) -> None:
    """Change the text of an account file; other processes that change it wait meanwhile.

    The file is replaced by one with the same permissions.
    """
    try:
        with locked(path):
            account = Account.read(path)
            if path.stat().st_nlink > 1:
                msg = f"{path} has several names (hard links); an account must have only one"
                raise ParameterError(msg)
            before = read_bytes(path).decode("utf-8-sig")
            after = change(account, before)
            if after != before:
                _require_account(path, after)
                write_file(path, after.encode(), like=path)
    except FileNotFoundError:
        Account.read(path)  # its error says what to do
        raise
    except OSError as error:
        msg = f"{path} cannot be locked ({reason(error)})"
        raise EngineError(msg) from None


def _require_account(path: Path, text: str) -> None:
    """Refuse to write an account that could not be read again."""
    try:
        parsed = _parse(text).get("releases", [])
        if not isinstance(parsed, list):
            raise TypeError  # noqa: TRY301
        list(map(_check_entry, cast("list[dict[str, Any]]", parsed)))
    except (ValueError, KeyError, TypeError, AttributeError, ParameterError):
        msg = f"{path} must list each release in a section [[releases]] of its own; correct it"
        raise ParameterError(msg) from None


def with_entry(text: str, entry: Mapping[str, str]) -> str:
    """Add an entry at the end."""
    return f"{text.rstrip()}\n\n[[releases]]\n{_lines(entry)}"


def without_entry(text: str, key: str) -> str:
    """Remove an entry."""
    return "".join(entry for entry in _entries(text) if _id_of(entry) != key).rstrip() + "\n"


def with_fields(text: str, changes: Mapping[str, Mapping[str, str]]) -> str:
    """Set fields of entries, by id; everything else in them stays as it is."""
    parts = _entries(text)
    for number, entry in enumerate(parts):
        key = _id_of(entry)
        if key is not None and key in changes:
            fields = changes[key]
            same = re.compile(rf"\s*({'|'.join(fields)})\s*=")
            lines = [line for line in entry.split("\n") if not same.match(line)]
            at = next(n for n, line in enumerate(lines) if _ID.fullmatch(line)) + 1
            parts[number] = "\n".join(lines[:at]) + "\n" + _lines(fields) + "\n".join(lines[at:])
    return "".join(parts)


def _entries(text: str) -> list[str]:
    """Split the text before every entry."""
    return re.split(r"(?m)^(?=\[\[releases\]\])", text)


def _id_of(entry: str) -> str | None:
    """The id of an entry; None if it has none."""
    line = _ID.search(entry)
    return line and line["id"]


def _lines(fields: Mapping[str, str]) -> str:
    try:
        return "".join(f"{name} = {toml_value(text)}\n" for name, text in fields.items())
    except UnicodeEncodeError:
        msg = "an account cannot record a path that is not UTF-8; choose another one for the release"
        raise ParameterError(msg) from None
