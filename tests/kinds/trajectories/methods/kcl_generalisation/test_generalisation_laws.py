"""Laws of kcl-generalisation on random databases: the promise after every step, and what steps may change."""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from coarse_cases import attack, count_breaches, fine_records, random_case, released
from figures import write_figures

from hedgerow import Domain, Trajectories, TrajectoryGeneralisation
from hedgerow.data import Axis
from hedgerow.errors import DomainError
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.kinds.trajectories.methods.kcl_generalisation import labelling as steps
from hedgerow.kinds.trajectories.methods.kcl_generalisation.labelling import Labelling
from hedgerow.kinds.trajectories.methods.kcl_generalisation.search import measure_utility
from hedgerow.testing import changed

CASES = range(1_000, 1_060)


def breaches(seeds, *, suppress="grow", one_place=False, **more):
    """What brute force finds in random databases after every step, each with all knowledge of up to L visits."""
    found: Counter[str] = Counter()
    for seed in seeds:
        case = replace(random_case(seed, **more), one_place=one_place)
        for _, visits, labelling in case.steps(suppress=suppress, seed=seed):
            found.update(count_breaches(case, visits, labelling))
        found["databases"] += 1
        found["labels kept"] += int((labelling.label >= 0).sum())
    return found


#: with sets of labels; and with one place at a time, known to attackers, under the stricter rule
SETTINGS = {"grow": {}, "peel": {"suppress": "peel"}, "one place": {"one_place": True, "apart": True}}
FAULTS = ("labels", "overlaps", "attack", "untrue")
#: what puts labels into their canonical order; without it they stand where their first visits were
IN_ORDER = "self.labels[np.lexsort((*self.levels.sort_key(self.labels), row))]"


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_3000_databases_against_an_attacker_who_reads_whole_lines():
    """Three thousand of each setting; and how often the attack finds what it must, where that is planted."""
    seeds = range(10_000, 13_000)
    found = {name: breaches(seeds, **setting) for name, setting in SETTINGS.items()}
    ordered = sum(by_visits(random_case(seed)) > 0 for seed in seeds)
    crowded = sum(without_the_rule(random_case(seed, apart=True)) > 0 for seed in seeds)
    figures = {name: dict(each) for name, each in found.items()}
    figures["planted: labels in the order of visits"] = {"databases": len(seeds), "with breaches": ordered}
    figures["one place at a time, without the rule"] = {"databases": len(seeds), "with breaches": crowded}
    write_figures("kcl-generalisation", figures)
    assert not any(each[fault] for each in found.values() for fault in FAULTS)
    assert ordered
    assert crowded


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_300_databases_against_an_attacker_who_reads_whole_lines(setting):
    found = breaches(range(20_000, 20_300), **SETTINGS[setting])
    assert not any(found[fault] for fault in FAULTS)
    assert found["labels kept"] > 1_000


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_attacker_who_reads_whole_lines(setting):
    found = breaches(range(1_000, 1_030), **SETTINGS[setting])
    assert not any(found[fault] for fault in FAULTS)


def by_visits(case):
    """The breaches of the last step, if its labels stood in the order of visits."""
    *_, (_, visits, labelling) = case.steps()
    data = released(case, visits, labelling)
    with changed(CoarseTrajectories, "sorted", IN_ORDER, "self.labels"):
        return attack(case, data, fine_records(visits), case.promise.l, by_visits=True)


def without_the_rule(case):
    """The breaches by those who know that nobody is at two places at one time, of labels that were not made for it."""
    *_, (_, visits, labelling) = case.steps()
    return attack(case, released(case, visits, labelling), fine_records(visits), case.promise.l)


def test_the_promise_holds_between_any_two_steps(monkeypatch):
    """Work may be stopped after each label that is given, and after each that is refined."""
    state, checked = SimpleNamespace(), []

    def start(visits):
        state.labelling = Labelling(visits)
        return state.labelling

    def check(*_):
        broken = count_breaches(state.case, state.case.visits(), state.labelling, 1)
        checked.append(broken["labels"] + broken["overlaps"])

    monkeypatch.setattr(steps, "Labelling", start)
    monkeypatch.setattr(steps, "progress", SimpleNamespace(tell=check))
    for seed in CASES[:20]:
        state.case = random_case(seed)
        list(state.case.steps())
    assert len(checked) > 400
    assert not any(checked)


@pytest.mark.parametrize("seed", CASES[:30])
def test_climbing_and_refining_only_add(seed):
    """Climbing lets go of no visit, refining changes no represented visit; both never lower the utility."""
    before, utility = None, -1.0
    for name, visits, labelling in random_case(seed).steps():
        slot = labelling.slot.copy()
        if before is not None:
            assert np.array_equal(slot[before >= 0], before[before >= 0])
            assert name != "refine" or np.array_equal(slot, before)
        after = measure_utility(visits, labelling, "balanced", 0.25)
        assert after >= utility - 1e-12
        before, utility = slot, after


@pytest.mark.parametrize("seed", CASES[:20])
def test_with_k_of_one_nothing_is_lost(seed):
    """Refining then returns the finest labels on which all visits of a label agree."""
    case = replace(random_case(seed), promise=KCL(k=1, l=2))
    *_, (_, visits, labelling) = case.steps()
    assert (labelling.slot >= 0).all()
    finest = steps._finest_levels(visits, labelling)
    slots = np.flatnonzero(labelling.label >= 0)
    place_level, _, time_level, _ = case.levels.split(labelling.label[slots])
    assert np.array_equal(place_level, finest[0][slots])
    assert np.array_equal(time_level, finest[1][slots])


def publish(case, data, **more):
    place, time = case.levels.places[case.node[0]].name, case.levels.times.widths[case.node[1]]
    return TrajectoryGeneralisation(levels=f"{place},{time}", **more).publish(data, case.promise, seed=3).data


@pytest.mark.parametrize("seed", CASES[:20])
@pytest.mark.parametrize("suppress", ["grow", "peel"])
@pytest.mark.filterwarnings("ignore:no record has the sensitive value")
def test_the_order_and_the_numbers_of_records_and_persons_do_not_matter(seed, suppress):
    case = replace(random_case(seed, several=False))
    data = replace(case.data, domain=replace(case.data.domain, records_per_person=1))
    other = data.shuffled(np.random.default_rng(seed))
    assert publish(case, data, suppress=suppress).to_bytes() == publish(case, other, suppress=suppress).to_bytes()


@pytest.mark.parametrize("seed", CASES[:20])
def test_equal_records_are_published_alike_whatever_their_sensitive_values(seed):
    """Swapping the values of two records with the same visits changes nothing but these values."""
    case = random_case(seed, several=False)
    *_, (_, visits, labelling) = case.steps()
    fine = [tuple(visits.place[a:b]) + tuple(visits.bins[0][a:b]) for a, b in itertools.pairwise(visits.starts)]
    first: dict[tuple[int, ...], int] = {}
    for record, own in enumerate(fine):
        other = first.setdefault(own, record)
        a, b = visits.starts[record], visits.starts[other]
        assert np.array_equal(
            labelling.label[a : visits.starts[record + 1]], labelling.label[b : visits.starts[other + 1]]
        )


@pytest.mark.parametrize("seed", CASES[:20])
def test_names_of_sensitive_values_and_of_places_do_not_matter(seed):
    case = random_case(seed, several=False)
    place, ill = case.data.domain.axis("place"), case.data.domain.axis("ill")
    renamed = Axis(
        tuple(f"place {name}" for name in place.values), tuple(tuple(f"of {part}" for part in p) for p in place.paths)
    )
    domain = Domain.declare(place=renamed, time=range(8), ill=[f"x{value}" for value in ill.values])
    data = replace(case.data, domain=domain)
    values = [f"ill=x{value}" for value in ("flu", "cold")]
    promise = KCL(k=case.promise.k, l=case.promise.l, c="60%", sensitive=values)
    other = replace(case, data=data, promise=promise, levels=PlaceTimeLevels.of(domain))
    *_, (_, _, first) = case.steps()
    *_, (_, _, second) = other.steps()
    assert np.array_equal(first.label, second.label)


@pytest.mark.parametrize("seed", CASES[:30])
def test_checker_and_brute_force_agree(seed):
    """On what the method publishes with a smaller K, which breaks the promise now and then."""
    case = random_case(seed, several=False)
    weaker = replace(case, promise=KCL(k=1, l=1))
    *_, (_, visits, labelling) = weaker.steps()
    broken = count_breaches(case, case.visits(), copy.copy(labelling), 1)
    violations = case.promise.violations({"": released(case, visits, labelling)})
    assert bool(broken["labels"] + broken["overlaps"]) == any(violations.values())


@pytest.mark.parametrize("seed", CASES[:20])
def test_one_level_is_the_old_promise_on_recoded_visits(seed):
    """The checker of exact visits, given regions for places and bins for times, agrees."""
    case = random_case(seed, several=False)
    _, visits, labelling = next(case.steps())
    given = np.flatnonzero(labelling.label >= 0)
    _, region, _, number = case.levels.split(labelling.label[given])
    place, time = case.levels.places[case.node[0]], case.levels.times.counts()[case.node[1]]
    ill = case.data.domain.axis("ill")
    recoded = Trajectories.from_columns(
        records=len(case.data),
        row=visits.record[given],
        time=number,
        place=region,
        sensitive=dict(case.data.traits),
        domain=Domain.declare(place=range(len(place.regions)), time=range(time), ill=ill),
        several=True,
    )
    ordered = recoded.from_columns(
        records=len(case.data),
        row=np.repeat(np.arange(len(recoded)), np.diff(recoded.starts)),
        time=recoded.pairs // len(place.regions),
        place=_sorted_within_times(recoded) % len(place.regions),
        sensitive=dict(case.data.traits),
        domain=recoded.domain,
        several=True,
    )
    assert not any(case.promise.violations({"": ordered}).values())


def _sorted_within_times(data):
    row = np.repeat(np.arange(len(data)), np.diff(data.starts))
    return data.pairs[np.lexsort((data.pairs, row))]


def test_groups_that_do_not_nest_are_refused():
    crossing = Axis(("a", "b"), (("north", "x"), ("south", "x")))
    with pytest.raises(DomainError, match="do not nest: a group of level 1 lies in two groups of level 2"):
        PlaceTimeLevels.of(Domain.declare(place=crossing, time=range(4)))
    uneven = Axis(("a", "b"), (("north", "x"), ("south",)))
    with pytest.raises(DomainError, match="must have the same number of groups"):
        PlaceTimeLevels.of(Domain.declare(place=uneven, time=range(4)))


def test_a_name_on_two_levels_is_two_regions():
    place = Axis(("a", "b"), (("x", "x"), ("x", "y")))
    levels = PlaceTimeLevels.of(Domain.declare(place=place, time=range(4)))
    assert [level.regions for level in levels.places] == [("a", "b"), ("x", "y"), ("x",)]
    domain = Domain.declare(place=place, time=range(4))
    data = Trajectories.from_records([[("a", 0)], [("b", 0)]], domain=domain, several=True)
    release = TrajectoryGeneralisation(levels="2,1").publish(data, KCL(k=2, l=1))
    assert release.data.records() == [((("2", "x", 0, 1),), ())] * 2
