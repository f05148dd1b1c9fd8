"""Accounts: the total epsilon that may be spent on one data set, and what was spent; a file of the owner.

The file comes first, then how a publication is charged to it (`Charge`), and what becomes of one that ended early
(`settle_account`).
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from hedgerow.errors import (
    BudgetExceeded,
    EngineError,
    HedgerowError,
    InternalError,
    ParameterError,
    UnsupportedGuarantee,
    WriteError,
)
from hedgerow.formats.files import copy_permissions, read_bytes, reason, write_file
from hedgerow.formats.locks import abandoned, locked, make_locked, remove, remove_abandoned
from hedgerow.formats.toml import parse_sections, read_toml, toml_value
from hedgerow.kind_registry import KINDS
from hedgerow.privacy import Guarantee
from hedgerow.privacy.numbers import read_number, show
from hedgerow.releases.atomic_folder import Placement

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


# Charge a publication to an account: before the data is asked, and settled when the publication ends.
#
# An entry is written to the account *before* the first question and removed only if no question was asked. It is
# `pending` until the release is `out` or has failed, and it counts in every state: asking the data is what costs,
# whether or not anything is published. A publication that is killed at any moment leaves an entry that charges too
# much, never too little; `settle_account` determines its final state.
#
# How it is determined: while a publication runs, it holds the lock of a file next to the account, so a pending entry
# without a lock belongs to a dead process. Just before the finished folder is renamed to its place, a fingerprint of
# it is written into the entry: if the folder in that place has the fingerprint, the release is out. The fingerprint is
# computed from the release only, and is kept in the owner's account only.

_RUNNING = ".running"


class Charge:
    """The entry of one publication in an account, settled at the end of the `with` block.

    Nothing is charged unless the data is asked: the first question calls `book`.
    """

    def __init__(self, account: Path, guarantee: Guarantee, *, method: str, placement: Placement) -> None:
        self._typed_path = account
        self._path = account.resolve()  # links are followed
        self._guarantee = guarantee
        self._method = method
        self._placement = placement
        self._epsilon = ""
        self._cost = Fraction(0)
        self._key = ""
        self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if not self._key:
            return
        try:
            self._set(state=OUT if self._placement.is_out() else FAILED)
        except HedgerowError:
            if kind is None:  # otherwise the earlier error is the one to report
                raise
        finally:
            remove(_lock_of(self._path, self._key))
            os.close(self._lock)

    def book(self) -> None:
        """Charge the account before anything is asked; if that fails, the entry is removed."""
        Account.read(self._path).require_room(self._typed_path, self._guarantee)
        try:
            lock, self._lock = make_locked(self._path.parent, f".{self._path.name}.", _RUNNING)
            self._key = lock.name.split(".")[-2]
            copy_permissions(self._lock, self._path)
            change_account(self._path, self._with_entry)
        except BaseException as error:
            if self._epsilon:
                with suppress(HedgerowError):  # if it stays charged, `describe` says so
                    change_account(self._path, self._without_entry)
            if isinstance(error, OSError):
                msg = f"{self._typed_path} cannot be charged ({reason(error)})"
                raise WriteError(msg) from None
            raise

    def record_fingerprint(self, folder: Path) -> None:
        """Write the fingerprint of the finished folder into the entry, just before the folder is renamed."""
        self._set(sha256=_fingerprint(folder))
        entry = Account.read(self._path).entry(self._key)
        if entry is None or read_number("epsilon", entry["epsilon"]) < self._cost:
            msg = f"the entry of this publication in {self._typed_path} was changed by someone else"
            raise WriteError(msg)

    def describe(self) -> str:
        """Describe what is charged for this publication now; an empty text if nothing is."""
        if not self._key:
            return ""
        try:
            entry = Account.read(self._path).entry(self._key)
        except HedgerowError:
            return f"epsilon {self._epsilon} may be charged to {self._typed_path}"
        if entry is None:
            return ""
        if self._placement.is_out():
            sentence = f"epsilon {self._epsilon} is charged to {self._typed_path}"
        else:
            sentence = f"epsilon {self._epsilon} stays charged to {self._typed_path}: asking the data is what costs"
        advice = f" (hedgerow account {self._typed_path} settles the entry)"
        return sentence + (advice if entry["state"] == PENDING else "")

    def _with_entry(self, account: Account, text: str) -> str:
        epsilon = account.require_room(self._typed_path, self._guarantee)
        if account.entry(self._key) is not None:
            msg = "two entries of the account have the same id"
            raise InternalError(msg)
        self._epsilon, self._cost = self._guarantee.show_budget(), epsilon
        entry = {
            "id": self._key,
            "state": PENDING,
            "epsilon": str(epsilon),
            "made": datetime.now(UTC).date().isoformat(),
            "method": self._method,
            "out": self._placement.name,
        }
        return with_entry(_settle(self._path, account, text), entry)

    def _without_entry(self, account: Account, text: str) -> str:
        return without_entry(text, self._key) if account.entry(self._key) else text

    def _set(self, **fields: str) -> None:
        change_account(self._path, lambda _, text: with_fields(text, {self._key: fields}))


def settle_account(path: Path) -> Account:
    """Settle the pending entries of dead publications, and return the account."""
    account = Account.read(path)
    path = path.resolve()
    if any(entry.get("state") == PENDING for entry in account.releases):
        try:
            change_account(path, lambda account, text: _settle(path, account, text))
        except EngineError as error:  # without permission to write, it is listed as it is
            warnings.warn(f"{error}; pending entries were not settled", stacklevel=2)
        account = Account.read(path)
    return account


def _settle(path: Path, account: Account, text: str) -> str:
    """Set the final state of the entries of dead publications; those of running ones stay pending."""
    states: dict[str, dict[str, str]] = {}
    for entry in account.releases:
        if entry.get("state") == PENDING:
            with abandoned(_lock_of(path, entry["id"])) as dead:
                if dead:
                    states[entry["id"]] = {"state": _final_state(entry)}
    remove_abandoned(path.parent, rf"\.{re.escape(path.name)}\.\w{{8}}\{_RUNNING}")
    return with_fields(text, states) if states else text


def _final_state(entry: dict[str, Any]) -> str:
    """The final state of an entry: out, if the release of the dead publication is in its place."""
    if "sha256" not in entry:
        return FAILED  # the folder was never complete
    try:
        return OUT if _fingerprint(Path(entry["out"])) == entry["sha256"] else FAILED
    except (FileNotFoundError, NotADirectoryError):
        return FAILED
    except OSError:
        return PENDING  # it cannot be determined now


def _lock_of(path: Path, key: str) -> Path:
    return path.with_name(f".{path.name}.{key}{_RUNNING}")


def _fingerprint(folder: Path) -> str:
    """Hash the names and contents of the files of a release."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        with path.open("rb") as file:
            total.update(os.fsencode(path.name) + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
