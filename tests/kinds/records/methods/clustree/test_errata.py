"""What the paper prints and must not be done, and what must be refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thesis_records import SMALL, SMALL_DOMAIN, five_students, small
from tree_cases import forest_of, record_sets, savings_of
from tree_oracle import Oracle, Vertex

from hedgerow.errors import NotSatisfied, ParameterError, UnsupportedGuarantee
from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.methods.clustree.clustering import ClassSearch, RunningMoments, build_classes
from hedgerow.kinds.records.methods.clustree.publisher import ClusTree, bound_published
from hedgerow.kinds.records.methods.clustree.representative import MAPPINGS, Representative
from hedgerow.privacy import PureDP
from hedgerow.progress import counting, listening


class _Line21(Oracle):
    """Line 21 of Algorithm 1 as printed: what is matched is suppressed, and what is not matched stays."""

    def try_all(self, made, rows, columns):
        super().try_all(made, rows, columns)
        return []


@settings(max_examples=60, deadline=None)
@given(data=record_sets(least=2, most=2))
def test_line_21_as_printed_destroys_everything_below_the_roots(data):
    trees = [Vertex.of(tree) for tree in data.trees()]
    printed, _ = _Line21.of(data.schema, data.domain).merge(*trees)
    right, _ = Oracle.of(data.schema, data.domain).merge(*trees)
    pairs = savings_of(Representative.of_record(forest_of(data), 0))
    size = pairs.forest.types[0].size.sum()
    ours = size - 2 * pairs.of_records(np.array([1]))[0]
    assert ours == pytest.approx(float(right), abs=1e-9)
    assert ours <= float(printed) + 1e-9


def test_line_21_as_printed_costs_more_on_the_students():
    data = five_students()
    trees = [Vertex.of(tree) for tree in data.trees()]
    printed, merged = _Line21.of(data.schema, data.domain).merge(trees[2], trees[4])
    assert float(printed) == pytest.approx(2.2, abs=1e-5)
    assert merged.children == []


def test_a_seed_that_nobody_can_join_takes_no_other_record_down():
    """As printed, a class without a diverse candidate is filled with records that are all suppressed."""
    roots = [("r", ["k1"], 1, [])] * 3 + [("r", ["k1"], 2, [])]
    clustering = build_classes(ClassSearch(forest_of(small(*roots)), 2, 1, MAPPINGS["assignment"]), [np.inf])
    assert [one.members.tolist() for one in clustering.classes] == [[0, 3]]
    assert sorted(clustering.leftovers) == [1, 2]


def test_large_records_are_not_postponed_because_they_are_large():
    """As printed, costs are compared as they are: 3 of 8 labels count as more than 2 of 2."""
    few = [("r", ["k1"], 1, []), ("r", ["k2"], 2, [])] * 2
    many = [("r", ["k1"], value, [("c", [label], value, [])] * 3) for value, label in ((1, "x"), (3, "y"))]
    search = ClassSearch(forest_of(small(*few, *many)), 2, 1)
    costs = {way: [one.cost for one in build_classes(search, [0.0], relative=way).classes] for way in (True, False)}
    assert costs == {True: [2, 2, 3], False: [2, 2]}


def test_the_first_two_classes_are_accepted_whatever_they_cost():
    moments = RunningMoments()
    assert [moments.accept(cost, 0.0) for cost in (1.0, 3.0, 2.1, 2.0)] == [True, True, False, True]
    assert (moments.accept(2.6, 0.5), moments.accept(9.0, np.inf), moments.count) == (False, True, 4)


def test_records_that_cannot_be_made_diverse_are_announced_suppressed_and_counted():
    child = ("c", ["x"], 1, [])
    data = small(*[("r", ["k1"], 1, [])] * 3 + [("r", ["k1"], 2, [child])])
    with counting() as counts, pytest.warns(UserWarning, match="records can be published|will be suppressed") as warned:
        release = ClusTree().publish(data, LDiversity(l=2), seed=1)
    most, all_of_a_type = (str(each.message) for each in warned)
    assert most.startswith("at most 2 of 4 records can be published with l = 2, since a value or group of values of 'r")
    assert all_of_a_type.endswith("of 'c.value' occur: all vertices that have one (1) will be suppressed")
    assert len(release.data) == 2
    assert counts == {"records suppressed": 2, "vertices of type 'c' suppressed": 1}


def test_what_is_left_over_of_two_blocks_may_form_classes_together():
    """All records of a block have the same sensitive value, and those of the other block another one."""
    data = small(*[("r", ["k1"], 1, [])] * 2, *[("r", ["k2"], 2, [])] * 2)
    release = ClusTree(block=2).publish(data, LDiversity(l=2), seed=1)
    assert [tree[1] for tree in release.data.trees()] == [["*"]] * 4


@given(counts=st.lists(st.integers(0, 6), max_size=4), l=st.integers(2, 4))
def test_no_more_records_than_the_bound_are_published(counts, l):  # noqa: E741 - the letter of the paper
    """Word by word: the most records such that every value is at most one in l of them."""
    by_hand = max(
        sum(some)
        for some in itertools.product(*(range(count + 1) for count in counts))
        if all(number <= sum(some) // l for number in some)
    )
    assert bound_published(np.array(counts, np.int64), l) == by_hand


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ([], "a class needs 2 records, and there are 0; lower k or l, or add records"),
        ([("r", ["k1"], 1, [])], "a class needs 2 records, and there are 1"),
        ([("r", ["k1"], 1, [])] * 4, "no record can be published with l = 2: too few values .* of 'r.value' occur"),
    ],
)
def test_no_records_too_few_and_all_alike_are_refused(trees, message):
    data = Records.from_trees(trees, SMALL, SMALL_DOMAIN)
    with pytest.raises(NotSatisfied, match=message):
        ClusTree().publish(data, LDiversity(l=2), seed=1)


def test_one_class_if_l_is_the_number_of_records():
    data = small(*(("r", ["k1"], value, [("c", ["x"], value, [])]) for value in (1, 2, 3)))
    release = ClusTree().publish(data, LDiversity(l=3), seed=1)
    assert release.data.to_bytes() == data.canonical().to_bytes()


def test_a_vertex_whose_labels_are_all_hidden_is_kept():
    data = small(("r", ["k1"], 1, [("c", ["x"], 1, [])]), ("r", ["k2"], 2, [("c", ["z"], 2, [])]))
    [first, _] = ClusTree().publish(data, LDiversity(l=2), seed=1).data.trees()
    assert first == ("r", ["*"], 1, [("c", ["*"], 1, [])])


def test_frequent_values_are_allowed_in_large_classes_only():
    data = small(*(("r", ["k1"], value, []) for value in (1, 1, 2, 3)))
    assert len(ClusTree().publish(data, LDiversity(l=2), seed=1).data) == 4
    forest = forest_of(data)
    assert len(ClusTree(leftovers="suppress").classes(forest, k=4, l=2).classes) == 1
    assert len(ClusTree(leftovers="suppress").classes(forest, k=4, l=4).classes) == 0


def test_progress_never_falls_nor_exceeds_the_records():
    told = []
    with listening(lambda *what: told.append(what)):
        ClusTree(block=2).publish(five_students(), KAnonymity(k=2), seed=1)
    assert told[-1][0] == "building classes"
    assert all(done <= total == 5 for _, done, total in told)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_refusals_name_the_parameter():
    with pytest.raises(ParameterError, match=r"ClusTree.step must be greater than 0; got 0"):
        ClusTree(step=0.0)
    with pytest.raises(ParameterError, match=r"ClusTree.mapping must be one of assignment, greedy; got 'lsap'"):
        ClusTree(mapping="lsap")
    with pytest.raises(UnsupportedGuarantee, match=r"clustree does not keep PureDP; it keeps KAnonymity, LDiversity"):
        ClusTree().publish(five_students(), PureDP(epsilon=1, unit="record"))
