"""Reading and writing: one file per format, one reader for every kind."""

from hedgerow.io.domains import read_domain
from hedgerow.io.folder import read_release, write_release
from hedgerow.io.read import KINDS, find_kind, read

__all__ = ["KINDS", "find_kind", "read", "read_domain", "read_release", "write_release"]
