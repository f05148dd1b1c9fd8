"""Charts of a release of nested records: shapes of trees, levels of generalisation, sizes of classes, losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow.charts import Chart, bar_chart, column_chart, stacked_bars
from hedgerow.kinds.records.anatomy import QUASI, SENSITIVE
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.loss import GENERALISATION, LOSS_PARTS, SUPPRESSION
from hedgerow.kinds.records.shape_measures import (
    HIDDEN,
    LEVELS,
    SUPPRESSED,
    VALUE,
    bin_counts,
    count_children,
    find_class_sizes,
    measure_levels,
    order_levels,
)
from hedgerow.numerics.arrays import Integers
from hedgerow.score import Score

#: data sets that are drawn together, by their names: the two of an anatomised release
PARTS = frozenset({QUASI, SENSITIVE})
#: from green, a value, to yellow, a wide group; and for what is not a label at all
_FINE, _WIDE = (42, 157, 92), (224, 176, 48)
_FIXED = {HIDDEN: "#b0b7be", SUPPRESSED: "#d1495b"}


def charts(data: Records, *, compared: bool) -> list[Chart]:
    """Draw shapes, levels of generalisation and sizes of classes; nothing if a comparison shows them."""
    if compared or not len(data):
        return []
    return [*_draw_shapes(data), *_draw_levels(measure_levels(data, data)), _draw_classes(data)]


def part_charts(outputs: Mapping[str, Records], *, compared: bool) -> list[Chart]:
    """Draw the shapes and the sizes of the groups of an anatomised release; nothing if a comparison shows them."""
    quasi = outputs[QUASI]
    if compared or not len(quasi):
        return []
    sizes = np.unique(quasi.tables[0].labels[:, -2], return_counts=True)[1]
    return [*_draw_shapes(quasi), _draw_sizes(sizes.astype(np.int64), "group")]


def _draw_shapes(data: Records) -> list[Chart]:
    """Draw the vertices per record, and how many children vertices have."""
    types = data.schema.types
    rows = [
        {"type": kind.name, "vertices per record": len(table) / len(data)}
        for kind, table in zip(types, data.tables, strict=True)
    ]
    drawn = [bar_chart("Vertices per record in the release", rows, "type", "vertices per record")]
    for number, kind in enumerate(types[1:], start=1):
        children, parent = f"children of type {kind.name}", f"vertices of type {kind.parent}"
        counted = bin_counts(count_children(data, number))
        rows = [{children: name, parent: count} for name, [count] in counted]
        if len(rows) > 1:
            drawn.append(
                column_chart(f"{_sentence(children)} per {kind.parent} in the release", rows, children, parent)
            )
    return drawn


def _draw_classes(data: Records) -> Chart:
    return _draw_sizes(find_class_sizes(data), "class")


def _draw_sizes(sizes: Integers, what: str) -> Chart:
    counted = bin_counts(np.repeat(sizes, sizes))
    rows = [{f"records of the {what}": name, "records": count} for name, [count] in counted if count]
    return column_chart(f"Records by size of their {what} in the release", rows, f"records of the {what}", "records")


def _draw_levels(scores: Sequence[Score]) -> list[Chart]:
    """Draw the share of labels at each depth of the hierarchies, one bar per attribute."""
    parts = order_levels([score.across for score in scores if score.value])
    rows: list[dict[str, Any]] = [
        {"name": score.at, "part": score.across, "value": score.value} for score in scores if score.value
    ]
    title = "Labels by level of generalisation: depth in the hierarchy"
    return [stacked_bars(title, rows, parts=parts, colours=_shades(parts))] if rows else []


def _draw_loss_parts(scores: Sequence[Score]) -> list[Chart]:
    """Draw the loss of each attribute, split into generalisation and suppression."""
    rows: list[dict[str, Any]] = [{"name": score.at, "part": score.across, "value": score.value} for score in scores]
    parts, colours = [GENERALISATION, SUPPRESSION], [_colour(1.0), _FIXED[SUPPRESSED]]
    return [stacked_bars(f"{_sentence(LOSS_PARTS)} (lower is better)", rows, parts=parts, colours=colours)]


def _shades(levels: Sequence[str]) -> list[str]:
    """Colour levels from fine to wide."""
    graded = [level for level in levels if level not in _FIXED]
    if VALUE not in graded:
        graded = [VALUE, *graded]
    steps = max(1, len(graded) - 1)
    return [_FIXED.get(level) or _colour(graded.index(level) / steps) for level in levels]


def _colour(part: float) -> str:
    mixed = (round(fine + part * (wide - fine)) for fine, wide in zip(_FINE, _WIDE, strict=True))
    return "#" + "".join(f"{number:02x}" for number in mixed)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


#: charts of scores that are drawn here
SCORE_CHARTS = {LEVELS: _draw_levels, LOSS_PARTS: _draw_loss_parts}
