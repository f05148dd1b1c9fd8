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
    (kind,) = (kind for kind in KINDS.values() if kind.has(part))
    return kind.module(part)
