"""Charge a publication to an account: before the data is asked, and settled when the publication ends.

An entry is written to the account *before* the first question and removed only if no question was asked. It is
`pending` until the release is `out` or has failed, and it counts in every state: asking the data is what costs, whether
or not anything is published. A publication that is killed at any moment leaves an entry that charges too much, never
too little; `settle_account` determines its final state.

How it is determined: while a publication runs, it holds the lock of a file next to the account, so a pending entry
without a lock belongs to a dead process. Just before the finished folder is renamed to its place, a fingerprint of it
is written into the entry: if the folder in that place has the fingerprint, the release is out. The fingerprint is
computed from the release only, and is kept in the owner's account only.
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
from hedgerow.io.atomic_folder import Placement
from hedgerow.io.epsilon_account import (
    FAILED,
    OUT,
    PENDING,
    Account,
    change_account,
    with_entry,
    with_fields,
    without_entry,
)
from hedgerow.io.files import copy_permissions, reason
from hedgerow.io.locks import abandoned, make_locked, remove, remove_abandoned
from hedgerow.privacy import Guarantee
from hedgerow.privacy.numbers import read_number

__all__ = ["Charge", "settle_account"]

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
