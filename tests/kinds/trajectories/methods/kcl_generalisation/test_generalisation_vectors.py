"""The vectors of the specification: recoding, sets of labels, suppression, giving back, climbing, refining, persons."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from coarse_cases import Case, Judge, explain_line, lines_of, released, visits_under
from project import VECTORS

from hedgerow import Domain, Trajectories, TrajectoryGeneralisation
from hedgerow.data import Axis
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.kinds.trajectories.methods.kcl_generalisation.labelling import climb, grow, peel, refine
from hedgerow.kinds.trajectories.methods.kcl_generalisation.search import find_best_node, measure_utility
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import Support

VECTOR = json.loads((VECTORS / "kcl-generalisation.json").read_text())
PLACES = Axis(tuple(VECTOR["places"]["values"]), tuple(map(tuple, VECTOR["places"]["paths"])))
WIDTHS = VECTOR["widths"]
#: the coarsest bin is the only one
ONE_BIN = 2


def case_of(records, promise, node, *, sensitive=None, persons=None, several=1, places=PLACES):
    """A case over the hours of a day; a place alone is visited at 8."""
    values = {"ill": ["flu", "well"]} if sensitive else {}
    domain = Domain.declare(place=places, time=range(24), records_per_person=several, **values)
    visits = [[visit if isinstance(visit, tuple) else (visit, 8) for visit in record] for record in records]
    traits = {"ill": ["flu" if ill else "well" for ill in sensitive]} if sensitive else None
    data = Trajectories.from_records(visits, domain=domain, sensitive=traits, persons=persons, several=True)
    return Case(data, PlaceTimeLevels.of(domain, widths=WIDTHS), promise, node)


def labels_of(case, visits, labelling):
    """The labels of each record as (level of places, region, level of times, bin)."""
    rows = [[] for _ in range(len(case.data))]
    for visit in np.flatnonzero(labelling.label >= 0).tolist():
        parts = case.levels.split(labelling.label[visit : visit + 1])
        rows[int(visits.record[visit])].append(tuple(int(part[0]) for part in parts))
    return rows


def regions_after(case, step):
    """The regions of each record after a step of the method."""
    for name, visits, labelling in case.steps(suppress=step if step == "peel" else "grow"):
        if name == step:
            return [[label[1] for label in row] for row in labels_of(case, visits, labelling)]
    raise AssertionError(step)


def test_recoding_keeps_one_of_equal_items():
    case = case_of([[("0", 8), ("2", 9), ("1", 10), ("0", 13)]], KCL(k=1, l=1), (1, 1))
    visits = case.visits()
    items = visits.items(1, 1, np.arange(4))
    _, region, _, number = case.levels.split(items.label[items.item])
    assert list(zip(region.tolist(), number.tolist(), strict=True)) == [(0, 2), (1, 2), (0, 2), (0, 3)]
    assert items.first[items.item].tolist() == [0, 1, 0, 3]


def test_the_order_of_visits_does_not_count():
    """Five records hold both labels, in whatever order they were visited."""
    both = [[("0", 8), ("1", 9)]] * 3 + [[("1", 8), ("0", 9)]] * 2
    for k, violating in ((6, 1), (5, 0)):
        case = case_of(both, KCL(k=k, l=2), (0, ONE_BIN))
        visits = case.visits()
        support = Support(visits, case.promise)
        labelling = grow(visits, Support(visits, KCL(k=1, l=1)), case.node)
        (sequence, record, sequences), _ = support.sequences_of(labelling.label, 2)
        assert int(support.violating(sequence, record, sequences).sum()) == violating


def test_peeling_deletes_what_is_in_most_violating_pairs():
    case = case_of([["0", "1", "2"], ["0", "1"], ["2"], ["2"]], KCL(k=2, l=2), (0, ONE_BIN))
    assert regions_after(case, "peel") == [[0, 1], [0, 1], [2], [2]]


def test_equal_records_lose_the_same_item_by_chance():
    """Either place may go, but from all four records alike: of what each loses nothing else may depend."""
    case = case_of([["0", "1"]] * 4 + [["0"], ["1"]] * 4, KCL(k=5, l=2), (0, ONE_BIN))
    visits = case.visits()
    lost = set()
    for seed in range(20):
        labelling = peel(visits, Support(visits, case.promise), case.node, np.random.default_rng(seed))
        alike = {tuple(record) for record in labels_of(case, visits, labelling)[:4]}
        assert len(alike) == 1
        lost |= alike
    assert len(lost) == 2


@pytest.mark.parametrize("row", VECTOR["grow on W, l = 2"]["nodes"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("suppress", ["grow", "peel"])
def test_visits_and_utility_of_each_node(row, k, suppress):
    """Deleting and giving back keeps the same numbers of visits here."""
    case = case_of(map(tuples, VECTOR["data W"]), KCL(k=k, l=2), tuple(row[:2]))
    visits = case.visits()
    support = Support(visits, case.promise)
    labelling = (
        grow(visits, support, case.node)
        if suppress == "grow"
        else peel(visits, support, case.node, np.random.default_rng(1))
    )
    kept, utility = row[2 * k - 2 : 2 * k]
    assert int((labelling.slot >= 0).sum()) == kept
    if suppress == "grow":
        assert measure_utility(visits, labelling, "balanced", 0.25) == pytest.approx(utility, abs=5e-5)


def tuples(record):
    return [tuple(visit) for visit in record]


@pytest.mark.parametrize("k", [2, 3])
def test_the_search_finds_the_best_node(k):
    case = case_of(map(tuples, VECTOR["data W"]), KCL(k=k, l=2), (0, 0))
    visits = case.visits()
    support = Support(visits, case.promise, sensitive=False)
    node, estimates = find_best_node(
        lambda node: measure_utility(visits, grow(visits, support, node), "balanced", 0.25), (2, 2)
    )
    assert list(node) == VECTOR["grow on W, l = 2"]["found"]
    assert len(estimates) == VECTOR["grow on W, l = 2"]["estimates"]


@pytest.mark.parametrize("run", VECTOR["mixed on W, l = 2"])
def test_labels_of_several_levels(run):
    case = case_of(map(tuples, VECTOR["data W"]), KCL(k=run["k"], l=2), (0, 0))
    method = TrajectoryGeneralisation(levels=run["levels"], times=WIDTHS, suppress="grow")
    release = method.publish(case.data, case.promise)
    published = sorted([list(map(list, labels)) for labels, _ in release.data.records()])
    assert published == sorted(run["published"])
    visits, (place, time) = case.visits(), case.levels.find(run["levels"])
    support = Support(visits, case.promise)
    labelling = grow(visits, support, (place, time))
    climb(visits, support, labelling, (place, time), (2, 2))
    refine(visits, support, labelling)
    assert measure_utility(visits, labelling, "balanced", 0.25) == pytest.approx(run["utility"], abs=5e-5)


@pytest.mark.parametrize(
    ("holders", "k", "refined"),
    [([3, 2], 3, []), ([3, 2], 2, [0, 1]), ([3, 3], 3, [0, 1]), ([3, 2, 2], 3, [0])],
)
def test_refining_counts_the_rest(holders, k, refined):
    records = [[str(place)] for place, number in enumerate(holders) for _ in range(number)]
    case = case_of(records, KCL(k=k, l=1), (2, ONE_BIN))
    one = Axis(PLACES.values, (("all",),) * 4)  # without the regions between
    domain = Domain.declare(place=one, time=[8])
    data = Trajectories.from_records([[(place, 8)] for (place,) in records], domain=domain)
    case = Case(data, PlaceTimeLevels.of(domain), case.promise, (1, 0))
    *_, (_, visits, labelling) = case.steps()
    rows = labels_of(case, visits, labelling)
    assert {region for ((level, region, _, _),) in rows if level == 0} == set(refined)
    assert sum(level == 0 for ((level, _, _, _),) in rows) == sum(holders[place] for place in refined)


def test_climbing_gives_the_lost_the_first_level_that_holds():
    case = case_of([["0"], ["0"], ["0"], ["1"], ["2"], ["3"]], KCL(k=3, l=1), (0, ONE_BIN))
    labellings = {name: labels_of(case, visits, labelling) for name, visits, labelling in case.steps()}
    assert labellings["climb"] == [[(0, 0, 2, 0)]] * 3 + [[(2, 0, 2, 0)]] * 3


def test_whole_groups_only():
    """Three of five is a share of 60 %, which is no violation; three of four is one."""
    records, ill = [["0"]] * 5 + [["1"]] * 4, [1, 1, 1, 0, 0, 1, 1, 1, 0]
    promise = KCL(k=2, l=1, c="60%", sensitive=["ill=flu"])
    case = case_of(records, promise, (0, ONE_BIN), sensitive=ill)
    assert regions_after(case, "grow") == [[0]] * 5 + [[]] * 4


@pytest.mark.parametrize(("k", "kept"), [(2, 4), (3, 0)])
def test_persons_are_counted(k, kept):
    case = case_of([["0"]] * 4, KCL(k=k, l=1), (0, ONE_BIN), persons=["A", "A", "A", "B"], several=3)
    assert sum(map(len, regions_after(case, "grow"))) == kept


def test_sets_show_what_order_hides_if_persons_own_several_records():
    """By the order of visits each group is within C; as a set, three persons hold both labels, two of them ill."""
    records = [["0", "1"], ["0", "1"], ["1", "0"], ["1", "0"], ["0"], ["1"]]
    times = [[(place, 8 + at) for at, place in enumerate(record)] for record in records]
    promise = KCL(k=2, l=2, c="1/2", sensitive=["ill=flu"], unit="person")
    case = case_of(times, promise, (0, ONE_BIN), sensitive=[1, 0, 0, 1, 0, 0], persons=[1, 2, 2, 3, 4, 5], several=2)
    visits = case.visits()
    data = released(case, visits, grow(visits, Support(visits, KCL(k=1, l=1)), case.node))
    judge = Judge(case, data)
    assert not judge.breaks([0, 1])
    assert not judge.breaks([2, 3])
    assert judge.breaks([0, 1, 2, 3])
    assert Fraction(2, 3) > promise.c
    assert promise.violations({"": data.sorted()})["sequences of 2 visits with a sensitive value beyond 0.5"] == 1


def test_knowledge_matches_whatever_else_was_visited():
    """Who knows 2@9 and 1@10 matches the record, although the first visit under the region of 1 was to 0."""
    case = case_of([[("0", 8), ("2", 9), ("1", 10)]], KCL(k=1, l=1), (1, ONE_BIN))
    _, visits, labelling = next(case.steps())
    data = released(case, visits, labelling).canonical()
    assert lines_of(data) == [(("1", "A", 0, 24), ("1", "B", 0, 24))]
    assert explain_line(lines_of(data)[0], ((9, 2), (10, 1)), visits_under(data)) is not None


def test_records_are_sets():
    """All three labels in two records, and two of them in four: nothing is lost. By order, the third would be."""
    records = [["0", "1", "2"], ["1", "0", "2"], ["0", "1"], ["1", "0"], ["2"], ["2"]]
    times = [[(place, 8 + at) for at, place in enumerate(record)] for record in records]
    case = case_of(times, KCL(k=2, l=3), (0, ONE_BIN))
    assert list(map(sorted, regions_after(case, "grow"))) == [[0, 1, 2]] * 2 + [[0, 1]] * 2 + [[2]] * 2
