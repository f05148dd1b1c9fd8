"""Queries on nested records: how many records have a vertex with a label, a sensitive value, or two on one path.

They are answered by the estimator of all count queries (`match_chances.py`): on the original, on generalised records,
and on anatomised ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.records.count_intervals import find_estimate
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.equivalence_classes import bucket_numbers
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.match_chances import find_matches
from hedgerow.kinds.records.query_sources import ByTree, KnownTrees, source_of
from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.kinds.records.tree_pattern import Asked, Named, Pattern, build_pattern
from hedgerow.measures.scoring import mean_score
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.score import Score, exact_score

ACCURACY = "accuracy of queries"
#: queries below this share of all records are not asked
_LEAST = 0.01
#: how often a query is drawn, per query that is asked for
_DRAWS = 10


class Condition(NamedTuple):
    """What is asked of a vertex: a label of one of its columns, or the codes of its sensitive value; or both."""

    type: int
    column: int = -1
    label: int = -1
    values: tuple[int, ...] = ()


#: conditions on vertices of one path, the deepest one first
Query: TypeAlias = tuple[Condition, ...]


def _no_sources() -> dict[int, tuple[Compared, KnownTrees | ByTree]]:
    return {}


#: what is asked: one data set, or the two of an anatomised release; with the codes of the original
Compared: TypeAlias = "Records | Mapping[str, Records]"


@dataclass(frozen=True)
class Workload:
    """Queries on the records of one schema: the hierarchies of each type, and the bucket of each sensitive value."""

    schema: RecordSchema
    hierarchies: tuple[tuple[Hierarchy, ...], ...]
    buckets: tuple[Integers, ...]
    _sources: dict[int, tuple[Compared, KnownTrees | ByTree]] = field(default_factory=_no_sources, repr=False)

    @classmethod
    def of(cls, data: Records) -> Workload:
        """Prepare queries on some data."""
        axes = [kind.sensitive_axis for kind in data.schema.types]
        return cls(
            data.schema,
            tuple(data.hierarchies(number) for number in range(len(data.tables))),
            tuple(bucket_numbers(data.domain.axis(axis)) if axis else np.zeros(0, np.int64) for axis in axes),
        )

    def estimate(self, data: Compared, query: Query) -> float:
        """Return the expected number of records with a vertex, or a path, that satisfies a query."""
        return self.estimate_pattern(data, self.pattern(query))

    def estimate_pattern(self, data: Compared, pattern: Pattern) -> float:
        """Return the expected count of a pattern."""
        if id(data) not in self._sources:  # with the data itself, so that nothing else gets its number
            self._sources[id(data)] = data, source_of({"": data} if isinstance(data, Records) else data)
        source = self._sources[id(data)][1]
        return find_estimate(source, find_matches(source, pattern))

    def pattern(self, query: Query) -> Pattern:
        """Write a query as a pattern."""
        named: dict[Named, Asked] = {}
        for condition in query:
            labels: dict[int, Flags] = {}
            if condition.column >= 0:
                tree = self.hierarchies[condition.type][condition.column]
                labels[condition.column] = (tree.ancestors[: tree.leaves] == condition.label).any(axis=1)
            values = np.isin(np.arange(len(self.buckets[condition.type])), condition.values)
            named[condition.type, 1] = Asked(labels, values if condition.values else None)
        return build_pattern(self.schema, named)


def find_accuracies(exact: NDArray[np.floating], estimated: NDArray[np.floating]) -> Floats:
    """Return 1 minus the relative error of each query; negative if the estimate is more than twice the count.

    Examples
    --------
    >>> round(float(find_accuracies(np.array([10.0, 20, 5]), np.array([8.0, 25, 5])).mean()), 4)
    0.85
    """
    return 1 - np.abs(estimated - exact) / exact


def measure_queries(
    original: Records, releases: Mapping[str, Compared], rng: np.random.Generator, *, queries: int
) -> list[Score]:
    """Measure the accuracy of random queries, by family; the release has the empty name.

    A release is one data set, or the two of an anatomised one (`recoding.recode_parts`).

    Queries are drawn from the vertices of the original. Those that fewer than one in a hundred records satisfy are left
    out: their relative error says little. The mean takes negative accuracies as 0.
    """
    workload = Workload.of(original)
    scores: list[Score] = []
    every: dict[str, list[Floats]] = {name: [] for name in releases}
    for family, draw in _FAMILIES.items():
        drawn = _draw_queries(original, workload, draw, queries, rng)
        if not drawn:
            continue
        exact = np.array([count for _, count in drawn])
        for name, data in releases.items():
            estimated = np.array([workload.estimate(data, query) for query, _ in drawn])
            every[name].append(find_accuracies(exact, estimated))
        own = {name: np.maximum(0, accuracies[-1]) for name, accuracies in every.items()}
        scores.append(_mean(f"mean {ACCURACY}, {family}", own, chart=ACCURACY, at=family))
    return [*_totals({name: np.concatenate(each) for name, each in every.items() if each}), *scores]


def _totals(accuracies: Mapping[str, Floats]) -> list[Score]:
    if not accuracies:
        return []
    medians = {name: float(np.median(each)) for name, each in accuracies.items()}
    raw = {name: float(each.mean()) for name, each in accuracies.items()}
    return [
        _mean(f"mean {ACCURACY}", {name: np.maximum(0, each) for name, each in accuracies.items()}),
        exact_score(f"median {ACCURACY}", medians.pop(""), medians, better="higher"),
        exact_score(f"mean {ACCURACY}, negative ones included", raw.pop(""), raw, better="higher"),
    ]


def _mean(name: str, accuracies: Mapping[str, Floats], *, chart: str = "", at: str = "") -> Score:
    others = {control: float(each.mean()) for control, each in accuracies.items() if control}
    return mean_score(name, accuracies[""], others, better="higher", chart=chart, at=at)


_Draw: TypeAlias = "Callable[[Records, Workload, np.random.Generator], Query | None]"


def _draw_queries(
    original: Records, workload: Workload, draw: _Draw, queries: int, rng: np.random.Generator
) -> list[tuple[Query, float]]:
    """Draw queries that enough records satisfy, with the number of these records."""
    least = max(1.0, _LEAST * len(original))
    drawn: list[tuple[Query, float]] = []
    for _ in range(_DRAWS * queries if len(original) else 0):
        query = draw(original, workload, rng)
        if query is None or len(drawn) == queries:
            break
        count = workload.estimate(original, query) if query else 0.0
        if count >= least:
            drawn.append((query, count))
    return drawn


def _ask_label(data: Records, workload: Workload, rng: np.random.Generator) -> Query | None:
    """Ask for a label of a vertex, or for a group that contains it."""
    numbers = [number for number, kind in enumerate(data.schema.types) if kind.quasi]
    at = _draw_vertex(data, numbers, rng)
    return at and _query(_label_at(data, workload, *at, rng))


def _ask_value(data: Records, workload: Workload, rng: np.random.Generator) -> Query | None:
    """Ask for the bucket of the sensitive value of a vertex, or for two that follow each other."""
    numbers = [number for number, kind in enumerate(data.schema.types) if kind.sensitive]
    at = _draw_vertex(data, numbers, rng)
    return at and _query(_value_at(data, workload, *at, rng))


def _ask_both(data: Records, workload: Workload, rng: np.random.Generator) -> Query | None:
    """Ask for a label and for the sensitive value of one vertex."""
    numbers = [number for number, kind in enumerate(data.schema.types) if kind.quasi and kind.sensitive]
    at = _draw_vertex(data, numbers, rng)
    if at is None:
        return None
    label, value = _label_at(data, workload, *at, rng), _value_at(data, workload, *at, rng)
    return _query(label and value and label._replace(values=value.values))


def _ask_path(data: Records, workload: Workload, rng: np.random.Generator) -> Query | None:
    """Ask for a label or a sensitive value of a vertex, and for one of a vertex above it."""
    at = _draw_vertex(data, range(1, len(data.tables)), rng)
    if at is None:
        return None
    number, row = at
    path = [at]
    while data.schema.parents[number] >= 0:
        number, row = data.schema.parents[number], int(data.tables[number].parent[row])
        path.append((number, row))
    ends = path[0], path[int(rng.integers(1, len(path)))]
    return _query(*(_any_at(data, workload, *end, rng) for end in ends))


#: families of queries: how one is drawn; None if the schema has none of them, empty if the vertex has not
_FAMILIES: dict[str, _Draw] = {
    "a label": _ask_label,
    "a sensitive value": _ask_value,
    "both at one vertex": _ask_both,
    "two vertices of a path": _ask_path,
}


def _query(*conditions: Condition | None) -> Query:
    given = tuple(condition for condition in conditions if condition is not None)
    return given if len(given) == len(conditions) else ()


def _draw_vertex(data: Records, numbers: Sequence[int], rng: np.random.Generator) -> tuple[int, int] | None:
    """Draw a type, each equally likely, and one of its vertices."""
    filled = [number for number in numbers if len(data.tables[number])]
    if not filled:
        return None
    number = filled[int(rng.integers(len(filled)))]
    return number, int(rng.integers(len(data.tables[number])))


def _any_at(data: Records, workload: Workload, number: int, row: int, rng: np.random.Generator) -> Condition | None:
    kind = data.schema.types[number]
    by_label = bool(kind.quasi) and (kind.sensitive is None or rng.random() < 0.5)  # noqa: PLR2004
    return _label_at(data, workload, number, row, rng) if by_label else _value_at(data, workload, number, row, rng)


def _label_at(data: Records, workload: Workload, number: int, row: int, rng: np.random.Generator) -> Condition | None:
    labels = data.tables[number].labels[row]
    column = int(rng.integers(len(labels)))
    chain = workload.hierarchies[number][column].ancestors[labels[column]]
    chain = chain[chain >= 0][1:]  # the root asks for nothing
    return Condition(number, column, int(rng.choice(chain))) if len(chain) else None


def _value_at(data: Records, workload: Workload, number: int, row: int, rng: np.random.Generator) -> Condition | None:
    code, bucket = int(data.tables[number].sensitive[row]), workload.buckets[number]
    if code < 0:
        return None
    wanted = [bucket[code], bucket[code] + int(rng.integers(2))]
    return Condition(number, values=tuple(np.flatnonzero(np.isin(bucket, wanted)).tolist()))
