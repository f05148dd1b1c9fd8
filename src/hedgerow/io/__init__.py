"""Reading and writing: one file per format and per kind, one reader for every kind."""

from hedgerow.io.domains import read_domain
from hedgerow.io.read import read
from hedgerow.io.release_writer import read_release, write_release

__all__ = ["read", "read_domain", "read_release", "write_release"]
