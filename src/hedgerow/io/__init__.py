"""Reading and writing: one file a format, one reader for every kind."""

from hedgerow.io.read import KINDS, find_kind, read

__all__ = ["KINDS", "find_kind", "read"]
