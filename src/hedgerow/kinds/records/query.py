"""Count queries on nested records: originals, generalised releases and anatomised ones, by one estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from hedgerow.data import Axis, Source
from hedgerow.kinds.records.anatomy import QUASI, SENSITIVE, is_anatomised
from hedgerow.kinds.records.count_intervals import find_estimate, find_interval
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.match_chances import find_matches
from hedgerow.kinds.records.query_sources import ByTree, ByVertex, KnownTrees, source_of
from hedgerow.kinds.records.query_text import Vocabulary, parse_query
from hedgerow.score import CountEstimate

_SUPPRESSED = "What was suppressed is not counted: the estimate is of the published vertices."
_LINKS = (
    "The interval holds the middle 95 % of the count over all links that are equally likely within the groups. It says "
    "nothing about suppressed vertices, nothing against outside knowledge, and nothing where labels and sensitive "
    "values depend on each other."
)
_LABELS = (
    "The interval holds the middle 95 % of the count if all values that a label stands for are equally likely. It says "
    "nothing about suppressed vertices, and nothing where values depend on each other."
)
_OWNER = "Counted in private data: for the owner only."


def query(
    outputs: Mapping[str, Records], where: Iterable[str], count: str, coins: np.random.Generator, *, released: bool
) -> CountEstimate:
    """Count records, or vertices of a type, that have what is asked for.

    Parameters
    ----------
    outputs
        One data set, or the two of an anatomised release.
    where
        Conditions, all of which hold.
    count
        `record`, or the name of a type.
    coins
        Draws links where all of them are too many.
    released
        Whether the data was published; if not, the count is exact and private.
    """
    source = source_of(outputs)
    pattern = parse_query(where, count, _vocabulary(outputs, source, released=released))
    asked: KnownTrees | ByTree = source
    if isinstance(source, ByTree) and not pattern.asks_values:
        asked = source.known  # labels are exact, whatever tree of values goes with them
    matches = find_matches(asked, pattern)
    estimate = find_estimate(asked, matches)
    interval = find_interval(asked, pattern, matches, coins)
    if not released:
        notes = [_OWNER]
    else:
        linked = isinstance(source, (ByTree, ByVertex))
        notes = [*([_LINKS if linked else _LABELS] if interval.low < interval.high else []), _SUPPRESSED]
    return CountEstimate(
        counted=count.strip(), estimate=estimate, low=interval.low, high=interval.high, notes=tuple(notes)
    )


def _vocabulary(outputs: Mapping[str, Records], source: KnownTrees | ByTree, *, released: bool) -> Vocabulary:
    """What can be asked for: attributes of the original, and not the fields that anatomy adds."""
    first, last = (outputs[QUASI], outputs[SENSITIVE]) if is_anatomised(outputs) else (*outputs.values(),) * 2
    axes: dict[str, Axis] = {}
    for kind in source.schema.types:
        axes |= {name: first.domain.axis(name) for name in kind.quasi_axes}
        if kind.sensitive_axis is not None:
            axes[kind.sensitive_axis] = last.domain.axis(kind.sensitive_axis)
    # which sensitive values occur is private, unless they are published or the schema declares them
    return Vocabulary(source.schema, axes, public=released or first.domain.source is not Source.INFERRED)
