"""Classes: every promise of the method on random records, and searches with and without pruning."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tree_cases import FullSearch, forest_of, record_sets

from hedgerow.errors import NotSatisfied
from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.data import VertexTable
from hedgerow.kinds.records.methods.clustree.clustering import ClassSearch, build_classes, multipliers
from hedgerow.kinds.records.methods.clustree.publisher import ClusTree, anonymise, attach_leftovers, join_records
from hedgerow.kinds.records.methods.clustree.representative import MAPPINGS, bucket_codes
from hedgerow.privacy import All

METHODS = st.builds(
    ClusTree,
    mapping=st.sampled_from(sorted(MAPPINGS)),
    passes=st.sampled_from(["many", "single"]),
    cost=st.sampled_from(["members", "paper"]),
    threshold=st.sampled_from(["relative", "absolute"]),
    leftovers=st.sampled_from(["attach", "suppress"]),
    block=st.sampled_from([5, 1000]),
)
#: k, and l or None
PROMISES = st.sampled_from([(1, 2), (2, None), (1, 3), (3, None), (4, 2), (5, 2), (6, 3)])
MANY = record_sets(least=0, most=14, width=2)


def guarantee_of(k, l):  # noqa: E741
    parts = [*([KAnonymity(k=k)] if k > 1 else []), *([LDiversity(l=l)] if l else [])]
    return parts[0] if len(parts) == 1 else All(*parts)


def classes_of(method, data, k, l):  # noqa: E741
    forest = forest_of(data)
    return forest, method.classes(forest, k=k, l=l)


@pytest.mark.filterwarnings("ignore:at most", "ignore:fewer than")
@settings(max_examples=150, deadline=None)
@given(data=MANY, method=METHODS, promise=PROMISES, seed=st.integers(0, 9))
def test_what_is_published_keeps_the_promise_in_any_order_of_the_input(data, method, promise, seed):
    guarantee = guarantee_of(*promise)
    try:
        release = method.publish(data, guarantee, seed=seed)  # refuses to release what does not verify
    except NotSatisfied as error:
        assert "a class needs" in str(error) or "no record can be published" in str(error)  # noqa: PT017 - else below
        assert not classes_of(method, data, *promise)[1].classes
        return
    moved = method.publish(data.shuffled(np.random.default_rng(seed)), guarantee, seed=seed)
    assert release.data.to_bytes() == moved.data.to_bytes()
    assert len(release.data) <= len(data)


@settings(max_examples=150, deadline=None)
@given(data=MANY, method=METHODS, promise=PROMISES)
def test_members_keep_their_sensitive_values_and_get_labels_above_their_own(data, method, promise):
    k, l = promise  # noqa: E741
    forest, clustering = classes_of(method, data, k, l)
    ids = [*clustering.leftovers, *(member for one in clustering.classes for member in one.members.tolist())]
    assert sorted(ids) == list(range(len(data)))
    for one in clustering.classes:
        size = len(one.members)
        assert max(k, l or 1) <= size < 2 * max(k, l or 1)
        for number, positions in enumerate(one.types):
            vertices = positions.vertices
            assert len(np.unique(vertices)) == vertices.size
            assert (data.records_of(number)[vertices] == one.members).all()
            parents = data.tables[number].parent[vertices]
            above = data.schema.parents[number]
            if above >= 0:
                assert (parents == one.types[above].vertices[positions.parent]).all()
            for attribute, tree in enumerate(data.hierarchies(number)):
                own = data.tables[number].labels[vertices, attribute]
                assert tree.covers(np.broadcast_to(positions.labels[:, [attribute]], own.shape), own).all()
            for values in one.buckets(number) if l else ():
                given_values = values[values >= 0]
                assert len(given_values) in {0, size}
                assert np.bincount(given_values, minlength=1).max() <= size // l
    assert forest.labels_per_record.sum() == data.sizes().sum()


@settings(max_examples=100, deadline=None)
@given(data=MANY, method=METHODS, promise=PROMISES)
def test_the_loss_is_that_of_classes_and_of_suppressed_records(data, method, promise):
    forest, clustering = classes_of(method, data, *promise)
    published = None
    if len(data) <= method.block:
        published = anonymise(data, method.classes, k=promise[0], l=promise[1], block=method.block)
    lost = sum(one.cost for one in clustering.classes) + forest.labels_per_record[clustering.leftovers].sum()
    total = int(data.sizes().sum())
    assert -1e-9 <= lost <= total + 1e-9
    if published is not None:
        assert lost == pytest.approx(total - kept_labels(published), abs=1e-6)


def kept_labels(data):
    """The sum of one minus the loss of all labels."""
    return sum(
        float((1 - tree.loss[table.labels[:, attribute]]).sum())
        for number, table in enumerate(data.tables)
        for attribute, tree in enumerate(data.hierarchies(number))
    )


@settings(max_examples=150, deadline=None)
@given(data=record_sets(least=3, most=40, width=2), mapping=st.sampled_from(sorted(MAPPINGS)), size=st.integers(2, 3))
def test_the_bound_excludes_no_record_that_full_search_would_choose(data, mapping, size):
    forest = forest_of(data)
    runs = [
        build_classes(kind(forest, size, 1, MAPPINGS[mapping]), multipliers(2, 0.5))
        for kind in (ClassSearch, FullSearch)
    ]
    members = [[one.members.tolist() for one in run.classes] for run in runs]
    assert members[0] == members[1]
    assert runs[0].leftovers == runs[1].leftovers


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=4, most=16, width=2), size=st.integers(2, 3))
def test_a_rejected_class_is_rebuilt_as_it_was(data, size):
    class Forgetful(ClassSearch):
        def create(self, seed, free, known=()):
            return super().create(seed, free)

    forest = forest_of(data)
    runs = [
        build_classes(kind(forest, size, 1, MAPPINGS["assignment"]), multipliers(4, 0.5))
        for kind in (ClassSearch, Forgetful)
    ]
    members = [[one.members.tolist() for one in run.classes] for run in runs]
    assert members[0] == members[1]


@settings(max_examples=60, deadline=None)
@given(data=record_sets(least=4, most=14, width=2))
def test_every_pass_is_one_snapshot_of_free_seeds(data):
    tried = []

    class Recording(ClassSearch):
        def create(self, seed, free, known=()):
            assert free[seed]
            tried.append(seed)
            return super().create(seed, free, known)

    deviations = multipliers(1, 0.5)
    search = Recording(forest_of(data), 2, 1, MAPPINGS["assignment"])
    clustering = build_classes(search, deviations)
    assert max(map(tried.count, tried), default=0) <= len(deviations)
    sizes = data.sizes()[tried].tolist()
    falls = sum(later < earlier for earlier, later in pairwise(sizes))
    assert falls < len(deviations)  # seeds with few labels first, in every pass
    assert len(clustering.leftovers) + 2 * len(clustering.classes) == len(data)


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=2, most=3), copies=st.integers(2, 3), method=METHODS, seed=st.integers(0, 9))
def test_records_that_satisfy_the_promise_come_back_unchanged(data, copies, method, seed):
    assume(len(set(with_values(data, 0).content_codes()[0].tolist())) == len(data))
    several = join_records([with_values(data, number) for number in range(copies)])
    for promise in (KAnonymity(k=copies), LDiversity(l=copies)):
        release = method.publish(several, promise, seed=seed)
        assert release.data.to_bytes() == several.canonical().to_bytes()


def with_values(data, number):
    """The same trees, with the same sensitive value everywhere, or none where there are too few buckets."""
    tables = []
    for kind, table in zip(data.schema.types, data.tables, strict=True):
        buckets = bucket_codes(data.domain.axis(kind.sensitive_axis)) if kind.sensitive_axis else np.zeros(0, np.int64)
        firsts = np.unique(buckets, return_index=True)[1]
        value = firsts[number] if len(firsts) > 2 else -1
        tables.append(VertexTable(table.parent, table.labels, np.full(len(table), value)))
    return replace(data, tables=tuple(tables))


@settings(max_examples=60, deadline=None)
@given(data=record_sets(least=4, most=12, width=2))
def test_attached_leftovers_cost_less_than_their_suppression(data):
    forest = forest_of(data)
    search = ClassSearch(forest, 3, 1, MAPPINGS["assignment"])
    before = build_classes(search, [math.inf])
    after = attach_leftovers(search, before, l=3)
    lost = [
        sum(one.cost for one in run.classes) + forest.labels_per_record[run.leftovers].sum() for run in (before, after)
    ]
    assert lost[1] <= lost[0] + 1e-6
    assert len(after.leftovers) <= len(before.leftovers)
