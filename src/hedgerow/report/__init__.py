"""One self-contained page of what was promised and, for the owner, of what was kept."""

from hedgerow.report.page import report

__all__ = ["report"]
