"""Set up a method and a guarantee from texts, such as command-line options."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

from hedgerow.errors import ParameterError, UnsupportedGuarantee
from hedgerow.privacy import Guarantee
from hedgerow.privacy.parsing import build
from hedgerow.promises import PROMISES, describe_options, interpret_options, list_options
from hedgerow.publisher import Publisher

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Parameter(NamedTuple):
    """What `param` states about one parameter."""

    name: str
    default: int | float | str | bool
    help: str
    range: str


def parameters_of(method: type[Publisher[Any]]) -> list[Parameter]:
    """List the parameters of a method.

    Examples
    --------
    >>> from hedgerow import FlatLaplace
    >>> parameters_of(FlatLaplace)[0].range
    'a number, at least 0'
    """
    return [
        Parameter(field.name, cast("Any", field.default), field.metadata["help"], _range(field))
        for field in dataclasses.fields(method)
    ]


def configure(method: type[Publisher[Any]], texts: Mapping[str, Any]) -> Publisher[Any]:
    """Make a method from parameters that are texts.

    Examples
    --------
    >>> from hedgerow import FlatLaplace
    >>> configure(FlatLaplace, {"threshold": "3"})
    FlatLaplace(threshold=3.0)
    """
    fields = {field.name: field for field in dataclasses.fields(method)}
    for name in texts:
        if name not in fields:
            names = ", ".join(fields) or "none"
            msg = f"{method.name} has no parameter {name!r}; it has: {names}"
            raise ParameterError(msg)
    return method(**{name: _parse(text, fields[name].default) for name, text in texts.items()})


def promise(method: type[Publisher[Any]], given: Mapping[str, Any]) -> Guarantee:
    """Make the guarantee, or a combination of several, that the options mean for this method.

    Raises
    ------
    UnsupportedGuarantee
        If no guarantee that the method keeps has just these options, or if several do.
    """
    kept = [keeps.name for keeps in method.keeps if keeps.name in PROMISES]
    meant = interpret_options(given, kept)
    if len(meant) == 1:
        return build(meant[0], read_files(given))
    keeps = "; or ".join(map(describe_options, kept))
    got = " ".join(f"--{name}" for name in given) or "nothing"
    alone = PROMISES[kept[0]].options.items() if len(kept) == 1 else ()
    missing = [f"--{name}" for name, option in alone if option.required and name not in given]
    lacks = f"; missing: {' '.join(missing)}" if missing else ""
    msg = f"{method.name} keeps {keeps}; got {got}{lacks}"
    raise UnsupportedGuarantee(msg)


def read_files(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the files that options of promises name, as they are typed; no promise opens a file itself.

    Examples
    --------
    >>> read_files({"epsilon": "1", "unit": "record"})
    {'epsilon': '1', 'unit': 'record'}
    """
    options = list_options()
    read: dict[str, Any] = dict(given)
    for name, typed in given.items():
        if name in options and options[name].reads and isinstance(typed, str):
            module, _, function = options[name].reads.partition(":")
            read[name] = getattr(import_module(module), function)(typed)
    return read


def _parse(text: Any, default: object) -> Any:
    """Parse a text as the type of the default; the method refuses a text that does not parse."""
    if not isinstance(text, str):
        return text
    if isinstance(default, bool):
        return _WORDS.get(text.lower(), text)
    if isinstance(default, int):
        return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else text
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _range(field: dataclasses.Field[Any]) -> str:
    kinds: dict[type, str] = {
        bool: "yes or no",
        int: "a whole number",
        float: "a number",
        str: "a text",
    }
    default: object = field.default
    parts = [kinds[type(default)]]
    if field.metadata["choices"]:
        parts = [" or ".join(field.metadata["choices"])]
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    limits: dict[str, float | None] = field.metadata["limits"]
    parts += [f"{words[name]} {limit:g}" for name, limit in limits.items() if limit is not None]
    return ", ".join(parts)
