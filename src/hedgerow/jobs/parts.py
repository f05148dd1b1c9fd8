"""What one kind of data only can do, found through the registry of kinds: no job and no command names a kind.

It is a module of its own, since jobs and commands both need it.
"""

from __future__ import annotations

from typing import Any

from hedgerow.kind_registry import KINDS, Part


def find_part(part: Part) -> Any:
    """Import this module of the only kind that has it.

    Examples
    --------
    >>> find_part("schema_draft").__name__
    'hedgerow.kinds.records.schema_draft'
    """
    return KINDS[kind_with(part)].module(part)


def kind_with(part: Part) -> str:
    """Return the name of the only kind that has this module.

    Examples
    --------
    >>> kind_with("schema_draft")
    'records'
    """
    (kind,) = (kind.name for kind in KINDS.values() if kind.has(part))
    return kind
