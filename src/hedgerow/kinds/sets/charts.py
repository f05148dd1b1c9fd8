"""Charts of a release of sets."""

from __future__ import annotations

from collections import Counter

from hedgerow.charts import Chart, bar_chart, column_chart
from hedgerow.kinds.sets.data import Sets
from hedgerow.measures.itemsets import ItemsetIndex

_MOST = 15


def charts(data: Sets, *, compared: bool) -> list[Chart]:
    """Draw the sizes of records, and the most frequent itemsets unless a comparison shows them."""
    values = data.domain.values("item")
    top = [
        {"item": ", ".join(str(values[code]) for code in itemset), "records": support}
        for itemset, support in ItemsetIndex.of(data).top(_MOST).items()
    ]
    if not top:
        return []
    sizes: Counter[int] = Counter()
    for itemset, count in data.itemsets():
        sizes[len(itemset)] += count
    rows = [{"items": size, "records": count} for size, count in sorted(sizes.items())]
    frequent = bar_chart("Most frequent itemsets in the release", top, "item", "records")
    lengths = column_chart("Items per record in the release", rows, "items", "records")
    return [lengths] if compared else [frequent, lengths]
