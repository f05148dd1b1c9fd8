"""A data file holds its data and nothing else: bytes that a reader passes over are noticed, whatever hashes say."""

from __future__ import annotations

import io
import json
import shutil
import struct
import zipfile
import zlib

import polars as pl
import pytest
from folders import seal
from record_files import write_students
from terminal import run

from hedgerow.audit import verification as data_files
from hedgerow.formats import parquet_pages
from hedgerow.formats.files import zstd
from hedgerow.formats.parquet import read_table, write_table
from hedgerow.formats.parquet_pages import describe_foreign
from hedgerow.releases import reader as release_reader
from hedgerow.testing.mutants import changed

NAMES = b"unit 1 is Alice Smith, unit 2 is Bob Jones"
RIDES = "unit,place,time\n" + "".join(f"{unit},{place},{time}\n" for unit in range(9) for place, time in ("a8", "b9"))
SETS = "publish a.csv --kind sets --method noisy-singletons --epsilon 1 --unit record --domain d.toml --even-if-useless"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One release of each packing."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "rides.csv").write_text(RIDES)
    pl.read_csv(folder / "rides.csv").write_parquet(folder / "rides.parquet")
    (folder / "x.csv").write_text("unit,item\n" + "".join(f"{unit},tea\n" for unit in range(300)))
    (folder / "d.toml").write_text('[item]\nvalues = ["milk", "tea"]\n')
    for ending in ("csv.gz", "csv.zst"):
        (folder / f"a.{ending}").write_bytes(_compressed((folder / "x.csv").read_bytes(), ending))
        assert run(f"{SETS.replace('a.csv', f'a.{ending}')} --out {ending}", folder).code == 0
    rides = "--kind trajectories --method kcl-reinsertion --k 2 --l 2"
    assert run(f"publish rides.parquet {rides} --out parquet", folder).code == 0
    source = write_students(folder, "csv")
    nested = f"--kind records --method clustree --k 2 --schema {folder / 'schema.toml'}"
    assert run(f"publish {source} {nested} --out zip", folder).code == 0
    return folder


def _compressed(content: bytes, ending: str) -> bytes:
    return zstd.compress(content) if ending.endswith("zst") else zlib.compress(content, wbits=31)


def _gzip(level: int, pieces: int = 1):
    """Compress the content again: at another level, or with empty blocks between its pieces."""

    def repack(packed: bytes) -> bytes:
        content = zlib.decompress(packed, 31)
        packer = zlib.compressobj(level, zlib.DEFLATED, -15)
        step = -(-len(content) // pieces)
        parts = [
            packer.compress(content[at : at + step]) + packer.flush(zlib.Z_FULL_FLUSH)
            for at in range(0, len(content), step)
        ]
        ends = packer.flush() + struct.pack("<II", zlib.crc32(content), len(content))
        return packed[:10] + b"".join(parts) + ends

    return repack


def _table(**options):
    """Write the table again, with other options of the library."""

    def repack(content: bytes) -> bytes:
        written = io.BytesIO()
        options.setdefault("statistics", False)
        read_table(content).write_parquet(written, compression="zstd", **options)
        return written.getvalue()

    return repack


def _before_footer(content: bytes) -> bytes:
    at = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:at] + NAMES + content[at:]


def _in_footer(added: bytes, *, within: bool):
    """Add bytes to the footer: after its structure, or as its last field."""

    def change(content: bytes) -> bytes:
        length = int.from_bytes(content[-8:-4], "little")
        footer = content[-8 - length : -8]
        footer = footer[:-1] + added + b"\0" if within else footer + added
        return content[: -8 - length] + footer + struct.pack("<I", len(footer)) + b"PAR1"

    return change


def _named_by(content: bytes) -> bytes:
    """Let the file name another maker, of the same length."""
    start = content.index(b"Polars (python) version")
    return content[:start] + NAMES[: len(b"Polars (python)")] + content[start + len(b"Polars (python)") :]


def _archive(level: int = 6, comment: bytes = b"", extra: bytes = b""):
    def repack(packed: bytes) -> bytes:
        written = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(written, "w") as new:
            new.comment = comment
            for member in old.infolist():
                info = zipfile.ZipInfo(member.filename, member.date_time)
                info.extra = extra
                new.writestr(info, old.read(member), zipfile.ZIP_DEFLATED, level)
        return written.getvalue()

    return repack


#: by name: the folder, the change, and what is said of it: NO, or ? where another build or version may have written it
FOREIGN = {
    "gzip: free blocks": ("csv.gz", _gzip(6, 40), "?"),
    "gzip: another level": ("csv.gz", _gzip(1), "?"),
    "gzip: a name": ("csv.gz", lambda old: old[:3] + b"\x08" + old[4:10] + b"Alice\0" + old[10:], "NO"),
    "gzip: a time": ("csv.gz", lambda old: old[:4] + b"Anna" + old[8:], "NO"),
    "gzip: a system": ("csv.gz", lambda old: old[:9] + b"A" + old[10:], "NO"),
    "gzip: more after it": ("csv.gz", lambda old: old + _compressed(b"", "gz"), "NO"),
    "zstd: a frame of its own": ("csv.zst", lambda old: b"\x50\x2a\x4d\x18\x2a\0\0\0" + NAMES + old, "NO"),
    "zstd: another level": ("csv.zst", lambda old: zstd.compress(zstd.decompress(old), 1), "NO"),
    "Parquet: metadata": ("parquet", _table(metadata={"key": NAMES.decode()}), "NO"),
    "Parquet: before the footer": ("parquet", _before_footer, "NO"),
    "Parquet: after the footer": ("parquet", _in_footer(NAMES, within=False), "NO"),
    "Parquet: a field twice": ("parquet", _in_footer(b"\x08\x0c\x2a" + NAMES, within=True), "NO"),
    "Parquet: an unknown field": ("parquet", _in_footer(b"\x58\x2a" + NAMES, within=True), "NO"),
    "Parquet: another maker": ("parquet", _named_by, "NO"),
    "Parquet: extremes": ("parquet", _table(statistics=True), "NO"),
    "Parquet: more groups of rows": ("parquet", _table(row_group_size=3), "NO"),
    "zip: a comment": ("zip", _archive(comment=NAMES), "NO"),
    "zip: an extra field": ("zip", _archive(extra=struct.pack("<HH", 0x4141, len(NAMES)) + NAMES), "NO"),
    "zip: a gap": ("zip", lambda old: NAMES + old, "NO"),
    "zip: another level": ("zip", _archive(level=0), "?"),
}
#: where a file says that another version of a library wrote it, these changes cannot be told from that version
UNTOLD = {name for name in FOREIGN if name.endswith(("another level", "free blocks", "groups of rows"))}


def check_foreign(desk, place) -> None:
    """Plant each; whether or not the release says that another version of the libraries wrote the file."""
    for name, (folder, change, mark) in FOREIGN.items():
        for version in (None, "0.1"):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(desk / folder, place)
            [file] = place.glob("data.*")
            before = file.read_bytes()
            file.write_bytes(change(before))
            assert file.read_bytes() != before
            seal(place, **_said_by(place, version))
            ran = run(["verify", str(place)], desk)
            expected = "?" if version and name in UNTOLD else mark
            result = "cannot be checked" if expected == "?" else "NOT satisfied"
            assert (ran.code, ran.out.splitlines()[-1]) == (3, result), (name, version, ran.out)


def _said_by(place, version: str | None):
    files = json.loads((place / "release.json").read_text())["files"]
    for file in files:
        file["written_by"] = {library: version or own for library, own in file["written_by"].items()}
    return {"files": files}


def test_foreign_bytes_are_noticed(desk, tmp_path):
    for folder in ("csv.gz", "csv.zst", "parquet", "zip"):
        ran = run(f"verify {folder}", desk)
        assert (ran.code, ran.out.splitlines()[-1]) == (0, "satisfied"), ran.out
        assert "yes  the files hold nothing but the data" in ran.out
    check_foreign(desk, tmp_path / "R")


MUTANTS = {
    "no file is packed again": (data_files, "_compare", "packed.digest.hexdigest() == file.sha256", "True"),
    "any packing of the content": (data_files, "_judge", "alone=None, why=why", "alone=True, why=''"),
    "any head of a compressed file": (data_files, "_compare", "not is_plainly_compressed(path)", "False"),
    "any build of a library": (data_files, "_judge", "_BUILT_DIFFERENTLY in here", "here"),
    "anything in a table or archive": (data_files, "_compare", "not same or foreign", "not same"),
    "gaps in a Parquet file": (data_files, "describe_foreign", "end != start for", "end > start for"),
    "texts in a Parquet file": (parquet_pages, "_texts", "isinstance(value, bytes)", "False"),
    "any maker of a Parquet file": (data_files, "describe_foreign", "_POLARS.fullmatch(maker)", "True"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_check_that_looks_less_closely_is_caught(desk, tmp_path, name):
    with changed(*MUTANTS[name]), pytest.raises(AssertionError):
        check_foreign(desk, tmp_path / "R")


def test_a_version_is_a_number_and_each_library_is_named(desk, tmp_path):
    place = tmp_path / "R"
    shutil.copytree(desk / "csv.gz", place)

    def verify(**written_by: str) -> str:
        files = json.loads((place / "release.json").read_text())["files"]
        files[0]["written_by"] = written_by
        seal(place, files=files)
        return run(["verify", str(place)], desk).out.splitlines()[-1]

    # the bytes are those that are written here, too
    assert verify(zlib="1.9.9, level 6") == "satisfied"
    wrong = [
        {"zlib": "1.2 Alice Smith"},
        {"zlib": "1.2", "alice": "1"},
        {},
        {"zlib": ""},
        {"zlib": "0171.5550.1234"},
        {"zlib": "1.3, level 99"},
    ]
    assert {verify(**each) for each in wrong} == {"NOT satisfied"}
    with changed(release_reader, "_names_libraries", "all(map(is_library_version, file.written_by.values()))", "True"):
        assert verify(zlib="1.2 Alice Smith") == "satisfied"


def test_how_a_table_lies_in_memory_does_not_change_its_file():
    table = pl.DataFrame({"a": range(1000), "b": ["x", "y"] * 500})
    pieces = pl.concat([table[:10], table[10:700], table[700:]], rechunk=False)
    assert pieces.n_chunks() == 3
    assert write_table(pieces) == write_table(table)
    for each in (table, table[:0], table.select("b")):
        written = write_table(each)
        assert describe_foreign(written, written) == ""


def _in_file_entry(place) -> None:
    files = json.loads((place / "release.json").read_text())["files"]
    seal(place, files=[{**files[0], "alice": "x"}])


def _twice(place) -> None:
    text = (place / "release.json").read_text()
    (place / "release.json").write_text(text.replace('"schema": 4,', '"schema": 4,\n  "kind": "Alice",', 1))


def _beside(name: str, text: str = "Alice", *, sealed: bool = True):
    def change(place) -> None:
        before = (place / name).read_text() if (place / name).exists() else ""
        (place / name).write_text(before + text)
        if sealed:
            seal(place)

    return change


#: by name: what is changed in a folder of plain text, with every hash renewed
PLANTS = {
    "a field": lambda place: seal(place, alice="x"),
    "a field of a file": _in_file_entry,
    "a field twice": _twice,
    "a note": lambda place: seal(place, notes={"Alice": 1}),
    "a line break": _beside("release.json", "\n", sealed=False),
    "a statement": _beside("STATEMENT.md"),
    "a comment": _beside("data.dat", "# Alice\n"),
    "an empty line": _beside("data.dat", "\n"),
    "a hidden file": _beside(".alice"),
    "a folder": lambda place: (place / "alice").mkdir(),
}


def test_what_stands_beside_the_data_of_a_folder_is_noticed(desk, tmp_path):
    (desk / "p.dat").write_text("tea\n" * 300)
    assert run(f"{SETS.replace('a.csv', 'p.dat')} --out plain", desk).code == 0
    for name, change in PLANTS.items():
        shutil.rmtree(tmp_path / "R", ignore_errors=True)
        shutil.copytree(desk / "plain", tmp_path / "R")
        change(tmp_path / "R")
        ran = run(["verify", str(tmp_path / "R")], desk)
        assert (ran.code, ran.out.splitlines()[-1]) == (3, "NOT satisfied"), name
