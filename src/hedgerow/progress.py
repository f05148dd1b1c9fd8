"""How far long work has come, for whoever waits; nobody listens unless asked to."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["Listener", "listening", "tell"]

#: gets the stage, how much of it is done, and how much there is (0 if nobody knows)
Listener: TypeAlias = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


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
