"""Attackers who read the whole published file of trees: see `tree_attackers`; for clustree and clustree-packing."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from figures import write_figures
from tree_attackers import attack, draw_students

from hedgerow import KAnonymity, LDiversity, find_method
from hedgerow.errors import NotSatisfied
from hedgerow.kinds.records.data import Records
from hedgerow.privacy.guarantee import Verdict
from hedgerow.testing import changed

pytestmark = pytest.mark.filterwarnings("ignore:at most", "ignore:fewer than l")

METHODS = ("clustree", "clustree-packing")
PROMISES = (KAnonymity(k=2), LDiversity(l=2), KAnonymity(k=3), LDiversity(l=3))
#: databases in which the attackers find planted bugs
SEEDS = range(8)


def attack_some(name, seeds, promises=PROMISES):
    """What the attackers find in the releases of some random databases."""
    found = Counter()
    for seed in seeds:
        promise = promises[seed % len(promises)]
        # roots of two buckets are never three that differ
        data = draw_students(seed, graded=promise != LDiversity(l=3))
        try:
            published = find_method(name)().publish(data, promise, seed=seed).data
        except NotSatisfied:
            found["databases of which nothing can be published"] += 1
            continue
        found.update(attack(data, published, promise, seed))
        found["databases"] += 1
    return found


def broken(found):
    return {what: number for what, number in found.items() if what.startswith("broken") and number}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_attackers_who_read_the_whole_file_find_nothing(name):
    found = attack_some(name, range(300))
    assert not broken(found)
    assert found["databases"] >= 290


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_attackers_of_three_thousand_databases_find_nothing():
    found = {name: attack_some(name, range(3_100)) for name in METHODS}
    write_figures("generalisation-attackers", {name: dict(each) for name, each in found.items()})
    assert not any(map(broken, found.values()))
    assert all(each["databases"] >= 3_000 for each in found.values())


@pytest.mark.parametrize("name", METHODS)
def test_attackers_find_trees_that_stay_where_they_were(name):
    assert not broken(attack_some(name, SEEDS))
    with changed(Records, "canonical", "codes = self.content_codes()", "return self"):
        assert set(broken(attack_some(name, SEEDS))) == {"broken: a position that content does not give"}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("promise", "size", "finding"),
    [
        (KAnonymity(k=3), (2, None), "broken: fewer trees than promised"),
        (LDiversity(l=2), (2, None), "broken: a value is likelier than promised"),
    ],
    ids=["a member is missing", "values are not looked at"],
)
def test_attackers_find_what_a_method_forgets(name, promise, size, finding, monkeypatch):
    """While the checker of the release looks at nothing."""
    monkeypatch.setattr(type(promise), "verify", lambda *_: Verdict("not at all", {}))
    monkeypatch.setattr(sys.modules[find_method(name).__module__], "class_size", lambda *_: size)
    assert finding in broken(attack_some(name, SEEDS, (promise,)))
