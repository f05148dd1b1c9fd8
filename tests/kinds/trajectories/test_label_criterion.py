"""The checker of labels: overlaps, order, nesting, few labels per bin; on labels made by hand."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from coarse_cases import paths

from hedgerow import KCL, Domain
from hedgerow.data import Axis
from hedgerow.errors import DomainError, ParameterError
from hedgerow.kinds.trajectories import criterion, label_criterion
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels, TimeBins
from hedgerow.testing import changed

PLACE = Axis(("r1", "r2", "s1"), (("all", "R"), ("all", "R"), ("all", "S")))
DOMAIN = Domain.declare(place=PLACE, time=range(8), ill=["yes", "no"])
LEVELS = PlaceTimeLevels.of(DOMAIN)


def labels_of(records, *, ill=None, levels=LEVELS, domain=DOMAIN, **more):
    """Published labels, each given as (level, region, from, to)."""
    codes, widths = [], [str(width) for width in levels.times.widths]
    for level, region, start, end in itertools.chain(*records):
        i, j = levels.find(f"{level},{widths[widths.index(str(end - start))]}")
        number = (start - levels.times.origin) // levels.times.widths[j]
        at = levels.places[i].regions.index(region)
        codes.append(int(levels.code(i, np.array([at]), j, np.array([number]))[0]))
    traits = {} if ill is None else {"ill": np.array([0 if each else 1 for each in ill])}
    starts = np.cumsum([0, *map(len, records)])
    return CoarseTrajectories(domain, levels, starts, np.array(codes, np.int64), traits, **more)


R1, R, S = ("0", "r1", 0, 1), ("1", "R", 0, 1), ("1", "S", 0, 1)


def test_overlaps_break_c_and_are_refused():
    """Every group of labels is within C, but who knows r1 matches all six records, four of them ill."""
    data = labels_of([[R1], [R1], [R1, R], [R1, R], [R], [R]], ill=[1, 1, 0, 0, 1, 1])
    promise = KCL(k=2, l=2, c="1/2", sensitive=["ill=yes"])
    violations = {what: number for what, number in promise.violations({"": data}).items() if number}
    assert violations == {"pairs of labels that overlap": 2}
    assert Fraction(4, 6) > promise.c


def test_a_label_twice_in_a_record_overlaps_itself():
    assert label_criterion.count_label_faults(labels_of([[S, S]]))["pairs of labels that overlap"] == 1


def test_labels_of_other_regions_or_times_do_not_overlap():
    faults = label_criterion.count_label_faults(
        labels_of([[R1, S], [R, ("0", "s1", 0, 8)], [("2", "all", 0, 4), ("2", "all", 4, 8)]])
    )
    assert not any(faults.values())


def test_one_label_may_be_finer_in_place_and_the_other_in_time():
    overlapping = [[("0", "r1", 0, 8), ("2", "all", 2, 3)], [("1", "R", 4, 8), ("0", "r2", 0, 8)]]
    assert label_criterion.count_label_faults(labels_of(overlapping))["pairs of labels that overlap"] == 2


def test_labels_stand_in_their_canonical_order():
    """By start, width, level and region; any other order could be that of visits."""
    what = "labels that stand after later ones"
    labels = [("0", "r1", 0, 1), ("0", "r2", 0, 1), ("1", "S", 0, 1), ("1", "R", 2, 3), ("0", "s1", 2, 4)]
    assert not any(label_criterion.count_label_faults(labels_of([labels])).values())
    orders = itertools.permutations(labels)
    assert [label_criterion.count_label_faults(labels_of([order]))[what] == 0 for order in orders] == [True] + [
        False
    ] * 119


def test_labels_in_the_order_of_visits_are_refused_even_where_it_is_the_canonical_one():
    """An earlier version says of its file that the order is that of visits."""
    what = "records in the order of visits, which tells more than their labels"
    data = labels_of([[R1, S], [S]], by_visits=True)
    assert {name: number for name, number in label_criterion.count_label_faults(data).items() if number} == {what: 1}
    verdict = KCL(k=1, l=1).verify({"": data})
    assert not verdict.satisfied
    assert "an earlier version published its labels in the order of visits" in verdict.checked


CROWDED = "bins with more labels than fit with nobody at two places at one time"


def test_few_labels_fit_into_a_bin_if_nobody_is_at_two_places():
    """Two hours, two labels: who knows one place at both of them rules out the other label."""
    two, other = [("1", "R", 0, 2), ("1", "S", 0, 2)], [("1", "R", 0, 2)]
    faults = [
        label_criterion.count_label_faults(labels_of([two, other], one_place=True), longest=longest)
        for longest in (1, 2, 3)
    ]
    assert [each[CROWDED] for each in faults] == [0, 1, 1]
    assert label_criterion.count_label_faults(labels_of([[R1], [R]], one_place=True))[
        "labels of several levels, though nobody is at two places at one time"
    ]
    assert not any(label_criterion.count_label_faults(labels_of([[R1], [R1]], one_place=True), longest=3).values())
    assert not any(label_criterion.count_label_faults(labels_of([two, other]), longest=2).values())


def test_only_declared_times_of_a_bin_count():
    """Of the bin from 0 to 4 only one hour is declared: nobody can be at two places in it."""
    late = Domain.declare(place=PLACE, time=[3, 4, 5, 6, 7])
    levels = PlaceTimeLevels.of(late, widths="4")
    assert levels.times.widths == (1, 4, 8)
    both = [("1", "R", 0, 4), ("1", "S", 0, 4)]
    assert (
        label_criterion.count_label_faults(labels_of([both], levels=levels, domain=late, one_place=True))[CROWDED] == 1
    )
    both = [("1", "R", 4, 8), ("1", "S", 4, 8)]
    assert (
        label_criterion.count_label_faults(labels_of([both], levels=levels, domain=late, one_place=True))[CROWDED] == 0
    )


def test_cells_west_and_south_of_zero_are_their_own():
    """Cells are counted by rounding down: places on both sides of zero are not in one."""
    near_zero = ((-0.001, -0.009), (-0.009, -0.001), (0.001, 0.001), (0.3, -0.3))
    domain = Domain.declare(place=Axis(("a", "b", "c", "d"), coordinates=near_zero), time=range(8))
    levels = PlaceTimeLevels.of(domain, grid="0.1", doublings=1)
    assert levels.places[1].regions == ("-1:-1", "0:0", "3:-3")
    west, east = ("0.1", "-1:-1", 0, 1), ("0.1", "0:0", 0, 1)
    apart = [[west, east], [("0", "c", 0, 1), west], [("0.1", "3:-3", 0, 1), ("0.2", "-1:-1", 0, 1)]]
    assert not any(label_criterion.count_label_faults(labels_of(apart, levels=levels, domain=domain)).values())
    inside = [[("0", "a", 0, 1), west], [("0.2", "1:-2", 0, 1), ("0", "d", 0, 1)]]
    faults = label_criterion.count_label_faults(labels_of(inside, levels=levels, domain=domain))
    assert faults["pairs of labels that overlap"] == 2


@pytest.mark.parametrize("seed", range(12))
def test_overlap_is_a_fine_visit_in_common(seed):
    """Against all fine visits, for hundreds of pairs of labels of all levels."""
    draw = random.Random(seed)
    place = Axis(tuple(f"p{n}" for n in range(8)), paths(draw))
    domain = Domain.declare(place=place, time=range(8))
    levels = PlaceTimeLevels.of(domain)
    total, overlapping = int(levels.offsets[-1]), 0
    for _ in range(150):
        pair = np.sort(np.array([draw.randrange(total), draw.randrange(total)]))
        data = CoarseTrajectories(domain, levels, np.array([0, 2]), pair, {})
        covered = []
        for level, region, start, end in data.decode(pair):
            inside = [n for n in range(8) if (f"p{n}", *place.paths[n][::-1])[int(level)] == region]
            covered.append({(n, time) for n in inside for time in range(start, end)})
        expected = not covered[0].isdisjoint(covered[1])
        overlapping += expected
        assert label_criterion.count_label_faults(data)["pairs of labels that overlap"] == expected
    assert overlapping > 10


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("count_label_faults", "first[:, 1] < second[:, 2]", "first[:, 1] > second[:, 2]"),
        ("count_label_faults", "range(1, int(", "range(2, int("),
        ("_region_of", "[-int(level)]", "[0]"),
        ("_count_shared", "if not members", "if members"),
        ("_count_misplaced", "order != np", "order < 0 * np"),
        ("_count_misplaced", "end - begin, ", ""),
        ("_count_crowded", "- known + min(known, 1)", ""),
        ("_rank", "Decimal(level), ", ""),
    ],
)
def test_planted_bugs_of_the_checker_are_caught(function, old, new):
    with changed(label_criterion, function, old, new), pytest.raises(AssertionError):
        for test in (
            test_overlaps_break_c_and_are_refused,
            test_labels_of_other_regions_or_times_do_not_overlap,
            test_one_label_may_be_finer_in_place_and_the_other_in_time,
            test_labels_stand_in_their_canonical_order,
            test_few_labels_fit_into_a_bin_if_nobody_is_at_two_places,
        ):
            test()


def test_levels_that_cross_are_found():
    """Groups that do not nest cannot be declared; the checker does not rely on that."""
    crossing = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 1, 2, 3})]
    assert label_criterion._count_crossing(crossing) == 1
    assert label_criterion._count_crossing([frozenset({0, 1}), frozenset({0}), frozenset({2}), frozenset({2})]) == 0


def test_the_pairs_of_long_records_are_counted_before_they_are_compared(monkeypatch):
    """A stranger's folder is refused by what its check would take: labels of a record are compared in pairs."""
    data = labels_of([[S] * 300, [R] * 10])
    counted = KCL(k=1, l=1).count_cases({"": data})
    monkeypatch.setattr(criterion, "count_label_steps", lambda _: 0)
    assert counted - KCL(k=1, l=1).count_cases({"": data}) == 300**2 + 10**2 + len(PLACE) * 3


def test_a_region_without_places_is_found():
    """Levels are made of the domain when a file is read; the checker does not rely on that."""
    finest, middle, widest = LEVELS.places
    levels = replace(LEVELS, places=(finest, replace(middle, regions=("R", "S", "T")), widest))
    faults = label_criterion.count_label_faults(labels_of([[("1", "T", 0, 1)], [S]], levels=levels))
    assert {what: number for what, number in faults.items() if number} == {"labels of regions without places": 1}


@pytest.mark.parametrize(
    ("times", "typed", "widths"),
    [
        (range(24), "", (1, 2, 4, 8, 24)),
        (range(0, 1440, 15), "", (15, 30, 60, 120, 240, 480, 1440)),
        (range(5, 24), "4", (1, 4, 24)),
        (range(168), "24", (1, 24, 168)),
        ([3], "", (1,)),
        ([7, 22, 37], "", (15, 45)),
    ],
)
def test_bins_of_declared_times(times, typed, widths):
    assert TimeBins.of(times, typed).widths == widths


def test_bins_that_do_not_divide_are_refused():
    with pytest.raises(ParameterError, match=r"must divide the next, from the finest \(1\) to the whole period \(24\)"):
        TimeBins.of(range(24), "5,10")
    with pytest.raises(ParameterError, match="whole numbers separated by commas"):
        TimeBins.of(range(24), "2;4")


def test_times_that_are_texts_are_refused():
    domain = Domain.declare(place=["a"], time=["morning", "noon"])
    with pytest.raises(DomainError, match="coarser times need times that are whole numbers"):
        PlaceTimeLevels.of(domain)
