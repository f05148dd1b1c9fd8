"""Every engine counts the same, wherever its rows are."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import TokenTree

from hedgerow import METHODS, Domain, FlatLaplace, PureDP, Sets, find_method
from hedgerow.data import Trajectories
from hedgerow.engines import Engine, LocalEngine
from hedgerow.engines.loopback import LoopbackEngine
from hedgerow.errors import InternalError
from hedgerow.privacy import NoiseOff
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.base import publish_with
from hedgerow.samples.walks import Walks, walks
from hedgerow.testing import check_replay

ENGINES = [LocalEngine(), LoopbackEngine(1), LoopbackEngine(4)]
# small codes, codes too wide to be packed beside a row number, and negative ones
WIDE = st.sampled_from([0, 1, 2, 3, -5, 2**40, 2**62, -(2**62)])
rows = st.lists(st.tuples(WIDE, WIDE, st.integers(-9, 9)), max_size=20)


def build(engine: Engine, held):
    columns = np.array(held, np.int64).reshape(-1, 3).T
    return engine.table(dict(zip("abv", columns, strict=True)))


def collected(engine: Engine, table, *names):
    columns = engine.collect(table, order=names)
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("engine", ENGINES, ids=["local", "loopback-1", "loopback-4"])
class TestVerbs:
    @given(held=rows)
    def test_total_sums_within_keys(self, engine, held):
        expected = Counter()
        for a, b, v in held:
            expected[a, b] += v
        table = engine.total(build(engine, held), ["a", "b"], "v")
        assert collected(engine, table, "a", "b", "v") == sorted((*key, v) for key, v in expected.items())

    @given(held=rows)
    def test_union_unites_bits_within_keys(self, engine, held):
        expected = Counter()
        for a, b, v in held:
            expected[a, b] |= v
        table = engine.union(build(engine, held), ["a", "b"], "v")
        assert collected(engine, table, "a", "b", "v") == sorted((*key, v) for key, v in expected.items())

    @given(held=rows)
    def test_distinct_keeps_each_key_once(self, engine, held):
        table = engine.distinct(build(engine, held), ["b", "a"])
        assert collected(engine, table, "a", "b") == sorted({(a, b) for a, b, _ in held})

    @given(held=rows)
    def test_select_keeps_every_row(self, engine, held):
        table = engine.select(build(engine, held), ["v"])
        assert collected(engine, table, "v") == sorted((v,) for _, _, v in held)

    @given(held=rows)
    def test_keep_and_derive_work_row_by_row(self, engine, held):
        table = engine.derive(build(engine, held), "twice", lambda c: 2 * c["v"])
        table = engine.keep(table, lambda c: c["twice"] > 4)
        assert collected(engine, table, "v", "twice") == sorted((v, 2 * v) for _, _, v in held if v > 2)
        assert engine.rows(table) == sum(v > 2 for _, _, v in held)

    @given(held=rows)
    def test_rank_numbers_each_group_in_order(self, engine, held):
        numbered = [(a, number, v) for number, (a, _, v) in enumerate(held)]
        table = engine.rank(build(engine, numbered), "a", "b", "nth")
        seen = Counter()
        expected = []
        for a, number, _ in numbered:
            expected.append((a, number, seen[a]))
            seen[a] += 1
        assert collected(engine, table, "a", "b", "nth") == sorted(expected)

    @given(held=rows, other=st.dictionaries(WIDE, st.integers(0, 9)))
    def test_join_keeps_what_has_a_partner(self, engine, held, other):
        right = engine.table({"a": np.array(list(other), np.int64), "w": np.array(list(other.values()), np.int64)})
        table = engine.join(build(engine, held), right, "a")
        assert collected(engine, table, "a", "v", "w") == sorted((a, v, other[a]) for a, _, v in held if a in other)

    @given(held=rows, most=st.integers(0, 5))
    def test_top_settles_ties_by_name(self, engine, held, most):
        table = engine.top(build(engine, held), "v", most, ties=["a", "b"])
        expected = sorted(held, key=lambda row: (-row[2], row[0], row[1]))[:most]
        assert collected(engine, table, "a", "b", "v") == sorted(expected)

    def test_a_join_with_repeated_keys_is_refused(self, engine):
        table = engine.table({"a": np.array([1, 1])})
        with pytest.raises(InternalError, match="each of its keys once"):
            engine.join(table, table, "a")


def test_tables_cannot_be_changed_from_outside():
    column = np.array([1, 2])
    engine = LocalEngine()
    table = engine.table({"a": column})
    column[0] = 9
    assert collected(engine, table, "a") == [(1,), (2,)]
    with pytest.raises(ValueError, match="read-only"):
        table.columns["a"][0] = 9


def test_tables_are_well_formed_and_stay_with_their_engine():
    local, loopback = LocalEngine(), LoopbackEngine()
    with pytest.raises(InternalError, match="equally long"):
        local.table({"a": np.array([1]), "b": np.array([1, 2])})
    with pytest.raises(InternalError, match="another engine"):
        local.rows(loopback.table({"a": np.array([1])}))
    with pytest.raises(InternalError, match="another engine"):
        loopback.rows(local.table({"a": np.array([1])}))


RECORDS = [[0, 2], [1], [2, 3, 0], [1], [4], [4, 0], [2], [1, 4]] * 3
OWNERS = [number % 7 for number in range(len(RECORDS))]


PRIVATE = [find_method(name)() for name in METHODS if PureDP in find_method(name).keeps]


@pytest.mark.parametrize("method", PRIVATE, ids=lambda m: m.name)
def test_the_replay_law_holds_between_engines(method):
    """Recorded on one machine, replayed on many: same questions, nothing lost, same bytes."""
    domain = Domain.declare(item=range(5), records_per_person=2)
    here, there = (
        method.kinds[0].from_records(RECORDS, domain=domain, persons=OWNERS, engine=engine)
        for engine in (LocalEngine(), LoopbackEngine(3))
    )
    for unit in method.kinds[0].units:
        promise = PureDP(epsilon=2, unit=unit)
        assert check_replay(method, here, there, promise, 1, within=Fraction(0)).loss == 0
        assert check_replay(method, there.without(0, unit=unit), here, promise, 1).moved


@pytest.mark.parametrize("unit", ["record", "person"])
@pytest.mark.parametrize("method", [FlatLaplace(threshold=0), TokenTree()], ids=lambda m: m.name)
def test_a_kind_gives_the_same_release_on_every_engine(method, unit):
    domain = Domain.declare(item=range(5), records_per_person=2)
    releases = set()
    for engine in (LocalEngine(), LoopbackEngine(3)):
        data = Sets.from_records(RECORDS, domain=domain, persons=OWNERS, engine=engine)
        release = publish_with(method, data, PureDP(epsilon=9, unit=unit), NoiseOff())
        releases.add(release.data.to_bytes())
        assert [len(piece) for _, piece in data.partition("first item")] == [9, 9, 3, 0, 3]
        assert data.count_units(unit) == (24 if unit == "record" else 7)
        assert len(data.without(1, unit=unit)) == (23 if unit == "record" else 20)
    assert len(releases) == 1


def test_trajectories_give_the_same_release_on_every_engine():
    made = walks(Walks(300, 4, 6))
    starts, pairs, traits = made.arrays()
    releases = set()
    for engine in (LocalEngine(), LoopbackEngine(3)):
        data = Trajectories.from_columns(
            records=300,
            row=np.repeat(np.arange(300), np.diff(starts)),
            time=pairs // 4,
            place=pairs % 4,
            sensitive=traits,
            domain=made.domain,
            engine=engine,
        )
        promise = KCL(k=3, c="60%", l=2, sensitive=["diagnosis=HIV"])
        release = find_method("kcl")().publish(data, promise)
        releases.add(release.data.to_bytes())
        assert len(data.without(5, unit="trajectory")) == 299
    assert len(releases) == 1
