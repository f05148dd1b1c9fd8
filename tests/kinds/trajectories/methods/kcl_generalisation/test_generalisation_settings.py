"""What kcl-generalisation refuses, what its settings do, and what it tells the holder."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from coarse_cases import explain_line, lines_of, random_case, visits_under

from hedgerow import KCL, Domain, Trajectories, TrajectoryGeneralisation
from hedgerow.data import Axis
from hedgerow.errors import DomainError, ParameterError, UndeclaredDomain
from hedgerow.kinds.trajectories.methods.kcl_generalisation import support
from hedgerow.progress import counting

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
    return Trajectories.from_records(visits, domain=domain, sensitive={"ill": ill}, persons=persons, several=True)


def levels_of(release):
    place_level, _, time_level, _ = release.data.levels.split(release.data.labels)
    return set(zip(place_level.tolist(), time_level.tolist(), strict=True))


def test_several_records_per_person_and_a_c_allow_one_level_only():
    data = data_of(per_person=2, persons=range(60))
    with pytest.raises(
        ParameterError, match="with several records per person and a c below 1, labels must be of one lev"
    ):
        TrajectoryGeneralisation(levels="1,8", mixed="yes").publish(data, PROMISE)
    with pytest.warns(UserWarning, match="labels of one level, because of several records per person"):
        release = TrajectoryGeneralisation(levels="2,8").publish(data, PROMISE)
    assert levels_of(release) == {(2, 3)}


def test_the_declaration_decides_not_whether_somebody_owns_two_records():
    """The same owners, declared to own one record each."""
    release = TrajectoryGeneralisation(levels="2,8").publish(data_of(per_person=1, persons=range(60)), PROMISE)
    assert len(levels_of(release)) > 1


#: at hours 8 and 9: three were at both places, the fourth was at the quay all the time
TWO_HOURS = [[("p0", 8), ("p1", 9)]] * 3 + [[("p1", 8), ("p1", 9)]]


def commuting(*, several=True):
    return Trajectories.from_records(TWO_HOURS, domain=Domain.declare(place=PLACE, time=range(24)), several=several)


def test_one_place_at_a_time_must_be_answered_for():
    """Data with one place at each time does not bear labels whose safety rests on several."""
    with pytest.raises(ParameterError, match=r"read them with collisions=keep; if not, set one_place=yes"):
        TrajectoryGeneralisation().publish(commuting(several=False), KCL(k=3, l=2))
    with pytest.raises(ParameterError, match="collisions=keep"):
        TrajectoryGeneralisation().menu(commuting(several=False), KCL(k=3, l=2))
    with pytest.raises(ParameterError, match="with one_place, labels must be of one level: leave mixed out"):
        TrajectoryGeneralisation(one_place=True, mixed="yes").publish(commuting(), KCL(k=3, l=2))
    released = TrajectoryGeneralisation(one_place=True).publish(commuting(several=False), KCL(k=3, l=2))
    assert released.data.one_place
    assert released.verdict.satisfied


def test_one_place_keeps_what_fits_beside_what_is_known():
    """Who knows (p1, 8) and (p1, 9), and that nobody is at two places, rules out the three that were at p0, too."""
    promise, known = KCL(k=3, l=2), ((8, 1), (9, 1))
    left = {}
    for one_place in (False, True):
        method = TrajectoryGeneralisation(levels="0,2", mixed="no", one_place=one_place)
        data = method.publish(commuting(), promise).data
        under = visits_under(data)
        left[one_place] = [line for line in lines_of(data) if explain_line(line, known, under, one_place=True)]
    assert left == {False: [(("0", "p1", 8, 10),)], True: [(("0", "p1", 8, 10),)] * 4}


def test_who_may_be_at_two_places_is_in_the_statement():
    limit = "Anyone who knows that nobody is at two places within 1 of the declared times"
    assumed, kept = (
        TrajectoryGeneralisation(levels="0,2", one_place=one_place).publish(commuting(), KCL(k=3, l=2))
        for one_place in (False, True)
    )
    assert limit in assumed.statement()
    assert limit not in kept.statement()
    assert "also for those who know that nobody is at two places at one time" in kept.statement()


def test_the_order_of_visits_is_not_published():
    """Whoever knows (p1, 5) would be left with the one record with HIV: in the others p1 stood after p0 at 8."""
    domain = Domain.declare(place=PLACE, time=range(24), ill=["flu", "well"])
    visits = [[("p0", 8), ("p1", hour)] for hour in (12, 15, 17)] + [[("p1", 5)]]
    data = Trajectories.from_records(visits, domain=domain, sensitive={"ill": ["well"] * 3 + ["flu"]}, several=True)
    promise = KCL(k=3, l=1, c="50%", sensitive=["ill=flu"])
    release = TrajectoryGeneralisation().publish(data, promise)
    lines, under = lines_of(release.data), visits_under(release.data)
    for by_visits, left in ((False, 4), (True, 4)):
        assert sum(explain_line(line, ((5, 1),), under, by_visits=by_visits) is not None for line in lines) == left
    in_old_order = [tuple(sorted(line, key=lambda label: label[1])) for line in lines]
    assert sum(explain_line(line, ((5, 1),), under, by_visits=True) is not None for line in in_old_order) == 1


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
    return Trajectories.from_records(
        visits, domain=data_of().domain, sensitive={"ill": [ill] * len(visits)}, several=True
    )


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
    data = Trajectories.from_records(visits, domain=domain, persons=[0, 1, 2] * 2, several=True)
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
    monkeypatch.setattr(support, "_MOST", 50)
    with pytest.raises(ParameterError, match="records are too long: they have more than 50 sequences of labels"):
        TrajectoryGeneralisation(levels="0,1", suppress="peel").publish(data_of(), PROMISE)


def test_more_labels_than_numbers_fit_are_numbered_afresh(monkeypatch):
    """Codes of sequences never wrap around: with a small limit the result is the same."""
    case = random_case(77, several=False)
    *_, (_, _, first) = case.steps(suppress="peel")
    monkeypatch.setattr(support, "_LARGEST", 50)
    *_, (_, _, second) = case.steps(suppress="peel")
    assert np.array_equal(first.label, second.label)


def test_the_holder_is_told_levels_and_what_is_kept():
    with counting() as counts:
        TrajectoryGeneralisation(levels="2,8").publish(data_of(), PROMISE)
    assert any(what.startswith("visits with labels, from levels 2,8") for what in counts)
    assert all(0 < number <= 100 for number in counts.values())
