"""How far long work has come, for whoever waits, and what became of it if it stops half-way."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias

__all__ = [
    "Listener",
    "Outcome",
    "count",
    "counting",
    "listening",
    "outcome",
    "register_outcome",
    "tell",
]

#: gets the stage, how much of it is done, and how much there is (0 if nobody knows)
Listener: TypeAlias = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_counts: ContextVar[dict[str, int] | None] = ContextVar("counts", default=None)


class Outcome(NamedTuple):
    """What has become of a publication so far; empty texts: nothing."""

    published: str = ""
    charged: str = ""


_outcome: ContextVar[Callable[[], Outcome]] = ContextVar("outcome", default=Outcome)


def register_outcome(tell: Callable[[], Outcome]) -> None:
    """Name who knows what became of the work, for whoever must say so when it fails."""
    _outcome.set(tell)


def outcome() -> Outcome:
    """What became of the work, as it is now and not as it was when something failed."""
    return _outcome.get()()


def tell(stage: str, done: int = 0, total: int = 0) -> None:
    """Say what is being done. It is seen by the owner only and never part of a release.

    Examples
    --------
    >>> with listening(lambda stage, done, total: print(stage, done, "of", total)):
    ...     tell("reading", 1, 3)
    reading 1 of 3
    """
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Hear what is told within."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def count(what: str, number: int) -> None:
    """Count something for the owner, such as records that could not be read."""
    counts = _counts.get()
    if counts is not None and number:
        counts[what] = counts.get(what, 0) + number


@contextmanager
def counting() -> Generator[dict[str, int]]:
    """Collect what is counted within.

    Examples
    --------
    >>> with counting() as counts:
    ...     count("records dropped", 2)
    >>> counts
    {'records dropped': 2}
    """
    counts: dict[str, int] = {}
    token = _counts.set(counts)
    try:
        yield counts
    finally:
        _counts.reset(token)
