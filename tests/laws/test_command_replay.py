"""The replay law from the bytes of a private file to everything that a command leaves behind."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import command_bugs
import pytest
from figures import write_figures
from neighbour_files import COMBINATIONS, Combination, pairs_of

from hedgerow.cli.app import main
from hedgerow.errors import PromiseBroken
from hedgerow.testing import CommandPair, CommandReplay, check_command_replay

KINDS = ("sets", "sequences", "trajectories", "graphs", "matrices", "streams")
IMPORTS = ("hedgerow.cli.publish", "hedgerow.jobs.publish")


def replayed(pair: CommandPair, seed: int, prepare=None) -> CommandReplay:
    return check_command_replay(main, pair, seed=seed, imports=IMPORTS, prepare=prepare)


class Tally:
    """What was replayed of one method."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.worst = Fraction(0)

    def add(self, combination: Combination, pairs: int, folder: Path, seed: int) -> None:
        """Replay until so many pairs were compared; a refused file is checked, and is none of them."""
        left = pairs
        for number, (pair, noise) in enumerate(pairs_of(combination, folder, seed)):
            try:
                replay = replayed(pair, noise)
            except PromiseBroken as broken:
                msg = f"{combination}, seed {seed}, pair {number}: {broken} ({' '.join(pair.words)})"
                raise AssertionError(msg) from None
            self.counts.update(
                pairs=not replay.refused, refused=replay.refused, moved=replay.moved, released=replay.code == 0
            )
            self.counts["questions"] += replay.questions
            if pair.epsilon:
                self.worst = max(self.worst, replay.loss / pair.epsilon)
            left -= not replay.refused
            if not left:
                return

    def figures(self) -> dict[str, object]:
        return {**self.counts, "worst loss / epsilon": round(float(self.worst), 4)}


def replay_all(pairs: int, folder: Path, kind: str, seed: int = 0) -> dict[str, Tally]:
    """Replay so many pairs of every method and unit of a kind."""
    tallies: dict[str, Tally] = {}
    for combination in COMBINATIONS:
        if combination.kind == kind:
            tallies.setdefault(combination.method, Tally()).add(combination, pairs, folder, seed)
    return tallies


def total(tallies: dict[str, Tally]) -> Counter[str]:
    return sum((tally.counts for tally in tallies.values()), Counter())


# ---- the law


FEW = [
    Combination("diffpart", "sets", "person"),
    Combination("trip-synthesis", "trajectories", "trajectory"),
    Combination("laplace-graph", "graphs", "edge"),
    Combination("private-wavelet", "matrices", "cell"),
    Combination("stream-count", "streams", "event"),
]


def test_commands_keep_the_replay_law_on_a_few_pairs_of_files(tmp_path):
    tally = Tally()
    for combination in FEW:
        tally.add(combination, 2, tmp_path, seed=1)
    assert tally.counts["moved"] >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_commands_keep_the_replay_law_on_200_pairs_of_files(kind, tmp_path):
    """Six of every method and unit: 234 in all."""
    counts = total(replay_all(6, tmp_path, kind))
    assert 2 * counts["moved"] >= counts["pairs"]


@pytest.mark.full
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("kind", KINDS)
def test_commands_keep_the_replay_law_on_1_000_pairs_of_files(kind, tmp_path):
    """Thirty of every method and unit: 1,170 in all."""
    tallies = replay_all(30, tmp_path, kind, seed=2)
    counts = total(tallies)
    assert 2 * counts["moved"] >= counts["pairs"]
    methods = {method: tally.figures() for method, tally in tallies.items()}
    write_figures(f"command-replay-{kind}", {"total": dict(counts), "methods": methods})


def test_so_many_pairs_are_replayed():
    assert len(COMBINATIONS) * 6 >= 200
    assert len(COMBINATIONS) * 30 >= 1_000
    assert {combination.kind for combination in COMBINATIONS} == set(KINDS)


# ---- planted bugs


PURE = "--epsilon 1 --out out --domain domain.toml --even-if-useless"
SETS = f"publish data.dat --kind sets --method flat-laplace --unit record {PURE}"
TABLE = f"publish data.csv --kind matrices --method private-retrieval {PURE}"
PERSONS = f"publish data.csv --kind sets --method flat-laplace --unit person --records-per-person 1 {PURE}"
DOMAIN = '[item]\nvalues = ["a", "b", "1", "01"]\n'
NUMBERS = "[x]\nnumbers = true\nlow = 0\nhigh = 6\nstep = 1\n"


def write_pair(folder: Path, words: str, one: bytes, other: bytes, *, refusable: bool = False) -> CommandPair:
    """Write two folders with these private files."""
    folders = (folder / "one", folder / "other")
    data = words.split()[1]
    for place, content in zip(folders, (one, other), strict=True):
        place.mkdir(parents=True)
        (place / data).write_bytes(content)
        (place / "domain.toml").write_text(NUMBERS if "matrices" in words else DOMAIN)
        (place / "account.toml").write_text('total = "9"\nunit = "record"\n')
    return CommandPair(
        words=tuple(words.split()),
        folders=folders,
        data=data,
        epsilon=Fraction(1),
        refusable=refusable,
        markers=("secret",),
    )


#: a record more, at the end
MORE = (SETS, b"a\nb\na b\n" * 8, b"a\nb\na b\n" * 8 + b"01\n")
#: one that cannot be read
REFUSED = (f"{SETS} --account account.toml", b"a\nb\n", b"a\nsecret\n")
BUGS = {
    command_bugs.types_are_guessed: (
        "lost between|asked differently",
        (SETS.replace(".dat", ".csv"), b"unit,item\n1,01\n2,01\n", b"unit,item\n1,01\n2,01\n3,a\n"),
    ),
    command_bugs.one_bad_line_is_the_end: (
        "lost between",
        (f"{SETS} --read on_bad=drop", b"a\nb\nb\n", b"\xff\na\nb\nb\n"),
    ),
    command_bugs.numbers_are_rounded_half_to_even: (
        "2 is lost between",
        (f"{TABLE} --unit count", b"x\n2.5\n", b"x\n3.5\n"),
    ),
    command_bugs.rows_with_a_bad_cell_are_dropped: (
        "asked differently",
        (f"{TABLE} --unit cell", b"x\n3\n4\n", b"x\n3\nn/a\n"),
    ),
    command_bugs.too_few_records_are_refused: ("was not asked of a neighbour|exit codes", MORE),
    command_bugs.records_are_counted_in_a_warning: ("standard error differs", MORE),
    command_bugs.records_are_counted_on_standard_output: ("standard output differs", MORE),
    command_bugs.a_private_length_is_in_release_json: ("STATEMENT.md differs", MORE),
    command_bugs.rows_are_in_an_order_of_the_input: ("data.dat differs", MORE),
    command_bugs.rows_are_in_an_order_of_chance: ("data.dat differs", MORE),
    command_bugs.records_per_person_are_not_bounded: (
        "2 is lost between",
        (PERSONS, b"unit,item,person\n1,a,p\n", b"unit,item,person\n1,a,p\n2,b,v\n3,b,v\n"),
    ),
    command_bugs.the_share_depends_on_the_data: ("asked differently", MORE),
    command_bugs.a_file_is_named_by_the_data: ("is written of one neighbour only", MORE),
    command_bugs.a_refused_file_is_charged: ("a refused command wrote account.toml", REFUSED),
    command_bugs.a_refusal_shows_the_line: ("a refusal shows a private cell", REFUSED),
}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_planted_bugs_are_caught(bug, tmp_path):
    message, case = BUGS[bug]
    with pytest.raises(PromiseBroken, match=message):
        replayed(write_pair(tmp_path, *case, refusable=case is REFUSED), 3, bug)


def test_without_the_bugs_these_pairs_keep_the_law(tmp_path):
    sound = [
        (command_bugs.types_are_guessed, 1),
        (command_bugs.one_bad_line_is_the_end, 0),
        (command_bugs.records_are_counted_in_a_warning, 1),
        (command_bugs.records_per_person_are_not_bounded, 1),
    ]
    for bug, loss in sound:
        replay = replayed(write_pair(tmp_path / bug.__name__, *BUGS[bug][1]), 3)
        assert (replay.loss, replay.moved, replay.refused, replay.code) == (loss, loss > 0, False, 0)


# ---- what the check does itself


def test_a_refused_file_is_counted_as_such(tmp_path):
    assert replayed(write_pair(tmp_path / "one", *REFUSED, refusable=True), 3).refused
    words, one, other = REFUSED
    assert replayed(write_pair(tmp_path / "other", words, other, one, refusable=True), 3).refused


def test_a_refusal_is_a_difference_where_none_was_declared_possible(tmp_path):
    with pytest.raises(PromiseBroken, match="was not asked of a neighbour"):
        replayed(write_pair(tmp_path, *REFUSED), 3)


def test_only_what_is_for_the_owner_may_depend_on_the_data(tmp_path):
    """The number of dropped records is printed, and in JSON; what both commands share is compared."""
    words, one, other = f"{SETS} --read on_bad=drop", b"a\nb\n", b"a\nb\n\xff\n"
    for number, more in enumerate(("", " --json")):
        replay = replayed(write_pair(tmp_path / str(number), words + more, one, other), 3)
        assert (replay.loss, replay.code) == (0, 0)


def test_a_command_that_publishes_nothing_asks_nothing(tmp_path):
    for number, more in enumerate(("--dry-run", "--carry owner")):
        replay = replayed(write_pair(tmp_path / str(number), f"{SETS} {more}", *MORE[1:]), 3)
        assert (replay.questions, replay.code) == (0, [0, 3][number])


def test_rows_to_a_pipe_are_compared_as_a_folder_is(tmp_path):
    words = "publish bits.bits --kind streams --method stream-count --epsilon 1 --unit event --out - --set horizon=9"
    replay = replayed(write_pair(tmp_path / "sound", words, b"010110", b"010010"), 3)
    assert (replay.loss, replay.moved, replay.code) == (1, True, 0)
    with pytest.raises(PromiseBroken, match="asked differently of a neighbour"):
        replayed(write_pair(tmp_path / "longer", words, b"010110", b"0101101"), 3)


def test_every_command_starts_afresh(tmp_path):
    """A bug that is planted in one process is in no other, and noise depends on the seed alone."""
    pair = write_pair(tmp_path, *MORE)
    replayed(pair, 3)
    first = (tmp_path / "one" / "out" / "release.json").read_bytes()
    again = write_pair(tmp_path / "again", *MORE)
    replayed(again, 3)
    assert (tmp_path / "again" / "one" / "out" / "release.json").read_bytes() == first
