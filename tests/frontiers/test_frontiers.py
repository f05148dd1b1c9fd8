"""Every engine counts and moves the same rows, wherever they are, and methods publish the same on each."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import METHODS, PureDP, find_method
from hedgerow.audit import Recorder
from hedgerow.data import Taxonomy
from hedgerow.errors import EngineError, InternalError, ParameterError
from hedgerow.frontiers import (
    ENGINES,
    LOCAL,
    Duration,
    ListSize,
    Mask,
    NextSymbol,
    Rule,
    SymbolBySize,
    SymbolLists,
    TransitionType,
    find_engine,
)
from hedgerow.frontiers import local as local_module
from hedgerow.frontiers.base import Counts, Engine, Frontier
from hedgerow.frontiers.sharded import ShardedCounts, ShardedEngine, ShardedFrontier
from hedgerow.kinds.graphs.methods.der import IMPOSSIBLE
from hedgerow.kinds.sets.methods.diffpart.publisher import children_of
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.generated_walks import Walks, walks
from hedgerow.privacy import NoisyAnswers
from hedgerow.privacy.questions import ArrangementQuestion, CellQuestion, CoinQuestion, ThresholdQuestion
from hedgerow.publisher import publish_with
from hedgerow.testing import changed, check_replay
from releases import CASES, DATA

SIZE = 6
TREE = Taxonomy.by_fanout(SIZE, 2)
records = st.lists(st.tuples(st.lists(st.integers(0, SIZE - 1), max_size=5), st.integers(1, 3)), max_size=15)
shards = st.integers(1, 4)


def symbol_lists(given_records) -> SymbolLists:
    starts = np.cumsum([0, *(len(symbols) for symbols, _ in given_records)])
    values = np.array([symbol for symbols, _ in given_records for symbol in symbols], np.int64)
    return SymbolLists.from_arrays(starts, values, np.array([weight for _, weight in given_records], np.int64), SIZE)


def table(counted: Counts) -> list[tuple[int, int, int]]:
    return list(zip(counted.cells.tolist(), counted.codes.tolist(), counted.counts.tolist(), strict=True))


# ---- what count and move are, by hand


@given(given_records=records, number=shards)
def test_symbols_are_counted_by_what_follows(given_records, number):
    """One row per symbol: counted, moved on by the symbol, and counted again."""
    lists = symbol_lists(given_records)
    for engine in (LOCAL, ShardedEngine(number)):
        counted = engine.open_symbols(lists).count(NextSymbol(SIZE))
        expected = Counter()
        for symbols, weight in given_records:
            for symbol in symbols:
                expected[0, symbol] += weight
        assert table(counted) == [(*key, n) for key, n in sorted(expected.items())]
        chosen = np.array([4, 0, 1])
        counted = counted.move(np.zeros(3, np.int64), chosen).count(NextSymbol(SIZE))
        expected = Counter()
        for symbols, weight in given_records:
            for here, then in itertools.pairwise([*symbols, SIZE]):
                if here in chosen:
                    expected[chosen.tolist().index(here), then] += weight
        assert table(counted) == [(*key, n) for key, n in sorted(expected.items())]


@given(given_records=records, number=shards)
def test_records_are_counted_by_their_symbols_and_by_children_of_a_node(given_records, number):
    lists = symbol_lists(given_records)
    sets = [(set(symbols), weight) for symbols, weight in given_records if symbols]
    node = TREE.root
    for engine in (LOCAL, ShardedEngine(number)):
        masks, children = Counter(), Counter()
        for symbols, weight in sets:
            masks[0, sum(1 << symbol for symbol in symbols)] += weight
            above = {TREE.children[node - SIZE].index(TREE.ancestor[1, symbol]) for symbol in symbols}
            children[0, sum(1 << rank for rank in above)] += weight
        frontier = engine.open_records(lists)
        assert table(frontier.count(Mask(SIZE))) == [(*key, n) for key, n in sorted(masks.items())]
        counted = frontier.count(children_of(TREE, np.array([node])))
        assert table(counted) == [(*key, n) for key, n in sorted(children.items())]


@given(given_records=records, number=shards)
def test_records_are_counted_by_their_size_and_symbols_with_it(given_records, number):
    lists, classes = symbol_lists(given_records), np.array([0, 2, 1, 0])
    sizes, symbols = Counter(), Counter()
    for record, weight in given_records:
        kind = int(classes[min(3, len(record))])
        if record:
            sizes[0, kind] += weight
        for symbol in record:
            symbols[0, 3 * symbol + kind] += weight
    for engine in (LOCAL, ShardedEngine(number)):
        counted = engine.open_records(lists).count(ListSize(classes))
        assert table(counted) == [(*key, n) for key, n in sorted(sizes.items())]
        counted = engine.open_symbols(lists).count(SymbolBySize(SIZE, classes))
        assert table(counted) == [(*key, n) for key, n in sorted(symbols.items())]


@given(given_records=records, number=shards, chosen=st.permutations(range(SIZE)), head=st.integers(1, SIZE))
def test_pairs_are_weighed_by_how_many_chosen_symbols_a_record_has(given_records, number, chosen, head):
    symbols, weights = np.array(chosen[:head]), np.array([5, 1, 30, 7, 1, 2, 11])
    sets = [(sorted(set(record)), weight) for record, weight in given_records]
    expected = [
        sum(
            weight * int(weights[len(set(record) & set(chosen[:head]))])
            for record, weight in sets
            if {first, second} <= set(record)
        )
        for first, second in itertools.combinations(chosen[:head], 2)
    ]
    for engine in (LOCAL, ShardedEngine(number)):
        assert engine.open_records(symbol_lists(sets)).weigh_pairs(symbols, weights).tolist() == expected


# ---- an engine in pieces does what one machine does

RULES = (
    TransitionType(3, 4),
    NextSymbol(SIZE),
    Mask(SIZE),
    partial(children_of, TREE),
    ListSize(np.array([0, 0, 1, 2])),
    SymbolBySize(SIZE, np.array([0, 1, 1, 0])),
)
times = np.array([0, 0, 1])


def applied(rule, frontier_cells: int) -> Rule:
    """The children of a node need one for each cell."""
    return rule if isinstance(rule, Rule) else rule(SIZE + np.arange(frontier_cells) % TREE.inner)


@given(given_records=records, number=shards, by_record=st.booleans(), draw=st.data())
def test_a_sharded_frontier_equals_a_local_one(given_records, number, by_record, draw):
    """Any rules after each other, any pairs chosen: also ones that do not occur, and in any order."""
    lists = symbol_lists(given_records)
    engines = (LOCAL, ShardedEngine(number))
    here, there = (e.open_records(lists) if by_record else e.open_symbols(lists) for e in engines)
    cells = 1
    for step in range(3):
        # behind the end of a record nobody has a habit
        rule = applied(draw.draw(st.sampled_from(RULES[min(step, 1) :])), cells)
        ours, theirs = here.count(rule), there.count(rule)
        assert table(ours) == table(theirs)
        assert ours.by_code().tolist() == theirs.by_code().tolist()
        occurring = list(zip(ours.cells.tolist(), ours.codes.tolist(), strict=True))
        others = st.tuples(st.integers(0, cells - 1), st.integers(0, rule.size - 1))
        pairs = st.one_of(st.sampled_from(occurring), others) if occurring else others
        chosen = np.array(draw.draw(st.lists(pairs, unique=True, max_size=6)), np.int64).reshape(-1, 2).T
        assert ours.find(*chosen).tolist() == theirs.find(*chosen).tolist()
        here, there, cells = ours.move(*chosen), theirs.move(*chosen), max(1, chosen.shape[1])
        if not chosen.shape[1]:
            break


@given(given_records=records)
def test_large_tables_are_counted_as_small_ones(given_records):
    """Sorting keys and looking them up in a table of all keys are the same."""
    small = LOCAL.open_symbols(symbol_lists(given_records)).count(NextSymbol(SIZE))
    moved = small.move(np.zeros(SIZE, np.int64), np.arange(SIZE)).count(NextSymbol(SIZE))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_module, "_fits", lambda *_: False)
        large = LOCAL.open_symbols(symbol_lists(given_records)).count(NextSymbol(SIZE))
        assert table(large) == table(small)
        assert table(large.move(np.zeros(SIZE, np.int64), np.arange(SIZE)).count(NextSymbol(SIZE))) == table(moved)
        nothing = np.zeros(0, np.int64)
        assert not len(large.move(nothing, nothing).rows)


@pytest.mark.parametrize("fits", [True, False])
def test_a_pair_can_be_chosen_once(fits, monkeypatch):
    monkeypatch.setattr(local_module, "_fits", lambda *_: fits)
    counted = LOCAL.open_symbols(symbol_lists([([1, 2], 1)])).count(NextSymbol(SIZE))
    with pytest.raises(InternalError, match="chosen twice: rows can move to one cell only"):
        counted.move(np.zeros(2, np.int64), np.ones(2, np.int64))


def test_a_row_at_the_end_of_its_record_stays_there():
    counted = LOCAL.open_records(symbol_lists([([1], 2), ([3], 1)])).count(NextSymbol(SIZE))
    for code in (1, SIZE, SIZE):
        counted = counted.move(np.zeros(1, np.int64), np.array([code])).count(NextSymbol(SIZE))
    assert table(counted) == [(0, SIZE, 2)]


def test_keys_that_do_not_fit_are_refused():
    counted = LOCAL.open_symbols(symbol_lists([([1, 2], 1)])).count(NextSymbol(SIZE))
    with pytest.raises(InternalError, match="do not fit into one key"):
        counted.move(np.zeros(2, np.int64), np.array([1, 2])).count(Mask(62))


@pytest.mark.parametrize(
    "rule",
    [*(applied(rule, 2) for rule in RULES), Duration(2, np.arange(9), times, times)],
    ids=lambda r: type(r).__name__,
)
def test_a_rule_can_be_sent_to_another_machine(rule):
    copy = pickle.loads(pickle.dumps(rule))  # noqa: S301 - our own bytes
    frontier = LOCAL.open_symbols(symbol_lists([([0, 1, 1, 5], 1), ([2, 3], 4)]))
    assert table(frontier.first().count(copy)) == table(frontier.first().count(rule))


# ---- methods

#: those that read all records at once are on this machine only
PRIVATE = [name for name in METHODS if PureDP in (method := find_method(name)).keeps and not method.reads_all_records]
SHARED = {name: case for name, case in CASES.items() if case.method in PRIVATE}
#: one case per method and data set is fast; other settings and units are slow
FAST = {(case.method, case.data): name for name, case in reversed(SHARED.items())}.values()
EACH = [pytest.param(name, marks=[pytest.mark.slow] * (name not in FAST)) for name in SHARED]


def published(case, engine: Engine, seed=1):
    promise = case.guarantee()
    recorder = Recorder(NoisyAnswers(seed))
    release = publish_with(case.publisher(), DATA[case.data]().on(engine), promise, recorder)
    return release, recorder.transcript


@pytest.mark.parametrize("name", EACH)
def test_a_release_is_the_same_on_every_engine(name):
    here, there = (published(SHARED[name], engine)[0] for engine in (LOCAL, ShardedEngine(3)))
    assert {k: out.to_bytes() for k, out in here.outputs.items()} == {k: o.to_bytes() for k, o in there.outputs.items()}
    assert here.to_json() == there.to_json()
    assert all(output.engine is LOCAL for output in there.outputs.values())


@pytest.mark.parametrize("name", EACH)
def test_the_replay_law_holds_between_engines(name):
    """Recorded on one machine, replayed on many: same questions, nothing lost, same bytes; and without one unit."""
    case = SHARED[name]
    promise = case.guarantee()
    method, data = case.publisher(), DATA[case.data]()
    there = data.on(ShardedEngine(3))
    assert check_replay(method, data, there, promise, 1, within=Fraction(0)).loss == 0
    assert check_replay(method, there.neighbour(0, unit=case.unit), data, promise, 1).moved


class Nothing(Engine):
    """An engine that has lost all rows."""

    name = "nothing"

    def open_records(self, lists: SymbolLists) -> Frontier:
        return LOCAL.open_records(lists.take(np.zeros(0, np.int64)))

    def open_symbols(self, lists: SymbolLists) -> Frontier:
        return LOCAL.open_symbols(lists.take(np.zeros(0, np.int64)))


def exact_answers(question) -> int:
    """The sum of all exact answers that a question has; coins have none."""
    if isinstance(question, ArrangementQuestion):
        return len(question.regions.cells)
    assert isinstance(question, (CellQuestion, ThresholdQuestion, CoinQuestion))
    if isinstance(question, CoinQuestion):
        return 0
    # which candidates are never chosen is public: their score does not come from the data
    return int(np.abs(question.exact[question.exact != IMPOSSIBLE]).sum())


@pytest.mark.parametrize("name", EACH)
def test_every_exact_answer_is_counted_by_the_engine(name):
    """Nothing is taken from the data around it: on an engine without rows, every exact answer is nothing."""
    _, asked = published(SHARED[name], Nothing())
    assert asked
    assert [exact_answers(question) for question, _ in asked] == [0] * len(asked)
    _, asked = published(SHARED[name], LOCAL)
    assert sum(exact_answers(question) for question, _ in asked)


@pytest.mark.parametrize("name", ["flat-laplace", "diffpart", "ngram", "prefix-tree", "prefix-tree, rides"])
def test_what_is_done_to_data_keeps_its_engine(name):
    engine, case = ShardedEngine(2), SHARED[name]
    data = DATA[case.data]().on(engine)
    others = [data.without_attributes(), data.bounded(case.unit), data.canonical(), data.narrowed(), data.truncated(2)]
    others += [data.without(0, unit=case.unit), data.shuffled(np.random.default_rng(1))]
    others += [piece for _, piece in data.partition("first item")] if hasattr(data, "partition") else []
    assert all(other.engine is engine for other in others)


def test_a_method_that_reads_all_records_stays_on_this_machine():
    data, promise, kcl = walks(Walks(60, 3, 4)), KCL(k=5, l=2), find_method("kcl")()
    assert kcl.publish(data, promise).data.engine is LOCAL
    with pytest.raises(
        EngineError, match="kcl reads all records at once, on this machine; it cannot run on engine 'sh"
    ):
        kcl.publish(data.on(ShardedEngine()), promise)


def test_engines_are_named():
    assert {name: find_engine(name).name for name in ENGINES} == {"local": "local"}
    with pytest.raises(ParameterError, match="there is no engine 'spark'; choose from local"):
        find_engine("spark")


# ---- planted bugs

BUGS = {
    "rows of one shard are lost": (
        ShardedCounts,
        "move",
        "for shard in self.shards",
        "for shard in (*self.shards[:1], *self.shards[2:])",
    ),
    "rows of one shard are there twice": (
        ShardedCounts,
        "move",
        "for shard in self.shards",
        "for shard in (*self.shards, self.shards[0])",
    ),
    "tables are put one behind another": (
        ShardedFrontier,
        "count",
        "total_by_key(keys, counts, self.shards[0].cells * rule.size)",
        "(keys, counts)",
    ),
    "rows stay where they are": (
        ShardedCounts,
        "move",
        "shard.move(cells, codes)",
        "shard.frontier",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_an_engine_that_counts_wrongly_is_caught(bug):
    with changed(*BUGS[bug]), pytest.raises(AssertionError):
        test_a_release_is_the_same_on_every_engine("ngram")
