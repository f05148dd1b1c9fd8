"""Where exact counting runs: tables of integer codes and the verbs that count them."""

from hedgerow.engines.base import Codes, Columns, Engine, Flags, Table
from hedgerow.engines.local import LocalEngine

__all__ = ["Codes", "Columns", "Engine", "Flags", "LocalEngine", "Table"]
