"""A file may name only files beside it: whoever wrote it must not publish what else the machine has."""

from __future__ import annotations

import os

import pytest
from record_files import JOINED, write_students
from terminal import run

from hedgerow.errors import EngineError, InputError
from hedgerow.formats import domains, referenced_files
from hedgerow.formats.referenced_files import read_named
from hedgerow.testing.mutants import changed

SETS = "publish a.dat --kind sets --method noisy-singletons --epsilon 1 --unit record --domain desk/d.toml --out R"
RIDES = "publish a.csv --kind trajectories --method kcl-reinsertion --k 2 --l 2 --domain desk/d.toml --out R"
NESTED = "publish desk/a.csv --kind records --method clustree --k 2 --schema desk/schema.toml --out R"
LOOKUP = 'lookup = {{ table = "{}", key = "course" }}\n[types.course.fields]'
STOPS = "stop_id,stop_lat,stop_lon\nSECRET,1,1\nother,1,2\n"
#: what names a file: the command, and the file that names
NAMING = {
    "values": (SETS + " --even-if-useless", "d.toml", '[item]\nfile = "{}"\n'),
    "stops": (RIDES, "d.toml", '[place]\ngtfs = "{}"\n[time]\nlow = 1\nhigh = 2\n'),
    "hierarchy": (NESTED, "schema.toml", JOINED.replace("{", "{{").replace("}", "}}").replace("yob.csv", "{}")),
    "table": (NESTED, "schema.toml", JOINED.replace("{", "{{").replace("}", "}}").replace("courses.csv", "{}")),
    "lookup": (
        NESTED,
        "schema.toml",
        JOINED.replace("{", "{{").replace("}", "}}").replace("[types.course.fields]", LOOKUP),
    ),
}
#: by what is wrong: the name, and the message
OUTSIDE = {
    "above": ("../secret.txt", "it must be in the same folder, or in one below"),
    "absolute": ("{tmp}/secret.txt", "it must be in the same folder, or in one below"),
    "down and up": ("below/../../secret.txt", "it must be in the same folder, or in one below"),
    "nothing": (".", "it must be in the same folder, or in one below"),
    "a zero": ("a\\u0000b", "it must be in the same folder, or in one below"),
    "a link": ("link.txt", "is a link, or in a folder that is one"),
    "a link of a folder": ("linked/secret.txt", "is a link, or in a folder that is one"),
    "a pipe": ("pipe.txt", "is not a regular file"),
    "a folder": ("below", "is a folder; name a file in it"),
    "no file": ("nowhere.txt", "there is no file"),
    "below a file": ("secret.csv/x", "there is no file"),
}


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "desk"
    (folder / "below").mkdir(parents=True)
    write_students(folder, "csv")
    (tmp_path / "a.dat").write_text("SECRET\n" * 9)
    (tmp_path / "a.csv").write_text("unit,place,time\n1,SECRET,1\n2,SECRET,1\n")
    (tmp_path / "secret.txt").write_text("SECRET\nother\n")
    (folder / "secret.csv").write_text("SECRET\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.txt")
    return folder


def check_outside(desk, names=NAMING) -> None:
    for line, file, text in (NAMING[name] for name in names):
        for name, message in OUTSIDE.values():
            (desk / file).write_text(text.format(name.format(tmp=desk.parent)))
            ran = run(line, desk.parent)
            assert (ran.code, message in ran.err, ran.err.count("\n")) == (2, True, 1), (name, ran.err)
            assert not (desk.parent / "R").exists()


def test_what_is_outside_the_folder_is_not_read(desk):
    check_outside(desk)


MUTANTS = {
    "names of folders above": (domains, "read_named", '".." in parts', "False"),
    "names from the root": (domains, "read_named", 'parts[0].startswith("/")', "False"),
    "links": (referenced_files, "_require_plain", "stat.S_ISLNK(mode)", "False"),
    "what is no file": (referenced_files, "_require_plain", "not kind", "False"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_reader_that_looks_less_closely_is_caught(desk, name):
    with changed(*MUTANTS[name]), pytest.raises(AssertionError):
        check_outside(desk, ["values"])


def test_what_is_in_the_folder_or_below_is_read(desk):
    (desk / "below" / "items.txt").write_text("tea\nmilk\n")
    (desk / "d.toml").write_text('[item]\nfile = "below/./items.txt"\n')
    (desk.parent / "a.dat").write_text("tea\n" * 90)
    linked = desk.parent / "linked"
    linked.symlink_to(desk)  # the folder itself is named by whoever runs the command
    assert run(SETS.replace("desk/", "linked/") + " --even-if-useless", desk.parent).code == 0


def test_a_file_that_is_exchanged_for_a_link_just_then_is_not_read(desk, monkeypatch):
    look = referenced_files._require_plain
    (desk / "items.txt").write_text("tea\n")

    def exchange(mode: int, path, kind: int) -> None:
        look(mode, path, kind)
        (desk / "items.txt").unlink()
        (desk / "items.txt").symlink_to(desk.parent / "secret.txt")

    monkeypatch.setattr(referenced_files, "_require_plain", exchange)
    with pytest.raises((InputError, EngineError)):
        read_named(desk, "items.txt", "d.toml")
    with changed(referenced_files, "_step", "os.O_NOFOLLOW | ", ""):
        (desk / "items.txt").unlink()
        (desk / "items.txt").write_text("tea\n")
        assert read_named(desk, "items.txt", "d.toml")[1] == b"SECRET\nother\n"
