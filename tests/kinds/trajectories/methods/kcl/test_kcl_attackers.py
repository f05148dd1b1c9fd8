"""Attackers who read the whole published file: order, positions, and what stands beside."""

from __future__ import annotations

import csv
import io
import itertools
import random
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import pytest
from figures import write_figures

from hedgerow import KCL, Domain, find_method
from hedgerow.formats.codec import codec_of
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.privacy.guarantee import Verdict
from hedgerow.testing import changed

# ---- Attackers of suppressed trajectories, by brute force: they read the whole published file, line by line
#
# What they know is $q$, up to L visits that a person made, and that the record of the person is in the data. What they
# know of the method is that visits may be missing, and that none is changed or added. So a published line is
# *consistent* with $q$ if it is a subsequence of some full record that contains $q$: a record is at one place at a
# time, so no visit of the line is at the time of a visit of $q$ and elsewhere; and the visits of the line stand in the
# order of time. A line *shows* $q$ if it has all of these visits.
#
# - **Shown knowledge** is what K, C and L are about. The lines that show $q$ and are consistent with it as a whole
#   must be none or K, and no sensitive value may be more frequent among them than C. Whoever leaves out no line for
#   what stands beside, or for where it stands, is left with these lines; allowing for missing visits only adds others.
# - **Order.** A line, a visit and a unit number have a position in the file. If that is no function of what is
#   published, it tells about what is not: the attacker counts such a file as broken, since a position may belong to
#   one record.
# - **Missing knowledge.** If no line shows $q$, K says nothing. Lines with another place at a time of $q$ are ruled
#   out then, and fewer than K may be left: the statement names this, and the number of such cases is a figure, no
#   breach.

PLACES = ("a", "b", "c")
VALUES = ("HIV", "flu")
#: the ways to suppress, each with the method and its settings
ATTACKED = {
    "kcl, local, instances": ("kcl", {}),
    "kcl, local, frequent": ("kcl", {"metric": "mfs", "k_prime": 2}),
    "kcl, global, instances": ("kcl", {"mode": "global"}),
    "kcl, global, frequent": ("kcl", {"mode": "global", "metric": "mfs", "k_prime": 2}),
    "kcl-reinsertion, instances": ("kcl-reinsertion", {}),
    "kcl-reinsertion, frequent": ("kcl-reinsertion", {"metric": "mfs", "k_prime": 2}),
    "kcl-reinsertion, batches": ("kcl-reinsertion", {"schedule": "batch"}),
    "kcl-reinsertion, grown": ("kcl-reinsertion", {"schedule": "grow"}),
}


class Line(NamedTuple):
    """A published record as the file has it: visits (time, place) in their order, and the sensitive value."""

    visits: tuple[tuple[int, str], ...]
    value: str


class Database(NamedTuple):
    """Private records as sets of visits (time, place), and what is promised."""

    records: list[frozenset[tuple[int, str]]]
    values: list[str | None]
    k: int
    c: Fraction
    longest: int

    def data(self) -> Trajectories:
        """The records as a data set."""
        hours = range(6)
        visits = [[(place, time) for time, place in sorted(record)] for record in self.records]
        domain = Domain.declare(place=PLACES, time=hours, diagnosis=VALUES)
        return Trajectories.from_records(visits, sensitive={"diagnosis": self.values}, domain=domain)

    def promise(self) -> KCL:
        """The promise."""
        return KCL(k=self.k, c=self.c, l=self.longest, sensitive=["diagnosis=HIV"])


def draw_database(seed: int) -> Database:
    """Draw three to fourteen records of up to four visits, some of them equal."""
    draw = random.Random(seed)
    places, hours = draw.randint(1, 3), draw.randint(2, 6)
    records = []
    for _ in range(draw.randint(3, 14)):
        times = draw.sample(range(hours), min(hours, draw.choice([0, 1, 2, 2, 3, 4])))
        records.append(frozenset((time, draw.choice(PLACES[:places])) for time in times))
    records += records[:1] * draw.choice([0, 0, 2])
    values = [draw.choice(["HIV", "flu", "flu", None]) for _ in records]
    c = Fraction(draw.choice(["1/2", "1/3", "3/5", "1", "0"]))
    return Database(records, values, draw.randint(1, 4), c, draw.randint(1, 3))


def read_lines(text: str) -> list[Line]:
    """Read a published table as it stands; units must be numbered from 1 on, each on lines of its own."""
    lines: list[Line] = []
    for number, row in enumerate(csv.DictReader(io.StringIO(text))):
        unit = int(row["unit"])
        assert unit in {len(lines), len(lines) + 1}, f"unit {unit} of row {number} is not the next one"
        if unit > len(lines):
            lines.append(Line((), row["diagnosis"]))
        if row["time"]:
            lines[-1] = lines[-1]._replace(visits=(*lines[-1].visits, (int(row["time"]), row["place"])))
        assert row["diagnosis"] == lines[-1].value
    return lines


def attack(database: Database, published: Trajectories) -> Counter[str]:
    """Count what each attacker finds; only what begins with `broken` must not be."""
    columns = {role: role for role in ("unit", "time", "place")}
    lines = read_lines(codec_of("trajectories").write(published, "csv", columns).decode())
    found: Counter[str] = Counter({"broken: a position that content does not give": not _stands_by_content(lines)})
    known = {
        q
        for record in database.records
        for size in range(1, database.longest + 1)
        for q in map(frozenset, itertools.combinations(sorted(record), size))
    }
    for q in known:
        consistent = [line for line in lines if _could_be(line, q)]
        showing = [line for line in consistent if q <= set(line.visits)]
        found["knowledge"] += 1
        if not showing:
            found["knowledge of which no line shows all"] += 1
            found["and fewer than K lines are not ruled out"] += len(consistent) < min(database.k, len(lines))
            continue
        ill = sum(line.value == VALUES[0] for line in showing)
        found["broken: fewer than K lines"] += len(showing) < database.k
        found["broken: a value beyond C"] += ill > database.c * len(showing)
    return found


def _could_be(line: Line, q: frozenset[tuple[int, str]]) -> bool:
    """Whether some full record contains q and shows this line: in the order of time, at one place at a time."""
    times = [time for time, _ in line.visits]
    at = dict(line.visits)
    return all(a < b for a, b in itertools.pairwise(times)) and all(at.get(time, place) == place for time, place in q)


def _stands_by_content(lines: list[Line]) -> bool:
    """Whether lines, and visits in them, stand where their content says: sorted anew, they are the same file."""
    codes = {"": -1} | {value: code for code, value in enumerate(VALUES)}
    within = [line._replace(visits=tuple(sorted(line.visits))) for line in lines]
    return lines == sorted(within, key=lambda line: (len(line.visits), line.visits, codes[line.value]))


# ---- tests

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
