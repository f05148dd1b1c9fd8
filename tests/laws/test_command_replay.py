"""The replay law from the bytes of a private file to everything that a command leaves behind."""

from __future__ import annotations

import secrets
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from figures import write_figures
from neighbour_files import COMBINATIONS, Combination, pairs_of

from hedgerow import publisher
from hedgerow.cli.app import main
from hedgerow.errors import ParameterError, PromiseBroken, ReadError
from hedgerow.formats import blank_separated, csv_table, text_lines
from hedgerow.formats.long_table import OutputRecords
from hedgerow.jobs import publish as jobs
from hedgerow.release import Release
from hedgerow.testing import CommandPair, CommandReplay, changed, check_command_replay

# ---- Planted bugs that only the way from a file to a folder shows: each is called in the process of a command
#
# A bug changes what a command reads, says, writes or charges, depending on the private data.

#: what is planted stays until the process ends
PLANTED = ExitStack()


def in_publish_with(old: str, new: str, **names: Any) -> None:
    """Change one place of the way from data to a release."""
    PLANTED.enter_context(changed(publisher, "publish_with", old, new, **names))


def after_reading(then: Callable[[Any], None]) -> None:
    """Do something with the private data as soon as it is read."""
    read_data = jobs.read_data

    def reading(*arguments: Any) -> Any:
        data = read_data(*arguments)
        then(data)
        return data

    jobs.read_data = reading


def types_are_guessed() -> None:
    """Take a column for numbers if all of its cells are, so that 01 and 1 are one item."""
    read_cells = csv_table.read_cells

    def guessing(*arguments: Any, **more: Any) -> Any:
        table = read_cells(*arguments, **more)
        numbers = {name: table.frame[name].cast(pl.Int64, strict=False) for name in table.frame.columns}
        whole = [column.cast(pl.String) for column in numbers.values() if not column.has_nulls()]
        return table._replace(frame=table.frame.with_columns(whole))

    csv_table.read_cells = guessing


def one_bad_line_is_the_end() -> None:
    """Read a file up to the first byte that is not UTF-8."""
    blank_separated.split_lines = lambda where, content, request: text_lines.split_lines(
        where, content.partition(b"\xff")[0], request
    )


def numbers_are_rounded_half_to_even() -> None:
    """Take 2.5 for 2 and 3.5 for 4: one step becomes two."""
    read_cells = csv_table.read_cells

    def rounding(*arguments: Any, **more: Any) -> Any:
        table = read_cells(*arguments, **more)
        rounded = pl.all().cast(pl.Float64).round(mode="half_to_even").cast(pl.String)
        return table._replace(frame=table.frame.with_columns(rounded))

    csv_table.read_cells = rounding


def rows_with_a_bad_cell_are_dropped() -> None:
    """Leave out rows where only cells are private, so that their number is public."""
    read_cells = csv_table.read_cells

    def dropping(*arguments: Any, **more: Any) -> Any:
        table = read_cells(*arguments, **more)
        good = table.frame.select(pl.all_horizontal(pl.all().cast(pl.Float64, strict=False).is_not_null()))
        kept = good.to_series()
        return table._replace(frame=table.frame.filter(kept), line=table.line[kept.to_numpy()])

    csv_table.read_cells = dropping


def too_few_records_are_refused() -> None:
    def refuse(data: Any) -> None:
        if len(data) % 2:
            msg = "there are too few records"
            raise ParameterError(msg)

    after_reading(refuse)


def records_are_counted_in_a_warning() -> None:
    after_reading(lambda data: warnings.warn(f"{len(data)} records were read", stacklevel=2))


def records_are_counted_on_standard_output() -> None:
    def say(data: Any) -> None:
        Release.describe_use = lambda _: f"Made of {len(data)} records."

    after_reading(say)


def a_private_length_is_in_release_json() -> None:
    in_publish_with(
        "recipe=recipe_of(method)",
        "recipe=dataclasses.replace(recipe_of(method), parameters=(('records', len(data)),))",
    )


def written_in_order(seed: Callable[[Any], int]) -> None:
    """Write lines in an order that is drawn from this seed, which may depend on the data."""
    write = OutputRecords.to_lines

    def plant(data: Any) -> None:
        def writing(*arguments: Any) -> bytes:
            rows = write(*arguments).splitlines(keepends=True)
            np.random.default_rng(seed(data)).shuffle(rows)
            return b"".join(rows)

        OutputRecords.to_lines = writing

    after_reading(plant)


def rows_are_in_an_order_of_the_input() -> None:
    written_in_order(len)


def rows_are_in_an_order_of_chance() -> None:
    """Draw from other entropy than that of the ledger: a neighbour gets another order."""
    seed = secrets.randbits(64)
    written_in_order(lambda _: seed)


def records_per_person_are_not_bounded() -> None:
    in_publish_with("data = guarantee.bound(data)", "pass")


def the_share_depends_on_the_data() -> None:
    """Open a ledger of half the budget for every second data set."""
    in_publish_with(
        "ledger = guarantee.open(data, answers)",
        "ledger = guarantee.open(data, answers)\n    if len(data) % 2:\n        ledger, _ = ledger.split(1, 1)",
    )


def a_file_is_named_by_the_data() -> None:
    after_reading(lambda data: Path(f"records-{len(data)}").touch())


def a_refused_file_is_charged() -> None:
    """Write to the account before the file is known to be readable."""
    read_data = jobs.read_data

    def reading(job: Any, *columns: Any) -> Any:
        with Path(job.account).open("a") as account:
            account.write("# a further publication\n")
        return read_data(job, *columns)

    jobs.read_data = reading


def a_refusal_shows_the_line() -> None:
    read_data = jobs.read_data

    def reading(job: Any, *columns: Any) -> Any:
        try:
            return read_data(job, *columns)
        except ReadError as error:
            text = Path(job.data).read_bytes().splitlines()[-1].decode(errors="replace")
            msg = f"{error}: {text}"
            raise ReadError(msg) from None

    jobs.read_data = reading


# ---- tests

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
    types_are_guessed: (
        "lost between|asked differently",
        (SETS.replace(".dat", ".csv"), b"unit,item\n1,01\n2,01\n", b"unit,item\n1,01\n2,01\n3,a\n"),
    ),
    one_bad_line_is_the_end: (
        "lost between",
        (f"{SETS} --read on_bad=drop", b"a\nb\nb\n", b"\xff\na\nb\nb\n"),
    ),
    numbers_are_rounded_half_to_even: (
        "2 is lost between",
        (f"{TABLE} --unit count", b"x\n2.5\n", b"x\n3.5\n"),
    ),
    rows_with_a_bad_cell_are_dropped: (
        "asked differently",
        (f"{TABLE} --unit cell", b"x\n3\n4\n", b"x\n3\nn/a\n"),
    ),
    too_few_records_are_refused: ("was not asked of a neighbour|exit codes", MORE),
    records_are_counted_in_a_warning: ("standard error differs", MORE),
    records_are_counted_on_standard_output: ("standard output differs", MORE),
    a_private_length_is_in_release_json: ("STATEMENT.md differs", MORE),
    rows_are_in_an_order_of_the_input: ("data.dat differs", MORE),
    rows_are_in_an_order_of_chance: ("data.dat differs", MORE),
    records_per_person_are_not_bounded: (
        "2 is lost between",
        (PERSONS, b"unit,item,person\n1,a,p\n", b"unit,item,person\n1,a,p\n2,b,v\n3,b,v\n"),
    ),
    the_share_depends_on_the_data: ("asked differently", MORE),
    a_file_is_named_by_the_data: ("is written of one neighbour only", MORE),
    a_refused_file_is_charged: ("a refused command wrote account.toml", REFUSED),
    a_refusal_shows_the_line: ("a refusal shows a private cell", REFUSED),
}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_planted_bugs_are_caught(bug, tmp_path):
    message, case = BUGS[bug]
    with pytest.raises(PromiseBroken, match=message):
        replayed(write_pair(tmp_path, *case, refusable=case is REFUSED), 3, bug)


def test_without_the_bugs_these_pairs_keep_the_law(tmp_path):
    sound = [
        (types_are_guessed, 1),
        (one_bad_line_is_the_end, 0),
        (records_are_counted_in_a_warning, 1),
        (records_per_person_are_not_bounded, 1),
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
