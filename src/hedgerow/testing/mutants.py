"""Planted bugs: the shipped code with one line changed, recompiled from its own source."""

from __future__ import annotations
import __future__

import inspect
import sys
import textwrap
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from hedgerow.errors import ParameterError

__all__ = ["changed", "mutant"]

Class = TypeVar("Class", bound=type)


def mutant(original: Class, old: str, new: str, **names: object) -> Class:
    """Return the class with one piece of its source changed, which may use `names`."""
    return _recompiled(original, old, new, names)


@contextmanager
def changed(owner: Any, name: str, old: str, new: str, **names: object) -> Generator[None]:
    """Replace a function of a module, or a method of a class, by its mutant within the context."""
    original: Callable[..., Any] = getattr(owner, name)
    setattr(owner, name, _recompiled(original, old, new, names))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _recompiled(original: Any, old: str, new: str, names: dict[str, object]) -> Any:
    source = textwrap.dedent(inspect.getsource(original))
    if source.count(old) != 1:
        msg = f"a mutant changes one place; {old!r} occurs {source.count(old)} times"
        raise ParameterError(msg)
    scope = {**vars(sys.modules[original.__module__]), **names}
    flags = __future__.annotations.compiler_flag
    code = compile(source.replace(old, new), f"<mutant of {original.__name__}>", "exec", flags)
    exec(code, scope)  # noqa: S102 - our own source, changed by the test that calls this
    return scope[original.__name__]
