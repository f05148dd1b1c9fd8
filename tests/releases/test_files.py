"""Files are written under random names, for their owner alone, whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from test_folder import LAYOUT, release

from hedgerow.errors import WriteError
from hedgerow.formats.files import write_file
from hedgerow.formats.locks import make_locked
from hedgerow.releases import atomic_folder as atomic_folder_module
from hedgerow.releases.writer import write_folder


def test_who_is_there_before_us_reads_nothing(tmp_path):
    """Somebody makes the file that an older version would write to, and keeps it open."""
    trap = tmp_path / ".scores.json.part"
    trap.touch(0o666)
    with trap.open("r+b") as spy:
        write_file(tmp_path / "scores.json", b"SECRET", private=True)
        assert spy.read() == b""
    assert (tmp_path / "scores.json").stat().st_mode & 0o777 == 0o600


def test_a_file_is_its_owners_alone_before_the_first_byte(tmp_path, monkeypatch):
    opened, modes = [], []
    right_open, right_write = os.open, os.write

    def watched_open(path, flags, mode=0o777, **more):
        if flags & os.O_CREAT:
            opened.append((Path(path).name, bool(flags & os.O_EXCL), mode))
        return right_open(path, flags, mode, **more)

    def watched_write(file, content):
        modes.append(stat.S_IMODE(os.fstat(file).st_mode))
        return right_write(file, content)

    monkeypatch.setattr(os, "open", watched_open)
    monkeypatch.setattr(os, "write", watched_write)
    for _ in range(2):
        for private in (True, False):
            write_file(tmp_path / "a", b"x", private=private)
    assert len({name for name, _, _ in opened}) == len(opened) == 4  # never the same name
    assert {(exclusive, mode) for _, exclusive, mode in opened} == {(True, 0o600)}
    assert set(modes) == {0o600}


def test_a_short_write_is_gone_on_with(tmp_path, monkeypatch):
    right = os.write
    monkeypatch.setattr(os, "write", lambda file, content: right(file, content[:3]))
    write_file(tmp_path / "a", b"ten bytes.")
    assert (tmp_path / "a").read_bytes() == b"ten bytes."


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path):
    (tmp_path / ".a.abcdefgh.part").write_text("left by a run that was killed")
    others = [".a.txt", ".a.mine.part", ".b.abcdefgh.part", ".a.b.abcdefgh.part"]
    for name in others:
        (tmp_path / name).touch()
    alive, lock = make_locked(tmp_path, ".a.", ".part")
    write_file(tmp_path / "a", b"x")
    os.close(lock)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a", alive.name, *others])
    write_file(tmp_path / "a", b"x")
    assert not alive.exists()


def test_a_new_folder_is_safe_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    events = []
    right_sync, right_rename = os.fsync, os.rename

    def sync(file):
        events.append(os.fstat(file).st_ino)
        right_sync(file)

    def rename(old, new, **more):
        events.append("rename")
        right_rename(old, new, **more)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", rename)
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    before = events[: events.index("rename")]
    assert place.stat().st_ino in before
    assert {path.stat().st_ino for path in place.iterdir()} <= set(before)
    assert events[-1] == tmp_path.stat().st_ino


@pytest.mark.parametrize("error", [OSError(5, ""), KeyboardInterrupt()])
def test_a_replacement_that_fails_half_way_is_taken_back_at_once(tmp_path, monkeypatch, error):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    right, calls = os.rename, []

    def rename(old, new, **more):
        calls.append(new)
        if len(calls) == 2:
            raise error
        right(old, new, **more)

    monkeypatch.setattr(os, "rename", rename)
    monkeypatch.setattr(atomic_folder_module, "swap_folders", lambda *_: False)  # as on other systems
    with pytest.raises((WriteError, KeyboardInterrupt)):
        write_folder(release(threshold=50), place, LAYOUT, overwrite=True)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
