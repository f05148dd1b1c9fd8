"""One self-contained page about releases: what is promised and, for the owner, what was kept."""

from hedgerow.report.page import report

__all__ = ["report"]
