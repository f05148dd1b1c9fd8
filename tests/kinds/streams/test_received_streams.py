"""Releases of streams that were damaged or made to do harm, and files of events that are broken in any way."""

from __future__ import annotations

import gzip
import random

import pytest
from backports import zstd
from hostile import attack
from terminal import run

from hedgerow import Domain, NumberAxis
from hedgerow.errors import HedgerowError
from hedgerow.reading import read

#: so many folders are tried in the fast set, and in the slow one
FEW, MANY = 60, 1_500
METHODS = (
    "a.bits --method stream-count --set every=7",
    "a.csv --method stream-mean --set times=10,10,200",
    "n.txt.gz --method binary-mechanism --set every=50 --domain d.toml --read round=nearest",
)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Small releases of streams, with the data of each."""
    folder = tmp_path_factory.mktemp("streams")
    draw = random.Random(4)
    (folder / "a.bits").write_text("".join(draw.choices("01", k=300)))
    (folder / "a.csv").write_text("value\n" + "".join(f"{draw.choice('01')}\n" for _ in range(300)))
    (folder / "n.txt.gz").write_bytes(gzip.compress("".join(f"{draw.gauss(3, 2)}\n" for _ in range(300)).encode()))
    (folder / "d.toml").write_text("[value]\nnumbers = true\nlow = -2\nhigh = 9\nstep = 0.5\n")
    made = []
    for number, job in enumerate(METHODS):
        ran = run(f"publish {job} --kind streams --epsilon 3 --unit event --out R{number} --even-if-useless", folder)
        assert ran.code == 0, ran.err
        made.append((f"R{number}", job.split()[0]))
    return folder, made


def check_folders(published, numbers):
    folder, made = published
    outcomes = [attack(folder, made, number) for number in numbers]
    assert [(outcome.number, outcome.how, outcome.wrong) for outcome in outcomes if outcome.wrong] == []
    assert {outcome.code for outcome in outcomes} >= {0, 2, 3}
    assert max(outcome.computing for outcome in outcomes) < 20


def test_changed_folders_of_streams_are_refused_or_right(published):
    check_folders(published, range(FEW))


@pytest.mark.slow
def test_many_changed_folders_of_streams(published):
    check_folders(published, range(FEW, MANY))


SEEDS = {
    "bits": b"0110" * 20,
    "txt": b"0\n1\n1\n0\n" * 5,
    "csv": b"time,value\n1,0\n2,1\n3,1\n" + b"4,0\n" * 9,
    "bits.gz": gzip.compress(b"0110" * 20),
    "csv.zst": zstd.compress(b"value\n" + b"1\n0\n" * 9),
}


def broken(content: bytes, draw: random.Random) -> bytes:
    """Change bytes, cut, repeat, splice; now and then leave it as it is."""
    changed = bytearray(content)
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(changed) + 1)
        part = draw.choice(
            [b"\0", b"\n", b'"', b",", b"\xff", b"\r", b"9" * 400, b"SECRET", b"\xef\xbb\xbf", b"1", b""]
        )
        changed[at : at + draw.choice((0, 1, 1, 5, 10**6))] = part
    return bytes(changed)


def check(error):
    """One line, the right code, no cell."""
    assert (error.exit_code, "\n" in str(error), "SECRET" in str(error)) == (2, False, False)


@pytest.mark.parametrize("ending", SEEDS)
@pytest.mark.parametrize(
    "domain", [None, Domain.declare(value=NumberAxis.between(0, 3, "0.25"))], ids=["bits", "numbers"]
)
def test_no_file_of_events_is_too_broken(ending, domain, tmp_path):
    """What can be read is codes of the axis, in whatever parts; what cannot is refused in one line without a cell."""
    draw, path = random.Random(ending), tmp_path / f"f.{ending}"
    outcomes = {"read": 0, "refused": 0}
    for _ in range(250):
        path.write_bytes(broken(SEEDS[ending], draw))
        try:
            data = read(path, kind="streams", domain=domain)
            blocks = list(data.events.blocks(draw.choice((1, 3, 100))))
        except HedgerowError as error:
            outcomes["refused"] += 1
            check(error)
        else:
            outcomes["read"] += 1
            assert all(0 <= code <= data.axis.steps for block in blocks for code in block.tolist())
            assert data.events.count() == sum(map(len, blocks))
    assert min(outcomes.values()) > 20, outcomes
