"""What kcl-generalisation refuses, what its settings do, and what it tells the holder."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from coarse_cases import random_case

from hedgerow import KCL, Domain, Trajectories, TrajectoryGeneralisation
from hedgerow.data import Axis
from hedgerow.errors import DomainError, ParameterError, UndeclaredDomain
from hedgerow.progress import counting
from hedgerow.publishers.trajectories.kcl_generalisation import combinations

PLACE = Axis(tuple(f"p{n}" for n in range(16)), tuple((f"h{n // 8}", f"q{n // 4}", f"t{n // 2}") for n in range(16)))
PROMISE = KCL(k=3, l=2, c="60%", sensitive=["ill=flu"])


def data_of(*, per_person=1, persons=None, records=60, source=PLACE):
    draw = np.random.default_rng(4)
    domain = Domain.declare(place=source, time=range(24), ill=["flu", "well"], records_per_person=per_person)
    visits = [
        [(f"p{draw.integers(16)}", int(hour)) for hour in sorted(draw.choice(24, 3, replace=False))]
        for _ in range(records)
    ]
    ill = ["flu" if draw.random() < 0.2 else "well" for _ in visits]
    return Trajectories.from_records(visits, domain=domain, sensitive={"ill": ill}, persons=persons)


def levels_of(release):
    place_level, _, time_level, _ = release.data.levels.split(release.data.labels)
    return set(zip(place_level.tolist(), time_level.tolist(), strict=True))


@pytest.mark.parametrize("setting", [{"mixed": "yes"}, {"order": "yes"}])
def test_several_records_per_person_and_a_c_allow_one_level_without_order_only(setting):
    data = data_of(per_person=2, persons=range(60))
    with pytest.raises(ParameterError, match="labels must be of one level and without order"):
        TrajectoryGeneralisation(levels="1,8", **setting).publish(data, PROMISE)
    with pytest.warns(UserWarning, match="labels of one level, without order"):
        release = TrajectoryGeneralisation(levels="2,8").publish(data, PROMISE)
    assert levels_of(release) == {(2, 3)}
    assert not release.data.ordered


def test_the_declaration_decides_not_whether_somebody_owns_two_records():
    """The same owners, declared to own one record each."""
    release = TrajectoryGeneralisation(levels="2,8").publish(data_of(per_person=1, persons=range(60)), PROMISE)
    assert release.data.ordered
    assert len(levels_of(release)) > 1
    without_c = TrajectoryGeneralisation(levels="2,8").publish(data_of(per_person=2, persons=range(60)), KCL(k=3, l=2))
    assert without_c.data.ordered


def test_a_domain_from_the_data_is_refused():
    data = Trajectories.from_records([[("a", 1)]] * 3)
    with pytest.raises(UndeclaredDomain):
        TrajectoryGeneralisation().publish(data, KCL(k=2, l=1))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"levels": "9,4"}, "there are 0, 1, 2, 3 and 1, 2, 4, 8, 24"),
        ({"levels": "1"}, "levels are typed as a level of places and a width of time bins, such as 3,24"),
        ({"coarsest": "1,5"}, "levels are typed as"),
        ({"coarsest": "1,4", "levels": "1,8"}, "levels 1,8 are coarser than coarsest 1,4"),
        ({"coarsest": "1,4", "levels": "2,4"}, "levels 2,4 are coarser than coarsest 1,4"),
        ({"times": "5,7"}, "each width of time bins must divide the next"),
        ({"grid": "x"}, "grid must be a size in degrees"),
    ],
)
def test_settings_that_do_not_go_with_the_domain_are_refused(setting, message):
    with pytest.raises(ParameterError, match=message):
        TrajectoryGeneralisation(**setting).publish(data_of(), PROMISE)


def test_a_grid_needs_coordinates():
    with pytest.raises(DomainError, match="a grid needs places with coordinates"):
        TrajectoryGeneralisation(grid="0.01").publish(data_of(), PROMISE)


@pytest.mark.filterwarnings("ignore:regions are large")
def test_coarsest_bounds_the_search_and_strict_the_labels():
    data, bound = data_of(), "1,4"
    free = TrajectoryGeneralisation(coarsest=bound).publish(data, PROMISE, seed=1)
    strict = TrajectoryGeneralisation(coarsest=bound, strict=True).publish(data, PROMISE, seed=1)
    assert max(place for place, _ in levels_of(free)) > 1  # only for what would be lost
    assert max(place for place, _ in levels_of(strict) | {(0, 0)}) <= 1
    assert max(time for _, time in levels_of(strict) | {(0, 0)}) <= 2
    one = TrajectoryGeneralisation(coarsest=bound, mixed="no").publish(data, PROMISE, seed=1)
    assert len(levels_of(one)) <= 1


def commuters(ill):
    """Ten people on each of four ways: the finest levels keep everything, unless C forbids it."""
    visits = [[(f"p{way}", 8), (f"p{way + 4}", 17)] for way in range(4) for _ in range(10)]
    return Trajectories.from_records(visits, domain=data_of().domain, sensitive={"ill": [ill] * len(visits)})


def test_the_search_does_not_look_at_sensitive_values(monkeypatch):
    """With everybody ill, no label is possible under C, and the same levels are found: not those it starts from."""
    nodes = []
    search = TrajectoryGeneralisation.search
    monkeypatch.setattr(
        TrajectoryGeneralisation, "search", lambda *arguments: nodes.append(search(*arguments)) or nodes[-1]
    )
    with pytest.warns(UserWarning, match="no record has the sensitive value"):
        TrajectoryGeneralisation().publish(commuters("well"), PROMISE)
    with pytest.warns(UserWarning, match="nothing is kept: no record has a label"):
        release = TrajectoryGeneralisation().publish(commuters("flu"), PROMISE)
    assert nodes == [(0, 0)] * 2
    assert not len(release.data.labels)


def test_the_menu_does_not_look_at_sensitive_values():
    well, ill = (TrajectoryGeneralisation().menu(commuters(value), PROMISE) for value in ("well", "flu"))
    assert well == ill
    assert well[0] == ("0", 1, (1.0, 1.0, 1.0, 1.0, 1.0))


def test_the_menu_uses_as_many_records_per_person_as_the_release():
    """Each of three persons has a second record of their own, which would be lost; only the first is used."""
    visits = [[("p0", 8)]] * 3 + [[("p5", 1)], [("p9", 7)], [("p13", 22)]]
    domain = Domain.declare(place=PLACE, time=range(24), records_per_person=1)
    data = Trajectories.from_records(visits, domain=domain, persons=[0, 1, 2] * 2)
    assert TrajectoryGeneralisation().menu(data, KCL(k=3, l=1))[0] == ("0", 1, (1.0, 0.0, 0.0, 1.0, 1.0))


def test_visits_at_one_time_stand_by_their_place_and_count_once():
    """The line of the file tells nothing: written in another order, or twice, they are published alike."""
    domain = Domain.declare(place=PLACE, time=range(24))
    method, promise = TrajectoryGeneralisation(levels="0,1", mixed="no"), KCL(k=4, l=2)
    visits = [[("p1", 8), ("p2", 8)], [("p2", 8), ("p1", 8)]] * 2
    repeated = [[*record, *record] for record in visits]
    for each in (visits, repeated):
        data = Trajectories.from_records(each, domain=domain, several=True)
        labels = (("0", "p1", 8, 9), ("0", "p2", 8, 9))
        assert method.publish(data, promise).data.records() == [(labels, ())] * 4
        [(*_, kept), *_] = method.menu(data, promise)
        assert kept == (1.0, 1.0, 1.0, 1.0, 1.0)


def test_large_regions_are_warned_of():
    data = data_of(records=25)
    with pytest.warns(UserWarning, match=r"regions are large \(precision of places 0.* set coarsest"):
        TrajectoryGeneralisation().publish(data, KCL(k=8, l=2))


def test_the_menu_says_what_each_level_would_keep():
    rows = TrajectoryGeneralisation().menu(data_of(), PROMISE)
    assert [name for name, _, _ in rows] == ["0", "1", "2", "3"]
    assert all(0 <= figure <= 1 for _, _, kept in rows for figure in kept)
    precise = [kept.place for _, _, kept in rows if kept.visits]
    assert all(finer >= coarser for finer, coarser in pairwise(precise))


def test_records_that_are_too_long_are_refused(monkeypatch):
    monkeypatch.setattr(combinations, "_MOST", 50)
    with pytest.raises(ParameterError, match="records are too long: they have more than 50 sequences of labels"):
        TrajectoryGeneralisation(levels="0,1", suppress="peel").publish(data_of(), PROMISE)


def test_more_labels_than_numbers_fit_are_numbered_afresh(monkeypatch):
    """Codes of sequences never wrap around: with a small limit the result is the same."""
    case = random_case(77, several=False)
    *_, (_, _, first) = case.steps(suppress="peel")
    monkeypatch.setattr(combinations, "_LARGEST", 50)
    *_, (_, _, second) = case.steps(suppress="peel")
    assert np.array_equal(first.label, second.label)


def test_the_holder_is_told_levels_and_what_is_kept():
    with counting() as counts:
        TrajectoryGeneralisation(levels="2,8").publish(data_of(), PROMISE)
    assert any(what.startswith("visits with labels, from levels 2,8") for what in counts)
    assert all(0 < number <= 100 for number in counts.values())
