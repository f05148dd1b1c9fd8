"""An account: what may be spent on one data set in all, and what was; the owner's file."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.errors import BudgetExceeded, EngineError, ParameterError, UnsupportedGuarantee
from hedgerow.io.files import read_bytes, reason, write_file
from hedgerow.io.toml import read_toml
from hedgerow.privacy import Guarantee, PureDP
from hedgerow.privacy.guarantee import read_number, show

__all__ = ["Account", "charged"]


@dataclass(frozen=True)
class Account:
    """What an account file says."""

    unit: str
    total: Fraction
    releases: tuple[dict[str, Any], ...]

    @property
    def spent(self) -> Fraction:
        """The epsilon of all releases: they add up."""
        return sum((read_number("epsilon", held["epsilon"]) for held in self.releases), Fraction(0))

    @classmethod
    def read(cls, path: Path) -> Account:
        """Read an account file: `total` and `unit`, and a section `[[releases]]` each release."""
        if not path.exists():
            msg = (
                f"there is no account {path}; write one with two lines: "
                'total = "2" (epsilon in all) and unit = "person" (or "record")'
            )
            raise ParameterError(msg)
        held = read_toml(path, ParameterError)
        try:
            total = read_number("total", held["total"])
            releases: list[dict[str, Any]] = held.get("releases", [])
            spent = [read_number("epsilon", release["epsilon"]) for release in releases]
            account = cls(str(held["unit"]), total, tuple(releases))
        except (KeyError, TypeError, AttributeError, ParameterError):
            spent, account = [Fraction(0)], None
        if account is None or any(epsilon <= 0 for epsilon in spent) or held.get("releases") == []:
            msg = (
                f"{path} is not an account: it needs total and unit, and in each [[releases]] "
                "an epsilon greater than 0"
            )
            raise ParameterError(msg)
        return account

    def require_room(self, path: Path, guarantee: Guarantee) -> Fraction:
        """Refuse a release beyond the total; return its epsilon."""
        private = [part for part in guarantee.parts() if isinstance(part, PureDP)]
        if not private:
            msg = f"an account sums epsilons, and {guarantee.name} has none; leave --account out"
            raise UnsupportedGuarantee(msg)
        if private[0].unit != self.unit:
            msg = f"{path} is for unit {self.unit!r}; the release is for {private[0].unit!r}"
            raise UnsupportedGuarantee(msg)
        left = self.total - self.spent
        if private[0].epsilon > left:
            msg = (
                f"{path} has {show(left)} left of {show(self.total)}; "
                f"the release needs {show(private[0].epsilon)}"
            )
            raise BudgetExceeded(msg)
        return private[0].epsilon


@contextmanager
def charged(
    path: Path | None,
    guarantee: Guarantee,
    made: dict[str, str],
    is_out: Callable[[], bool] = lambda: False,
) -> Generator[None]:
    """Charge a release before it goes out, and take that back if it does not.

    Killed in between, it stays charged, and so it does if anything happens once `is_out`: an
    account may say too much, never too little. Others who charge an account in the same folder
    wait meanwhile.
    """
    if path is None:
        yield
        return
    path = path.resolve()  # of a link the file itself
    with _locked(path.parent):
        epsilon = Account.read(path).require_room(path, guarantee)
        if path.stat().st_nlink > 1:
            msg = f"{path} has several names; an account must have one"
            raise ParameterError(msg)
        before = read_bytes(path)
        entry = {"epsilon": str(epsilon), **made}
        # a text of JSON is a text of TOML
        lines = [f"{name} = {msgspec.json.encode(text).decode()}" for name, text in entry.items()]
        after = before.rstrip() + b"\n\n[[releases]]\n" + "\n".join(lines).encode() + b"\n"
        write_file(path, after, private=True)
        try:
            yield
        except BaseException:
            if not is_out():
                write_file(path, before, private=True)
            raise


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError as error:
        msg = f"{folder} cannot be locked ({reason(error)})"
        raise EngineError(msg) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
