"""Planted bugs of kcl-generalisation: each is caught by brute force on random databases, or by a vector."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from coarse_cases import attack, count_breaches, fine_records, random_case, released
from test_generalisation_laws import IN_ORDER
from test_generalisation_settings import test_one_place_keeps_what_fits_beside_what_is_known
from test_generalisation_vectors import test_records_are_sets, test_whole_groups_only

from hedgerow.errors import NotSatisfied
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.methods.kcl_generalisation import labelling as steps
from hedgerow.kinds.trajectories.methods.kcl_generalisation import support as fine_visits
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits, Support
from hedgerow.testing import changed

#: databases that are tried until a bug shows
MOST = 160


def _without_sensitive(support):
    other = Support.__new__(Support)
    vars(other).update(vars(support), marked=support.marked[:0])
    return other


MUTANTS = {
    "refine: rest not tested": (steps, "_largest_part", "bad |= short[sequence[inside]]", "bad |= False"),
    "refine: children not tested": (
        *(steps, "_largest_part", "refinements)[refined[inside]]", "refinements)[refined[inside]] & False"),
    ),
    "refine: one round only": (steps, "_largest_part", "while shrinking and chosen.any():", "for _ in range(1):"),
    "refine: only the label itself is counted": (steps._Groups, "best", "range(support.longest)", "range(1)"),
    "refine: C not tested": (steps._Groups, "best", "support = self.support", "support = without(self.support)"),
    "refine: visits that disagree are refined": (
        *(steps, "_finest_levels", "finest[slot[column[stood] != column[slot]]] = level + 1", "pass"),
    ),
    "climb: overlap allowed": (*(steps, "climb", "lost[~_overlaps(visits, labelling, lost, level)]", "lost"),),
    "climb: overlap tested at the finer level": (
        *(steps, "_overlaps", "np.maximum(place_level, node[0])", "np.minimum(place_level, node[0])"),
    ),
    "written in the order of visits": (CoarseTrajectories, "sorted", IN_ORDER, "self.labels"),
    "one place: bins not limited": (FineVisits, "recode", "if not self.most_labels:", "if True:"),
    "give back: K in records": (Support, "count", "if self.visits.one_record_each:", "if True:"),
    "suppression stops at pairs": (
        *(steps, "peel", "range(1, support.longest + 1)", "range(1, min(2, support.longest) + 1)"),
    ),
    "suppression: one round per length": (steps, "peel", "while _delete_shortest", "if _delete_shortest"),
    "recoding: repeats stay": (
        *(FineVisits, "items", "_, at = group_equal(", "_, at = (None, np.arange(len(visits))) or group_equal("),
    ),
}
#: in which of the four checks each bug shows; "labels" unless said
SHOWS = {
    "refine: visits that disagree are refined": "untrue",
    "climb: overlap allowed": "overlaps",
    "climb: overlap tested at the finer level": "overlaps",
    "recoding: repeats stay": "overlaps",
    "written in the order of visits": "attack",
    "one place: bins not limited": "attack",
}
PEELING = {"suppression stops at pairs", "suppression: one round per length"}


def breaches_of(name, number=MOST):
    """In how many databases each check is broken by the method."""
    broken: Counter[str] = Counter()
    suppress = "peel" if name in PEELING else "grow"
    for seed in range(number):
        case = random_case(seed)
        if name.startswith("one place"):
            case = replace(random_case(seed, apart=True), one_place=True)
        *_, (_, visits, labelling) = case.steps(suppress=suppress, seed=seed)
        found = count_breaches(case, visits, labelling, None if case.one_place else 2)
        if name == "written in the order of visits":
            found["attack"] = attack(case, released(case, visits, labelling), fine_records(visits), 2, by_visits=True)
        broken.update(what for what, times in found.items() if times)
        if found["labels"] + found["overlaps"] or (case.one_place and found["attack"]):  # the checker sees it, too
            promise = case.promise.about(case.data)
            assert any(promise.violations({"": released(case, visits, labelling)}).values())
        if broken[SHOWS.get(name, "labels")]:
            break
    return broken


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_bug_is_caught(name):
    owner, function, old, new = MUTANTS[name]
    names = {"without": _without_sensitive, "np": np}
    with changed(owner, function, old, new, **names):
        assert breaches_of(name)[SHOWS.get(name, "labels")]


@pytest.mark.parametrize("suppress", ["grow", "peel"])
def test_without_a_bug_nothing_is_caught(suppress):
    for seed in range(60):
        case = random_case(seed)
        for _, visits, labelling in case.steps(suppress=suppress, seed=seed):
            assert not any(count_breaches(case, visits, labelling, 2).values()), seed


def test_equality_with_c_as_a_violation_is_caught_by_a_vector():
    with (
        changed(Support, "violating", "> self._most[persons]", ">= self._most[persons]"),
        pytest.raises(AssertionError),
    ):
        test_whole_groups_only()


@pytest.mark.parametrize(
    ("owner", "function", "old", "new", "test"),
    [
        (
            Support,
            "sequences_with",
            "np.sort(holder * len(distinct) + label) - holder * len(distinct)",
            "label",
            "sets",
        ),
        (fine_visits, "_most_labels", " - np.minimum(times, longest) + 1", "", "one place"),
    ],
)
def test_a_planted_bug_is_caught_by_a_vector(owner, function, old, new, test):
    run = {"sets": test_records_are_sets, "one place": test_one_place_keeps_what_fits_beside_what_is_known}[test]
    with changed(owner, function, old, new), pytest.raises((AssertionError, NotSatisfied, pytest.fail.Exception)):
        run()
