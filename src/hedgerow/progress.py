"""How far long work has come, for whoever waits; nobody listens unless asked to."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["Listener", "count", "counting", "listening", "tell"]

#: gets the stage, how much of it is done, and how much there is (0 if nobody knows)
Listener: TypeAlias = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_counts: ContextVar[dict[str, int] | None] = ContextVar("counts", default=None)


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
