"""Accounts in tests: an empty one, a charge to it, and what its entries say."""

from __future__ import annotations

from pathlib import Path

from hedgerow import PureDP
from hedgerow.privacy import Guarantee
from hedgerow.releases.account import Account, Charge
from hedgerow.releases.atomic_folder import Placement

__all__ = ["EMPTY", "ONE", "charge", "entries", "states"]

EMPTY = 'total = "2"\nunit = "record"\n'
ONE = PureDP(epsilon=1, unit="record")


def charge(path: Path, guarantee: Guarantee = ONE, out: str = "out") -> Charge:
    """A publication that will be charged to the account at a path."""
    return Charge(path, guarantee, method="m", placement=Placement(path.parent / out))


def entries(path: Path) -> list[dict[str, str]]:
    """The entries of an account, one per release."""
    return Account.read(path).releases


def states(path: Path) -> list[str]:
    """The state of every entry."""
    return [entry["state"] for entry in entries(path)]
