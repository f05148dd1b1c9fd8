"""Attacks on anatomised records: planted weaknesses are found, and controls show what chance finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from anatomy_attackers import by_order, patient, records, visit
from dependent_records import dependent, in_groups

from hedgerow import LDiversity, find_method
from hedgerow.evaluate import evaluate
from hedgerow.kinds.records.anatomy import publish_groups
from hedgerow.kinds.records.anatomy_attacks import measure_anatomy_attacks, trace_groups, world_of
from hedgerow.kinds.records.anatomy_measures import count_vertices
from hedgerow.kinds.records.data import VertexTable
from hedgerow.kinds.records.relinking import read_links
from hedgerow.kinds.records.rule_promise import PM
from hedgerow.kinds.records.rules import Rule
from hedgerow.privacy import All
from hedgerow.report import report


def attacked(data, parts, **others):
    """The scores of all attacks, by name."""
    return {score.name: score for score in measure_anatomy_attacks(data, parts, np.random.default_rng(1), **others)}


@pytest.mark.parametrize("form", ["trees", "vertices"])
def test_links_are_guessed_where_values_follow_labels_and_not_where_they_do_not(form):
    names = {
        "trees": "re-linking attack, share of trees linked rightly",
        "vertices": "re-linking attack, share of values of visit.illness guessed rightly",
    }
    strong, none = (
        attacked(data, in_groups(data, 2, form))[names[form]]
        for data in (dependent(600, 6, share, 3) for share in (0.6, 0.0))
    )
    assert dict(strong.controls)["equally likely links"] == pytest.approx(0.5, abs=0.05)
    assert dict(strong.controls)["sensitive values shuffled"] == pytest.approx(0.5, abs=0.07)
    assert strong.value > (0.95 if form == "trees" else 0.75)
    assert none.value == pytest.approx(0.5, abs=0.09)


def test_records_are_traced_by_their_labels_and_only_once():
    born = np.array([1, 1, *range(2, 40)])
    data = dependent(40, 1, 0.0, 5, born=born)
    roots, visits = data.tables
    places = np.where(np.arange(40) < 2, 0, visits.labels[:, 0])
    data = replace(data, tables=(roots, VertexTable(visits.parent, places[:, None], visits.sensitive)))
    parts = in_groups(data, 2)
    links = read_links(parts)
    world = world_of(parts, links, data)
    trace = trace_groups(data, world, links, np.random.default_rng(1))
    assert len(trace.record) == 40
    assert sorted(trace.origin.tolist()) == [-1, -1, *range(2, 40)]
    assert {len(fits) for fits in trace.fits} == {1, 2}
    # what is known of vertices is right
    known = trace.vertex[1] >= 0
    assert np.array_equal(data.tables[1].labels[trace.vertex[1][known]], world.tables[1].labels[known])


def test_missing_vertices_of_two_members_have_equal_values():
    groups = [
        [patient(1990 + n, None, visit(2001, "AIDS"), visit(2002, value)) for n, value in pair]
        for pair in ([(0, "Flu"), (1, "Flu")], [(2, "Cold"), (3, "Cold")], [(4, "Gout"), (5, "Flu")])
    ]
    for number, (_, other) in enumerate(groups):
        other[3][0] = visit(2001, "Worms")
        assert number < 3
    data = records([tree for group in groups for tree in group])
    # the second visits are suppressed: rightly so in the first two groups, where they are equal
    grouping = by_order(data, np.repeat([0, 1, 2], 2))
    grouping.position[1][data.tables[1].labels[:, 0] == 1] = -1
    parts = publish_groups(data, grouping, "trees", np.random.default_rng(1))
    scores = attacked(data, parts)
    assert scores["missing vertices of equal values (minimality), guesses"].value == 3
    assert scores["missing vertices of equal values (minimality), share of guesses that are right"].value == 2 / 3


@pytest.mark.filterwarnings("ignore:rule 1")
def test_rules_make_missing_vertices_telling():
    data = dependent(300, 4, 0.0, 8)
    rules = (Rule("visit.illness", ("i1",), 1, PM(rules=[_table()]).rules[0].p),)
    release = find_method("anatomy")(form="trees").publish(data, All(LDiversity(l=2), PM(rules=rules)), seed=1)
    scores = attacked(data, release.outputs, rules=rules)
    told = scores["missing vertices, chance of visit.illness = i1"]
    controls = dict(told.controls)
    assert controls["any vertex"] == pytest.approx(1 / 12, abs=0.03)
    assert controls["sensitive values shuffled"] == pytest.approx(1 / 12, abs=0.06)
    assert told.value > 3 * controls["any vertex"]


def _table():
    return {"attribute": "visit.illness", "value": "i1", "m": "1", "p": "1/4"}


def test_two_releases_tell_what_one_does_not():
    data = dependent(300, 3, 0.0, 9)
    one, other = (find_method("anatomy")().publish(data, LDiversity(l=2), seed=seed).outputs for seed in (1, 2))
    name = "two releases intersected, share of sensitive values that are certain and right"
    scores = attacked(data, one, again=other)
    assert dict(scores[name].controls)["one release"] == 0
    assert scores[name].value > 0.6
    assert dict(scores[name].controls)["groups of other people"] < 0.3
    assert attacked(data, one, again=one)[name].value == 0


@pytest.mark.parametrize("form", ["trees", "vertices"])
def test_evaluate_and_the_page_take_anatomised_releases(form):
    data = dependent(40, 3, 0.0, 2)
    settings = {"relinking": "declared"} if form == "trees" else {}
    release = find_method("anatomy")(form=form, **settings).publish(data, LDiversity(l=2), seed=1)
    scores = evaluate(release, data, seed=1)
    by_name = {score.name: score for score in scores}
    kept = by_name["suppression accuracy, mean share of the vertices of a record that are published, in percent"]
    quasi = release.outputs["quasi"]
    assert kept.value == pytest.approx(100 * count_vertices(quasi).sum() / (4 * 40))  # all records have four vertices
    assert dict(kept.controls) == {"everything suppressed": 0}
    assert by_name["smallest group, records"].value == 2
    assert "generalised (clustree-packing)" in dict(by_name["mean accuracy of queries"].controls)
    assert by_name["two releases intersected, share of sensitive values that are certain and right"].value > 0.3
    page = report([("release", release)])
    assert "Records by size of their group in the release" in page
    assert "suppression accuracy" in report([("release", release)], [scores])
