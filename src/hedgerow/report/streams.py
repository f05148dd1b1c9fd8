"""Charts of a release of a stream."""

from __future__ import annotations

from hedgerow.data.streams import Estimates
from hedgerow.report.charts import Chart

__all__ = ["charts"]


def charts(data: Estimates, *, compared: bool) -> list[Chart]:
    """Draw nothing yet."""
    del data, compared
    return []
