"""Utility of released sequences: count queries, frequent n-grams and sequential patterns, lengths, transitions.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
Every score comes with the same measure of trivial releases, the controls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hedgerow.data import Dataset, Value
from hedgerow.frontiers import NextSymbol
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sequences.patterns import Gram, SequenceIndex, top_scores, top_sequential_patterns
from hedgerow.measures import itemsets
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import describe_lists
from hedgerow.measures.itemsets import ItemsetIndex
from hedgerow.measures.scoring import mean_score, relative_errors
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.score import Better, Score, exact_score

UNIFORM, DRAWN = "uniform queries", "queries drawn from records,"
_CHARTS = {
    UNIFORM: "mean relative error of uniform queries, by their length",
    DRAWN: "mean relative error of queries drawn from records, by frequency",
}
_QUERIES = 2_000
_GROUPS = 5
_LONGEST = 8
_BUCKETS = ((0.0, 0.001), (0.001, 0.01), (0.01, 0.1), (0.1, math.inf))
_TOPS = (20, 100)
_SHOWN = 20
#: lengths are compared up to this many items if the method does not declare it, and never beyond the second
_CUT, _MOST = 20, 1_000
#: count queries of sets of items, in any order: uniform ones per group, and drawn ones
_ITEMSET_QUERIES, _DRAWN_ITEMSETS = 200, 1_000
describe = describe_lists


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: an empty release, single items, and the original truncated as the method truncates it."""
    original: Sequences = compared.original
    longest, nothing = longest_of(compared), np.zeros(0, np.int64)
    return {
        "empty release": Sequences.from_columns(row=nothing, item=nothing, domain=original.domain),
        "single items": Control("ngram-markov", {"n_max": 1, "l_max": longest}),
        f"original, cut at {longest}": original.truncated(longest),
    }


def measure(compared: Comparison, controls: Mapping[str, Sequences], rng: np.random.Generator) -> list[Score]:
    """Compare released sequences with the original, and with the controls."""
    original, released = compared.original, compared.released
    scores = measure_sequences(original, released, controls, rng, longest=longest_of(compared))
    return [*scores, *containment_scores(original, released, controls, rng)]


def longest_of(compared: Comparison) -> int:
    """How many items of a record the method used."""
    return min(_MOST, compared.number("longest", _CUT))


def measure_sequences(
    original: Sequences,
    released: Sequences,
    controls: Mapping[str, Sequences],
    rng: np.random.Generator,
    *,
    longest: int,
    queries: int = _QUERIES,
) -> list[Score]:
    """Compare released sequences with the original.

    Parameters
    ----------
    original, released
        The data before and after.
    controls
        Other releases by name.
    rng
        Draws the workloads.
    longest
        How many items of a sequence were used: lengths are compared up to it.
    queries
        How many queries each group of the uniform workload has; the drawn workload has five times as many.
    """
    truth, ours = SequenceIndex.of(original), SequenceIndex.of(released)
    others = {name: SequenceIndex.of(control) for name, control in controls.items()}
    workloads = {
        **uniform_queries(truth, rng, queries, longest),
        **drawn_queries(truth, rng, _GROUPS * queries),
    }
    scores = _query_scores(workloads, truth, ours, others)
    scores += _frequent(truth, {"": ours, **others})
    values = original.domain.values("item")
    return [
        *scores,
        *_sizes(truth, ours, others, longest),
        _prediction(truth, ours, others),
        *_most_frequent(values, truth, ours, others),
        *_lengths(truth, ours, longest),
        *_transitions(values, truth, ours),
    ]


def containment_scores(
    original: Sequences,
    released: Sequences,
    controls: Mapping[str, Sequences],
    rng: np.random.Generator,
) -> list[Score]:
    """Measure the relative error of count queries: sets of items drawn uniformly, and drawn from records [1]_.

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data
       publication: a case study on the Montreal transportation system". KDD 2012.
    """
    truth, ours = ItemsetIndex.of(original), ItemsetIndex.of(released)
    indexed_controls = {name: ItemsetIndex.of(control) for name, control in controls.items()}
    workloads = {
        **itemsets.uniform_queries(truth, rng, _ITEMSET_QUERIES),
        **itemsets.drawn_queries(truth, rng, _DRAWN_ITEMSETS),
    }
    scores: list[Score] = []
    for name, workload in workloads.items():
        if not workload:
            continue
        errors = itemsets.workload_errors(truth, {"": ours, **indexed_controls}, workload)
        scores.append(
            mean_score(
                f"mean relative error of sets of items, {name}",
                errors.pop(""),
                {other: float(each.mean()) for other, each in errors.items()},
                chart="mean relative error of sets of items, by workload",
                at=name,
            )
        )
    return scores


def uniform_queries(
    truth: SequenceIndex, rng: np.random.Generator, queries: int, longest: int
) -> dict[str, list[Gram]]:
    """Draw lists of items uniformly, in five groups of growing length [1]_.

    Nearly all long ones occur in no record, so an empty release looks good here: see the controls.

    References
    ----------
    .. [1] R. Chen, G. Acs, C. Castelluccia. "Differentially private sequential data publication via
       variable-length n-grams". CCS 2012.
    """
    workloads: dict[str, list[Gram]] = {}
    for group in range(1, _GROUPS + 1):
        most = max(1, group * longest // _GROUPS)
        lengths: list[int] = rng.integers(1, most + 1, queries).tolist()
        workloads[f"{UNIFORM} up to {most} item{'s' if most > 1 else ''}"] = [
            tuple(rng.integers(0, truth.size, length).tolist()) for length in lengths
        ]
    return workloads


def drawn_queries(truth: SequenceIndex, rng: np.random.Generator, queries: int) -> dict[str, list[Gram]]:
    """Draw n-grams of up to eight items from records, and group them by frequency (occurrences per record)."""
    if truth.records == 0:
        return {}
    ends = np.cumsum(truth.weights)
    rows = np.searchsorted(ends, rng.integers(0, ends[-1], queries), "right")
    sizes = np.diff(truth.starts)[rows]
    lengths = rng.integers(1, np.minimum(sizes, _LONGEST) + 1)
    begins = truth.starts[rows] + rng.integers(0, sizes - lengths + 1)
    drawn: list[Gram] = [
        tuple(truth.items[begin : begin + length].tolist())
        for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True)
    ]
    shares = truth.count(drawn)[0] / truth.records
    return {
        f"{DRAWN} frequency {_share(low, high)}": [
            query for query, share in zip(drawn, shares, strict=True) if low < share <= high
        ]
        for low, high in _BUCKETS
    }


def _share(low: float, high: float) -> str:
    return f"{100 * low:g}% to {100 * high:g}%" if high < math.inf else f"over {100 * low:g}%"


def _frequent(truth: SequenceIndex, releases: Mapping[str, SequenceIndex]) -> list[Score]:
    """The most frequent n-grams by occurrences, and sequential patterns by the records that contain them."""
    scores: list[Score] = []
    for what, top in (("n-grams", SequenceIndex.top), ("sequential patterns", top_sequential_patterns)):
        before = top(truth, max(_TOPS))
        after = {name: top(release, max(_TOPS)) for name, release in releases.items()}
        for most in _TOPS:
            scores += top_scores(what, before, after, most)
    return scores


def _query_scores(
    workloads: Mapping[str, list[Gram]],
    truth: SequenceIndex,
    ours: SequenceIndex,
    controls: Mapping[str, SequenceIndex],
) -> list[Score]:
    """Count all queries in one go, by occurrence and by record."""
    queries = [query for workload in workloads.values() for query in workload]
    ends = np.cumsum([len(workload) for workload in workloads.values()])
    exact = truth.count(queries)
    answers = {name: release.count(queries) for name, release in {"": ours, **controls}.items()}
    scores: list[Score] = []
    for name, begin, end in zip(workloads, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        for which, what in enumerate(("occurrences", "records")):
            errors = {
                release: relative_errors(exact[which][begin:end], counts[which][begin:end], truth.records)
                for release, counts in answers.items()
            }
            if end > begin:
                scores.append(_query_score(name, what, errors))
    return scores


def _query_score(name: str, what: str, errors: Mapping[str, Floats]) -> Score:
    kind = UNIFORM if name.startswith(UNIFORM) else DRAWN
    return mean_score(
        f"mean relative error of {name}, {what}",
        errors[""],
        {control: float(each.mean()) for control, each in errors.items() if control},
        chart=f"{_CHARTS[kind]}; {what}",
        at=name.removeprefix(kind).strip(),
    )


def _sizes(
    truth: SequenceIndex, ours: SequenceIndex, controls: Mapping[str, SequenceIndex], longest: int
) -> list[Score]:
    """The number of sequences, and the distance of their lengths from those of the original, truncated alike."""
    releases = {"": ours, **controls}
    whole = max(1, truth.records)
    exact = truth.lengths(longest) / whole
    distance = {
        # an empty release has the largest distance, 1
        name: 0.5 * float(np.abs(release.lengths(longest) / release.records - exact).sum())
        if release.records
        else float(truth.records > 0)
        for name, release in releases.items()
    }
    ratio = {name: release.records / whole for name, release in releases.items()}
    return [
        _score("ratio of released to original sequences", ratio, "neither"),
        _score(f"total variation of lengths, cut at {longest}", distance, "lower"),
    ]


def _prediction(truth: SequenceIndex, ours: SequenceIndex, controls: Mapping[str, SequenceIndex]) -> Score:
    """How often the likeliest next item (or end), as learnt from a release, is the true one."""
    sources = {"": ours, **controls, "original": truth}
    accuracy = {name: _prediction_accuracy(truth, learnt) for name, learnt in sources.items()}
    return _score("share of next items predicted correctly from the item before", accuracy, "higher")


def _prediction_accuracy(truth: SequenceIndex, learnt: SequenceIndex) -> float:
    """Predict the likeliest symbol after each item; item 0 where nothing was learnt."""
    exact, model = _count_transitions(truth), _count_transitions(learnt)
    guess = np.zeros(truth.size, np.int64)
    # the last one written stays: the most frequent, and of those the first
    order = np.lexsort((-model.then, model.counts))
    guess[model.first[order]] = model.then[order]
    right = exact.then == guess[exact.first]
    return float(exact.counts[right].sum() / max(1, exact.counts.sum()))


class _TransitionCounts(NamedTuple):
    """How often each item, or the end, follows each item; only transitions that occur."""

    first: Integers
    then: Integers
    counts: Integers

    def table(self, shown: Sequence[int]) -> Integers:
        """The counts among a few items."""
        place = {code: number for number, code in enumerate(shown)}
        table = np.zeros((len(shown), len(shown)), np.int64)
        wanted = np.isin(self.first, shown) & np.isin(self.then, shown)
        for a, b, n in zip(*(part[wanted].tolist() for part in self), strict=True):
            table[place[a], place[b]] = n
        return table


def _count_transitions(index: SequenceIndex) -> _TransitionCounts:
    first = index.positions().count(NextSymbol(index.size))
    inner = first.codes < index.size
    pairs = first.move(first.cells[inner], first.codes[inner]).count(NextSymbol(index.size))
    return _TransitionCounts(first.codes[inner][pairs.cells], pairs.codes, pairs.counts)


def _most_frequent(
    values: Sequence[Value], truth: SequenceIndex, ours: SequenceIndex, controls: Mapping[str, SequenceIndex]
) -> list[Score]:
    top = truth.top(_SHOWN)
    counts = ours.count(list(top))[0]
    others = {name: control.count(list(top))[0] for name, control in controls.items()}
    return [
        exact_score(
            f"occurrences of {_named(values, gram)}",
            int(counts[number]),
            {"original": n, **{name: int(occurrences[number]) for name, occurrences in others.items()}},
            chart="the most frequent n-grams",
            at=_named(values, gram),
        )
        for number, (gram, n) in enumerate(top.items())
    ]


def _lengths(truth: SequenceIndex, ours: SequenceIndex, longest: int) -> list[Score]:
    before, after = truth.lengths(longest), ours.lengths(longest)
    return [
        exact_score(
            f"sequences of {length} items",
            int(after[length]),
            {"original": int(before[length])},
            chart="sequences by length",
            at=f"{length}{' and more' if length == longest else ''}",
        )
        for length in range(1, min(longest, _SHOWN) + 1)
    ]


def _transitions(values: Sequence[Value], truth: SequenceIndex, ours: SequenceIndex) -> list[Score]:
    """Transitions between the most frequent items."""
    before, after = _count_transitions(truth), _count_transitions(ours)
    total = np.bincount(before.first, before.counts, truth.size)
    shown: list[int] = np.sort(np.argsort(-total, kind="stable")[:_SHOWN]).tolist()
    exact, released = before.table(shown), after.table(shown)
    return [
        exact_score(
            f"{values[second]} after {values[first]}",
            int(released[row, column]),
            {"original": int(exact[row, column])},
            chart="transitions between the most frequent items",
            at=f"{values[second]}",
            across=f"{values[first]}",
        )
        for row, first in enumerate(shown)
        for column, second in enumerate(shown)
    ]


def _named(values: Sequence[Value], gram: Gram) -> str:
    return " ".join(str(values[code]) for code in gram)


def _score(name: str, values: Mapping[str, float], better: Better) -> Score:
    """An exact score; the value of the release has the empty name, the others are controls."""
    controls = {control: value for control, value in values.items() if control}
    return exact_score(name, values[""], controls, better=better)
