"""Guarantees by name: made again from `release.json`, or from the options of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from hedgerow.errors import ParameterError, UnsupportedGuarantee
from hedgerow.privacy.guarantee import Guarantee, fits

__all__ = ["GUARANTEES", "restore", "restore_options"]

#: where each guarantee lives; it is imported when it is needed
GUARANTEES = {"PureDP": "guarantee:PureDP", "KCL": "linkage:KCL"}


def restore(name: str, fields: Mapping[str, str]) -> Guarantee:
    """Make the guarantee of that name again from its fields, as they stand in `release.json`."""
    if name not in GUARANTEES or not fits(_find(name), fields):
        msg = f"there is no guarantee {name[:40]!r} with these fields"
        raise ParameterError(msg)
    given: dict[str, Any] = dict(fields)
    if "sensitive" in given:
        try:
            given["sensitive"] = msgspec.json.decode(given["sensitive"], type=list[str])
        except (msgspec.MsgspecError, RecursionError):
            msg = "what is sensitive must be a list of texts"
            raise ParameterError(msg) from None
    return _find(name)(**given)


def restore_options(given: Mapping[str, Any]) -> Guarantee:
    """Make the guarantee that has just these options."""
    fitting = [name for name in GUARANTEES if fits(_find(name), given)]
    if len(fitting) != 1:
        asked = " ".join(f"--{name}" for name in given)
        listed = "; or ".join(
            f"{name}: {' '.join(f'--{option}' for option in _find(name).options)}" for name in GUARANTEES
        )
        msg = f"no guarantee has just {asked}; there are {listed}"
        raise UnsupportedGuarantee(msg)
    return _find(fitting[0])(**given)


def _find(name: str) -> Any:
    module, _, held = GUARANTEES[name].partition(":")
    return getattr(import_module(f"hedgerow.privacy.{module}"), held)
