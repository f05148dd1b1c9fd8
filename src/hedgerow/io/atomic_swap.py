"""Swap two folders in one step, where the system can: both names exist at every moment."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

__all__ = ["swap_folders"]

_HERE = -100
_EXCHANGE = 2


def swap_folders(one: Path, other: Path) -> bool:
    """Swap two folders; return whether the system could. If not, nothing was changed."""
    name = "renamex_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        return function(first, second, _EXCHANGE) == 0
    return function(_HERE, first, _HERE, second, _EXCHANGE) == 0
