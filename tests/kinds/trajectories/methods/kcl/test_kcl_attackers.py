"""Attackers who read the whole published file: order, positions, and what stands beside; see `visit_attackers`."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from figures import write_figures
from visit_attackers import ATTACKED, Database, attack, draw_database

from hedgerow import KCL, find_method
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.privacy.guarantee import Verdict
from hedgerow.testing import changed

pytestmark = pytest.mark.filterwarnings("ignore:k = ", "ignore:a sensitive value", "ignore:no record has")

#: the other ways are attacked by `make full` alone
IN_SLOW = ("kcl, local, instances", "kcl, global, instances", "kcl-reinsertion, instances", "kcl-reinsertion, frequent")
#: databases in which the attackers find planted bugs
SEEDS = range(12)


def attack_some(way, seeds):
    """What the attackers find in the releases of some random databases; each must have something to attack."""
    name, settings = ATTACKED[way]
    method, found = find_method(name)(**settings), Counter()
    for seed in seeds:
        database = draw_database(seed)
        found.update(attack(database, method.publish(database.data(), database.promise()).data))
        found["databases"] += 1
    return found


def broken(found):
    return {what: number for what, number in found.items() if what.startswith("broken") and number}


@pytest.mark.slow
@pytest.mark.parametrize("way", IN_SLOW)
def test_attackers_who_read_the_whole_file_find_nothing(way):
    found = attack_some(way, range(300))
    assert not broken(found)
    assert found["knowledge"] > found["knowledge of which no line shows all"] > 1_000


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_attackers_of_three_thousand_databases_find_nothing():
    found = {way: attack_some(way, range(3_000)) for way in ATTACKED}
    write_figures("suppression-attackers", {way: dict(each) for way, each in found.items()})
    assert not any(map(broken, found.values()))


def test_a_visit_that_no_record_shows_rules_records_out_and_the_statement_says_so():
    """Three were at a, and one at b: only the last shows nothing then."""
    at_a, at_b = frozenset({(3, "a")}), frozenset({(3, "b")})
    database = Database([at_a, at_a, at_a, at_b], ["flu"] * 4, 2, Fraction(1), 1)
    release = find_method("kcl")().publish(database.data(), database.promise())
    found = attack(database, release.data)
    assert not broken(found)
    assert found["and fewer than K lines are not ruled out"] == 1
    assert "records with another place at that time are ruled out, and fewer than 2 may be left" in release.statement()


@pytest.mark.parametrize("way", IN_SLOW)
def test_attackers_find_records_that_stay_where_they_were(way):
    """Sorted by what they were before visits were suppressed: a position tells about what is missing."""
    assert not broken(attack_some(way, SEEDS))
    with changed(Trajectories, "canonical", "self.sorted()", "self"):
        assert set(broken(attack_some(way, SEEDS))) == {"broken: a position that content does not give"}


@pytest.mark.parametrize("way", IN_SLOW)
@pytest.mark.parametrize(
    ("forgotten", "finding"),
    [
        ("KCL(k=full.k, c=full.c, l=1, sensitive=full.sensitive)", "broken: fewer than K lines"),
        ("KCL(k=full.k, c=1, l=full.l, sensitive=full.sensitive)", "broken: a value beyond C"),
    ],
    ids=["more than one visit", "C"],
)
def test_attackers_find_what_a_method_forgets(way, forgotten, finding, monkeypatch):
    """While the checker of the release looks at nothing."""
    monkeypatch.setattr(KCL, "verify", lambda *_: Verdict("not at all", {}))
    with changed(
        find_method(ATTACKED[way][0]),
        "run",
        "ledger.promised(KCL)",
        f"(lambda full: {forgotten})(ledger.promised(KCL))",
    ):
        assert finding in broken(attack_some(way, SEEDS))
