"""Planted bugs: the shipped code with one line changed, recompiled from its own source."""

from __future__ import annotations
import __future__

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from hedgerow.errors import ParameterError

Class = TypeVar("Class", bound=type)
_SOURCE, _MAKER = "__source_of_mutant__", "make_mutant"
_ABSENT = object()


def mutant(original: Class, old: str, new: str, **names: object) -> Class:
    """Return the class with one piece of its source changed, which may use `names`."""
    return _recompiled(original, old, new, names)


@contextmanager
def changed(owner: object, name: str, old: str, new: str, **names: object) -> Generator[None]:
    """Replace a function of a module, or a method of a class, by its mutant within the context.

    What is a mutant already may be changed further: the inner context ends with the outer mutant.
    """
    # as it stands in the owner: a static method is more than the function that an attribute gives
    kept = vars(owner).get(name, _ABSENT)
    original: Callable[..., Any] = getattr(owner, name)
    setattr(owner, name, _recompiled(original, old, new, names))
    try:
        yield
    finally:
        if kept is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, kept)


def _recompiled(original: Any, old: str, new: str, names: dict[str, object]) -> Any:
    """Compile the changed source in its own module, so that it sees whatever else is changed there while it runs."""
    source: str = getattr(original, _SOURCE, None) or textwrap.dedent(inspect.getsource(original))
    if source.count(old) != 1:
        msg = f"a mutant changes one place; {old!r} occurs {source.count(old)} times"
        raise ParameterError(msg)
    source = source.replace(old, new)
    scope: dict[str, Any] = {}
    module = vars(sys.modules[original.__module__])
    exec(_compiled_in_function(source, original.__name__, tuple(names)), module, scope)  # noqa: S102 - our own source
    made = scope[_MAKER](**names)
    made.__qualname__ = original.__qualname__
    setattr(made, _SOURCE, source)
    return made


def _compiled_in_function(source: str, name: str, names: tuple[str, ...]) -> Any:
    """Compile a function whose arguments are the names, and which defines the source and returns what it defines."""
    tree = ast.parse(f"def {_MAKER}({', '.join(names)}):\n    return {name}")
    maker = tree.body[0]
    assert isinstance(maker, ast.FunctionDef)  # noqa: S101 - it stands in the line above
    maker.body[:0] = ast.parse(source).body
    flags = __future__.annotations.compiler_flag
    return compile(ast.fix_missing_locations(tree), f"<mutant of {name}>", "exec", flags)
