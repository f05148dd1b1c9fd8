"""Utility of released sets: count queries, frequent itemsets, sizes and number of records.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
Every score comes with the same measure of trivial releases, the controls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Taxonomy, Value
from hedgerow.kinds.sets.data import Sets
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import describe_lists
from hedgerow.measures.itemsets import (
    DRAWN,
    GROUPS,
    UNIFORM,
    Itemset,
    ItemsetIndex,
    drawn_queries,
    uniform_queries,
    workload_errors,
)
from hedgerow.measures.scoring import mean_score
from hedgerow.score import Score, exact_score

_CHARTS = {
    UNIFORM: "mean relative error of uniform queries, by their length",
    DRAWN: "mean relative error of queries drawn from records, by support",
}
_QUERIES = 2_000
_TOPS = (20, 100)
_SHOWN = 20
#: the part of the records that is their tail
_TAIL = 0.01
describe = describe_lists


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: an empty release, and noisy counts of single items."""
    nothing = np.zeros(0, np.int64)
    return {
        "empty release": Sets.from_columns(row=nothing, item=nothing, domain=compared.original.domain),
        "noisy singletons": Control("noisy-singletons"),
    }


def measure(
    compared: Comparison, controls: Mapping[str, Sets], rng: np.random.Generator, *, queries: int = _QUERIES
) -> list[Score]:
    """Compare released sets with the original, and with the controls.

    Parameters
    ----------
    rng
        Draws the workloads.
    queries
        How many queries each group of the uniform workload has; the drawn workload has five times as many.
    """
    original: Sets = compared.original
    truth, ours = ItemsetIndex.of(original), ItemsetIndex.of(compared.released)
    others = {name: ItemsetIndex.of(control) for name, control in controls.items()}
    workloads = {
        **uniform_queries(truth, rng, queries),
        **drawn_queries(truth, rng, GROUPS * queries),
    }
    scores = [_query_score(name, workload, truth, ours, others) for name, workload in workloads.items() if workload]
    for most in _TOPS:
        scores += _top_scores(most, truth, ours, others)
    scores += _support_scores(original.domain.values("item"), truth, ours, others)
    return [*scores, *_size_scores(truth, ours, others), _number_score(truth, ours, others)]


def set_errors(truth: ItemsetIndex, released: ItemsetIndex, workload: Sequence[Itemset]) -> NDArray[np.float64]:
    """The relative error of each query."""
    return workload_errors(truth, {"": released}, workload)[""]


def top_utility(truth: ItemsetIndex, released: ItemsetIndex, most: int) -> tuple[float, int]:
    """Return the utility of the most frequent itemsets, and how many are missing from the released top.

    The utility is one minus the mean relative error of their supports, where a missing itemset has the error 1. It is
    1 if all are kept exactly, and can be negative.
    """
    before, after = truth.top(most), released.top(most)
    lost = [abs(n - after.get(itemset, 0)) / n for itemset, n in before.items()]
    return 1 - sum(lost) / max(1, len(lost)), len(before.keys() - after.keys())


def usefulness_bound(*, epsilon: float, tree: Taxonomy, fanout: int, c2: float, covered: int, beta: float) -> float:
    r"""Return $\delta$: with probability $1 - \beta$ no query errs by more under DiffPart.

    The printed bound, solved for $\delta$: $m (\gamma + \ln(m / \beta) / \varphi)$ for a query that
    covers $m$ itemsets, $\varphi = \varepsilon / 2n$ for $n$ inner nodes and
    $\gamma = \sqrt{2} c_2 \log_f |I| / \varphi$. The bound is very loose.

    Examples
    --------
    >>> tree = Taxonomy.by_fanout(4, 2)
    >>> settings = {"epsilon": 1.0, "tree": tree, "fanout": 2, "c2": 1.2, "covered": 1, "beta": 0.05}
    >>> round(usefulness_bound(**settings), 4)
    38.3391
    """
    phi = epsilon / (2 * tree.inner)
    gamma = math.sqrt(2) * c2 * math.log(tree.leaves, fanout) / phi
    return covered * (gamma + math.log(covered / beta) / phi)


def _query_score(
    name: str,
    workload: Sequence[Itemset],
    truth: ItemsetIndex,
    ours: ItemsetIndex,
    controls: Mapping[str, ItemsetIndex],
) -> Score:
    errors = workload_errors(truth, {"": ours, **controls}, workload)
    return mean_score(
        f"mean relative error, {name}",
        errors.pop(""),
        {other: float(each.mean()) for other, each in errors.items()},
        chart=next(chart for kind, chart in _CHARTS.items() if name.startswith(kind)),
        at=next(name.removeprefix(kind) for kind in _CHARTS if name.startswith(kind)).strip(),
    )


def _top_scores(
    most: int, truth: ItemsetIndex, ours: ItemsetIndex, controls: Mapping[str, ItemsetIndex]
) -> list[Score]:
    utility, missing = top_utility(truth, ours, most)
    others = {name: top_utility(truth, control, most) for name, control in controls.items()}
    loss = exact_score(
        f"utility loss of the top {most} itemsets",
        1 - utility,
        {name: 1 - kept for name, (kept, _) in others.items()},
        better="lower",
    )
    false_negatives = exact_score(
        f"top {most} itemsets missing from the released top {most}",
        missing,
        {name: absent for name, (_, absent) in others.items()},
        better="lower",
    )
    return [loss, false_negatives]


def _support_scores(
    values: Sequence[Value], truth: ItemsetIndex, ours: ItemsetIndex, controls: Mapping[str, ItemsetIndex]
) -> list[Score]:
    """How many records contain each of the most frequent itemsets, before and after."""
    before = truth.top(_SHOWN)
    after = ours.supports(list(before)).tolist()
    others = {name: control.supports(list(before)).tolist() for name, control in controls.items()}
    scores: list[Score] = []
    for number, (itemset, support) in enumerate(before.items()):
        named = ", ".join(str(values[item]) for item in itemset)
        scores.append(
            exact_score(
                f"records with {named}",
                after[number],
                {"original": support, **{name: supports[number] for name, supports in others.items()}},
                chart="records that contain the most frequent itemsets",
                at=named,
            )
        )
    return scores


def size_distance(truth: ItemsetIndex, released: ItemsetIndex) -> float:
    """The total variation distance of the distributions of sizes; 1 if nothing was released.

    That is the share of records that would have to change their size.
    """
    before, after = _size_shares(truth), _size_shares(released)
    longest = max(len(before), len(after))
    before, after = (np.pad(shares, (0, longest - len(shares))) for shares in (before, after))
    return float(np.abs(before - after).sum() / 2)


def tail_size(data: ItemsetIndex) -> float:
    """The mean size of the longest hundredth of the records; 0 if there are none."""
    shares = _size_shares(data)
    beyond = np.cumsum(shares[::-1])[::-1] - shares  # the share of longer records
    kept = np.clip(_TAIL - beyond, 0.0, shares)
    return float((kept * np.arange(len(shares))).sum() / kept.sum())


def _size_shares(data: ItemsetIndex) -> NDArray[np.float64]:
    """The share of the records of 0, 1, ... items; no records count as empty ones."""
    if data.records == 0:
        return np.ones(1)
    return np.bincount(np.diff(data.row_starts), data.weights) / data.records


def _size_scores(truth: ItemsetIndex, ours: ItemsetIndex, controls: Mapping[str, ItemsetIndex]) -> list[Score]:
    """How well the sizes of records are kept: all of them, and those of the longest records."""
    whole = tail_size(truth) or 1.0
    distance = exact_score(
        "total variation of the sizes of records",
        size_distance(truth, ours),
        {name: size_distance(truth, control) for name, control in controls.items()},
        better="lower",
    )
    tail = exact_score(
        "ratio of released to original mean size of the longest hundredth of the records",
        tail_size(ours) / whole,
        {name: tail_size(control) / whole for name, control in controls.items()},
    )
    return [distance, tail]


def _number_score(truth: ItemsetIndex, ours: ItemsetIndex, controls: Mapping[str, ItemsetIndex]) -> Score:
    whole = max(1, truth.records)
    others = {name: control.records / whole for name, control in controls.items()}
    return exact_score("ratio of released to original records", ours.records / whole, others)
