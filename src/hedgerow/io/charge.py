"""What a publication costs: charged before the data is asked, settled when it is over.

An entry of an account is written *before* the first question and taken back only if none was
asked. It is `pending` until the release is `out` or has failed, and charged in every state: asking
is what costs, whether or not anything is published. Killed at any moment, a publication leaves an
entry that says too much, never too little; `settle_account` finds out what became of it.

How that is known. As long as a publication runs, it holds the lock of a file beside the account, so
a pending entry without a lock belongs to a dead one. Just before the finished folder gets its name,
a fingerprint of it is put into the entry: if that is what lies under the name, it went out. The
fingerprint is of the release, and stands in the owner's account only.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hedgerow.errors import EngineError, HedgerowError, InternalError, WriteError
from hedgerow.io.account import (
    FAILED,
    OUT,
    PENDING,
    Account,
    change_account,
    with_entry,
    with_fields,
    without_entry,
)
from hedgerow.io.files import reason, share
from hedgerow.io.locks import abandoned, make_locked, remove, remove_abandoned
from hedgerow.io.placement import Placement
from hedgerow.privacy import Guarantee
from hedgerow.privacy.numbers import read_number, show

__all__ = ["Charge", "settle_account"]

_RUNNING = ".running"


class Charge:
    """The entry of one publication in an account, settled at the end of the block.

    Nothing is charged unless the data is asked: `enter` is for the first question to call.
    """

    def __init__(self, account: Path, guarantee: Guarantee, *, method: str, placement: Placement) -> None:
        self._named = account
        self._path = account.resolve()  # of a link the file itself
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
            if kind is None:  # otherwise what went wrong before is what is told
                raise
        finally:
            remove(_lock_of(self._path, self._key))
            os.close(self._lock)

    def enter(self) -> None:
        """Charge the account, before anything is asked; whatever stops that takes it back."""
        Account.read(self._path).require_room(self._named, self._guarantee)
        try:
            lock, self._lock = make_locked(self._path.parent, f".{self._path.name}.", _RUNNING)
            self._key = lock.name.split(".")[-2]
            share(self._lock, self._path)
            change_account(self._path, self._with_entry)
        except BaseException as error:
            if self._epsilon:
                with suppress(HedgerowError):  # if it stays charged, `says` says so
                    change_account(self._path, self._without_entry)
            if isinstance(error, OSError):
                msg = f"{self._named} cannot be charged ({reason(error)})"
                raise WriteError(msg) from None
            raise

    def ready(self, part: Path) -> None:
        """Write down what the finished folder is known by, just before it gets its name."""
        self._set(sha256=_fingerprint(part))
        entry = Account.read(self._path).entry(self._key)
        if entry is None or read_number("epsilon", entry["epsilon"]) < self._cost:
            msg = f"somebody changed the entry of this publication in {self._named}"
            raise WriteError(msg)

    def says(self) -> str:
        """What the account says of this publication now; nothing if it is not charged."""
        if not self._key:
            return ""
        try:
            entry = Account.read(self._path).entry(self._key)
        except HedgerowError:
            return f"{self._epsilon} may be charged to {self._named}"
        if entry is None:
            return ""
        if self._placement.is_out():
            said = f"{self._epsilon} is charged to {self._named}"
        else:
            said = f"{self._epsilon} stays charged to {self._named}: asking the data is what costs"
        pending = f" (hedgerow account {self._named} settles the entry)"
        return said + (pending if entry["state"] == PENDING else "")

    def _with_entry(self, account: Account, text: str) -> str:
        epsilon = account.require_room(self._named, self._guarantee)
        if account.entry(self._key) is not None:
            msg = "two entries of an account have the same id"
            raise InternalError(msg)
        self._epsilon, self._cost = show(epsilon), epsilon
        entry = {
            "id": self._key,
            "state": PENDING,
            "epsilon": str(epsilon),
            "made": datetime.now(UTC).date().isoformat(),
            "method": self._method,
            "out": os.path.abspath(self._placement.folder),  # noqa: PTH100 - links stay links
        }
        return with_entry(_settled(self._path, account, text), entry)

    def _without_entry(self, account: Account, text: str) -> str:
        return without_entry(text, self._key) if account.entry(self._key) else text

    def _set(self, **fields: str) -> None:
        change_account(self._path, lambda _, text: with_fields(text, self._key, fields))


def settle_account(path: Path) -> Account:
    """Settle the entries whose publication is dead, and return what the account says then."""
    account = Account.read(path)
    path = path.resolve()
    if any(entry.get("state") == PENDING for entry in account.releases):
        try:
            change_account(path, lambda account, text: _settled(path, account, text))
        except EngineError as error:  # whoever may only read it sees it as it is
            warnings.warn(f"{error}; pending entries were not looked into", stacklevel=2)
        account = Account.read(path)
    return account


def _settled(path: Path, account: Account, text: str) -> str:
    """Find out what became of publications that are dead; of those that run nothing is said."""
    for entry in account.releases:
        if entry.get("state") == PENDING:
            with abandoned(_lock_of(path, entry["id"])) as dead:
                if dead:
                    text = with_fields(text, entry["id"], {"state": _state(entry)})
    remove_abandoned(path.parent, rf"\.{re.escape(path.name)}\.\w{{8}}\{_RUNNING}")
    return text


def _state(entry: dict[str, Any]) -> str:
    """Whether the release of a dead publication lies in its place."""
    if "sha256" not in entry:
        return FAILED  # it was never whole
    try:
        return OUT if _fingerprint(Path(entry["out"])) == entry["sha256"] else FAILED
    except (FileNotFoundError, NotADirectoryError):
        return FAILED
    except OSError:
        return PENDING  # nobody can say now


def _lock_of(path: Path, key: str) -> Path:
    return path.with_name(f".{path.name}.{key}{_RUNNING}")


def _fingerprint(folder: Path) -> str:
    """Sum up the names and contents of a release."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        with path.open("rb") as file:
            total.update(os.fsencode(path.name) + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
