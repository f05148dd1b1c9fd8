"""The command line as a console shows it: transcripts rewritten by `make golden` only."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

import pytest
from project import GOLDEN
from terminal import run

from hedgerow.cli import app
from hedgerow.demo import run_demo
from hedgerow.samples import shopping_baskets

TRANSCRIPTS = GOLDEN / "cli"
PUBLISH = "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --out R"

PERSONS = (
    "publish b.csv --kind sets --method flat-laplace --epsilon 0.5 --unit person "
    "--assert-public-domain --columns unit=basket"
)

VECTOR = "publish DATA.csv --kind matrices --method private-retrieval --epsilon 1 --unit UNIT --domain DATA.toml"

#: what is typed, one transcript each; files are those of `desk`
SESSIONS = {
    "help": ["", "publish --help", "describe --kind trajectories --help", "--version", "sing"],
    "methods": [
        "methods",
        "methods flat-laplace",
        "methods ngram-markov",
        "methods --kind matrices",
        "methods magic",
        "methods noisy-singletons --json",
    ],
    "describe": [
        "describe a.dat --kind sets",
        "describe a.dat --kind sets --draft-domain draft.toml --json",
        "describe a.dat --kind sets --draft-domain draft.toml",
        "describe b.csv --kind sets --columns unit=basket,person=customer",
        "describe a.dat",
    ],
    "publish": [
        PUBLISH,
        f"{PUBLISH} --assert-public-domain --seed 3 --dry-run",
        f"{PUBLISH} --domain d.toml --seed 3",
        f"{PUBLISH} --domain d.toml --seed 3",
        "verify R",
        f"{PUBLISH} --domain d.toml --overwrite --json",
        "verify R",
        "verify R --epsilon 1 --unit record --json",
        "verify R --epsilon 0.1 --unit record",
    ],
    "owner": [
        f"{PUBLISH} --domain d.toml --seed 3 --save-recipe recipe.toml",
        "evaluate R --against a.dat --scores scores.json --seed 1",
        "evaluate R --against a.dat --scores R/scores.json",
        "report R --html public.html",
        "report R --scores scores.json --html owner.html --json",
        "report R --scores scores.json --html R/owner.html",
        "report R R --scores scores.json --html owner.html",
        "publish --recipe recipe.toml --overwrite --json",
    ],
    "attack": [
        "publish n.csv --kind matrices --method svd --set rank=2 --out R --seed 3 --read rows=numbered",
        "evaluate R --against n.csv --scores scores.json --seed 1",
        "attack R --against n.csv --scores scores.json --seed 1 --known 9",
        "attack R --against n.csv --scores R/scores.json",
        "attack R --against n.csv --scores n.csv",
        "attack R --against n.csv --scores other.json --known 60",
        "attack R --against n.csv --scores other.json --known 0",
        "attack R --against none.csv --scores other.json",
        "attack R --against short.csv --scores other.json",
        "attack R --against missing.csv --scores other.json",
        "attack none --against n.csv --scores other.json --json",
        "attack R --against n.csv --kind sets --scores other.json",
        "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --out S --domain d.toml --seed 3",
        "attack S --against a.dat --scores other.json",
        "attack S --against a.dat --scores scores.json",
    ],
    "query": [
        f"{VECTOR.replace('DATA', 'visits').replace('UNIT', 'count')} --out X --seed 1",
        "query --help",
        "query X --mode local --exact asked.csv",
        'query X --where "visits.score = 3"',
        "query X --exact asked.csv",
        "query X --mode local --count record",
        "publish s.jsonl --kind records --schema s.toml --method clustree-packing --l 2 --out R --seed 1",
        'query R --where "course.grade in (A, B)"',
        'query R --where "student.born in [1990, 1992)" --where "course.grade = A" --json',
        'query R --where "course.id = CS" --count course',
        'query R --where "course.id = PHYS"',
        'query R --where "course.grade = Z"',
        'query R --where "course.mark = A"',
        'query R --where "lesson.grade = A"',
        'query R --where "course.grade"',
        'query R --where "course.grade in [A, B)"',
        'query R --where "course.grade in (A, B"',
        'query R --where "course#9.grade = A"',
        "query R --count lesson",
        "query none --count record",
        "verify R",
    ],
    "answer": [
        f"{VECTOR.replace('DATA', 'visits').replace('UNIT', 'count')} --out X --seed 1",
        f"{VECTOR.replace('DATA', 'asked').replace('UNIT', 'cell')} --out Y --seed 2",
        f"{VECTOR.replace('DATA', 'asked').replace('UNIT', 'cell')} --set mode=randomised-response --out Z --seed 2",
        f"{VECTOR.replace('DATA', 'visits').replace('UNIT', 'cell')} --set mode=randomised-response --out W",
        "verify Y",
        "answer --help",
        "answer X --mode local --exact asked.csv",
        "answer X --mode naive --query Y",
        "answer X --mode centred --query Z --exact asked.csv",
        "answer X --mode sparse --query Y --threshold 2",
        "answer X --mode best --query Y",
        "answer X --mode local",
        "answer X --mode local --exact asked.csv --query Y",
        "answer X --mode naive",
        "answer X --mode centred --query Y",
        "answer X --mode sparse --query Y --threshold -1",
        "answer X --mode local --exact n.csv",
        "answer X --mode centred --query Y --exact n.csv",
        "answer X --mode local --exact asked.csv --column age",
        "answer n.csv --mode naive --query Y",
        "publish n.csv --kind matrices --method svd --set rank=2 --out S --seed 3",
        "answer X --mode naive --query S --json",
    ],
    "numbers": [
        f"{VECTOR.replace('DATA', 'score').replace('UNIT', unit)} {more} --out {out}"
        for unit, more, out in (
            ("cell", "", "R"),
            ("count", "--read on_bad=drop", "R"),
            ("cell", "--read on_bad=0.5", "R"),
            ("cell", "--read on_bad=0 --seed 1", "R"),
            ("count", "--read round=nearest --read on_bad=0 --seed 1", "S"),
        )
    ]
    + ["describe --kind matrices --help"],
    "persons": [
        f"{PERSONS},person=customer --records-per-person 2 --out R --seed 1",
        f"{PERSONS},person=customer --records-per-person 2 --out R --seed 1 --even-if-useless",
        f"{PERSONS},person=customer --out S",
        f"{PERSONS} --records-per-person 2 --out S",
    ],
    "account": [
        f"{PUBLISH} --domain d.toml --account account.toml",
        f"{PUBLISH} --domain d.toml --account account.toml --overwrite",
        f"{PUBLISH} --domain d.toml --account none.toml --overwrite",
        "account new.toml --total 2 --unit person",
        "account new.toml --json",
        "account new.toml --total 2 --unit person",
    ],
    "bad-promises": [
        f"{PUBLISH.replace('--epsilon 1', '--epsilon ' + text)} --domain d.toml"
        for text in ("-1", "0", "nan", "inf", "much", "1e-30", "1e99")
    ]
    + [
        "publish a.dat --kind sets --method diffpart --out R --domain d.toml",
        "publish a.dat --kind sets --method diffpart --epsilon 1 --out R --domain d.toml",
        f"{PUBLISH.replace('--unit record', '--unit town')} --domain d.toml",
    ],
    "bad-input": [
        f"{PUBLISH.replace('a.dat', name)} --domain d.toml"
        for name in (
            "unknown.dat",
            "empty.jsonl",
            "binary.dat",
            "cut.dat.gz",
            "none.dat",
            "folder.dat",
        )
    ]
    + [
        f"{PUBLISH.replace('a.dat', 'b.csv')} --domain d.toml",
        f"{PUBLISH} --domain none.toml",
        f"{PUBLISH} --domain d.toml --set threshold=-1",
        f"{PUBLISH} --domain d.toml --set threshold",
        f"{PUBLISH} --domain d.toml --read on_unknown=maybe",
        f"{PUBLISH.replace('a.dat', 'bomb.dat.gz')} --domain d.toml --read most_bytes=100000",
        "publish --kind sets",
        "verify none",
        "verify a.dat",
        "verify a.dat --kind sets --epsilon 1 --unit record",
        "report none --html x.html",
        "evaluate none --against a.dat --scores s.json --json",
    ],
}


@pytest.fixture
def desk(tmp_path):
    import gzip

    (tmp_path / "a.dat").write_text("tea milk\n" * 70 + "bread\n" * 40)
    (tmp_path / "b.csv").write_text("basket,customer,item\n1,x,tea\n1,x,milk\n2,x,tea\n3,y,tea\n")
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["bread", "milk", "tea"]\n')
    rows = (f"{age},{age % 7},{3 * age % 11},{age % 5}" for age in range(20, 60))
    (tmp_path / "n.csv").write_text("\n".join(["age,visits,dose,score", *rows]) + "\n")
    numbers = {"visits": (1000, [167, 182, 143, 135, 151, 109]), "asked": (1, [1, 1, 0, 1, 0, 0])}
    for name, (high, column) in numbers.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([name, *map(str, column)]) + "\n")
        (tmp_path / f"{name}.toml").write_text(f"[{name}]\nnumbers = true\nlow = 0\nhigh = {high}\nstep = 1\n")
    (tmp_path / "score.csv").write_text("score\n3\n2.5\n\nn/a\n99\n")
    (tmp_path / "score.toml").write_text("[score]\nnumbers = true\nlow = 0\nhigh = 9\nstep = 1\n")
    (tmp_path / "short.csv").write_text("age,visits,dose,score\n1,2,3,4\n")
    (tmp_path / "missing.csv").write_text("age,visits,dose,score\n1,,3,4\n")
    people = [(1990 + n % 2, ["CS1", "CS2", "MA1"][n % 3], "ABC"[n % 3]) for n in range(12)]
    records = (
        f'{{"born": {born}, "courses": [{{"id": "{course}", "grade": "{mark}"}}]}}' for born, course, mark in people
    )
    (tmp_path / "s.jsonl").write_text("\n".join(records) + "\n")
    (tmp_path / "s.toml").write_text(
        '[types.student]\npath = ""\n[types.student.fields]\nborn = { low = 1990, high = 1999, widths = [5] }\n'
        '[types.course]\npath = "courses[]"\n[types.course.fields]\ngrade = "sensitive"\n'
        'id = { values = ["CS1", "CS2", "MA1"], prefix = [2] }\n'
    )
    (tmp_path / "account.toml").write_text('total = "1"\nunit = "record"\n')
    (tmp_path / "unknown.dat").write_text("tea\nSECRET tea\n")
    (tmp_path / "empty.jsonl").write_text('["tea"]\n[]\n["tea"]\n')
    (tmp_path / "binary.dat").write_bytes(bytes(range(256)))
    (tmp_path / "cut.dat.gz").write_bytes(gzip.compress(b"tea\n" * 999)[:-9])
    (tmp_path / "bomb.dat.gz").write_bytes(gzip.compress(b"tea\n" * 999_999))
    (tmp_path / "folder.dat").mkdir()
    return tmp_path


def transcript(lines, folder):
    parts = []
    for line in lines:
        code, out, err = run(line, folder)
        assert "SECRET" not in out + err
        assert "Traceback" not in err
        assert code == 0 or len(err.splitlines()) == 1 or not err
        ends = f"[exit {code}]\n" if code else ""
        parts.append(f"$ hedgerow {line}\n{out}{err}{ends}")
    return re.sub(r'"seconds": [0-9.]+|\([0-9.]+ s\)', "TIME", "\n".join(parts))


@pytest.mark.parametrize("name", SESSIONS)
def test_the_console_shows(name, desk, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = transcript(SESSIONS[name], desk)
    path = TRANSCRIPTS / f"{name}.txt"
    if os.environ.get("HEDGEROW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text, "look at the change; make golden accepts it"


@pytest.mark.parametrize("line", SESSIONS["bad-promises"] + SESSIONS["bad-input"])
def test_a_refusal_leaves_no_folder(line, desk):
    before = sorted(path.name for path in desk.iterdir())
    code, out, err = run(line, desk)
    assert code in {2, 3}
    assert err.startswith("hedgerow: ")
    assert "a bug in Hedgerow" not in err
    assert not out or "--json" in line
    assert sorted(path.name for path in desk.iterdir()) == before


def test_the_demo_ends_with_what_to_do_next(tmp_path, monkeypatch):
    monkeypatch.setitem(run_demo.__kwdefaults__, "baskets", 20_000)
    code, out, err = run("demo --out D", tmp_path)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[-3:]] == ["open", "read", "hedgerow"]
    names = {path.name for path in (tmp_path / "D").iterdir()}
    assert names >= {"baskets.csv.gz", "domain.toml", "recipe.toml", "scores.json", "report.html"}
    assert names >= {"messages.edges.gz", "desks.toml"}
    assert run("verify D/release", tmp_path).code == 0
    again = run("publish --recipe D/recipe.toml --out D/again --json", tmp_path)
    assert json.loads(again.out)["published"]
    monkeypatch.setitem(run_demo.__kwdefaults__, "baskets", 5_000)
    assert run("demo --out D --json", tmp_path).code == 0  # it may be run again, here with fewer baskets


def test_built_in_data_is_the_same_every_time():
    assert shopping_baskets(50) == shopping_baskets(50)
    assert shopping_baskets(50) != shopping_baskets(50, seed=1)


def test_a_bug_of_ours_is_one_line_without_values(desk, monkeypatch):
    def broken(*_, **__):
        held = "SECRET"
        raise ZeroDivisionError(held)

    monkeypatch.setattr("hedgerow.jobs.publish.plan_job", broken)
    code, out, err = run(f"{PUBLISH} --domain d.toml --json", desk)
    assert code == 70
    assert re.search(r"a bug in Hedgerow \(ZeroDivisionError at publish.py:\d+, version .*please report", err)
    assert json.loads(out)["error"]["exit_code"] == 70
    assert "SECRET" not in out + err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt, 130, "interrupted; nothing was published"),
        (MemoryError, 4, "there is not enough memory"),
        (OSError(28, "x"), 4, "the system reported an error: no space left on device"),
    ],
)
def test_other_ways_out(desk, monkeypatch, error, code, message):
    def stop(*_, **__):
        raise error

    monkeypatch.setattr("hedgerow.jobs.publish.plan_job", stop)
    ran = run(f"{PUBLISH} --domain d.toml", desk)
    assert ran.code == code
    assert ran.err.strip() == f"hedgerow: {message}" + (" for this data" if code == 4 and "memory" in message else "")


@pytest.mark.parametrize("words", [[], ["describe"], ["publish"], ["verify"]], ids=" ".join)
def test_help_imports_nothing_heavy(words):
    code = (
        f"import sys; sys.argv = ['hedgerow', *{words}, '--help']\n"
        "from hedgerow.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: print([m for m in ('numpy', 'polars', 'msgspec', 'rich', 'jinja2')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_has_help_and_json(desk):
    for name in app.COMMANDS:
        code, out, _ = run(f"{name} --help", desk)
        assert code == 0
        assert "--json" in out


def test_a_closed_pipe_is_no_error(desk):
    command = f"{sys.executable} -m hedgerow methods | true"
    start = time.monotonic()
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=desk)
    assert "Traceback" not in done.stderr
    assert time.monotonic() - start < 60


def test_a_terminal_sees_progress_and_a_pipe_does_not(desk):
    import pty

    main, other = pty.openpty()
    command = [sys.executable, "-m", "hedgerow", *PUBLISH.split(), "--domain", "d.toml"]
    done = subprocess.run(command, stderr=other, stdout=subprocess.PIPE, check=True, cwd=desk)
    os.close(other)
    seen = os.read(main, 100_000).decode(errors="replace")
    os.close(main)
    assert "reading" in seen or "publishing" in seen or "starting" in seen
    assert b"Published in R" in done.stdout
    quiet = subprocess.run([*command, "--overwrite"], capture_output=True, check=True, cwd=desk)
    assert quiet.stderr == b""
