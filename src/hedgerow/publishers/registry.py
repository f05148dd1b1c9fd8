"""Every method there is: one line each."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import UnknownMethod
from hedgerow.publishers.base import Publisher
from hedgerow.publishers.sets.flat_laplace import FlatLaplace

__all__ = ["METHODS", "find_method"]

METHODS: tuple[type[Publisher[Any]], ...] = (FlatLaplace,)


def find_method(name: str) -> type[Publisher[Any]]:
    """Return the method of that name."""
    for method in METHODS:
        if method.name == name:
            return method
    known = ", ".join(method.name for method in METHODS)
    msg = f"there is no method {name!r}; there are: {known}"
    raise UnknownMethod(msg)
