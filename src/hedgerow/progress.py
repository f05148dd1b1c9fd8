"""Progress of long work, and what a publication has done so far if it fails half-way."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias

#: is called with the stage, how much of it is done, and the total (0 if unknown)
Listener: TypeAlias = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_counts: ContextVar[dict[str, int] | None] = ContextVar("counts", default=None)


class Outcome(NamedTuple):
    """What a publication has published and charged so far; empty texts for nothing."""

    published: str = ""
    charged: str = ""


_outcome: ContextVar[Callable[[], Outcome]] = ContextVar("outcome", default=Outcome)


def register_outcome(report: Callable[[], Outcome]) -> None:
    """Register the function that reports the outcome of the running publication."""
    _outcome.set(report)


def outcome() -> Outcome:
    """The outcome as it is now, which may be more than when an error was raised."""
    return _outcome.get()()


def tell(stage: str, done: int = 0, total: int = 0) -> None:
    """Report what is being done. Only the owner sees it; it is never part of a release.

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
    """Pass progress within the context to a listener."""
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
    """Collect what is counted within the context.

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
