"""Reading and writing sets: every format gives the same data, and bad input one clear line."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Domain
from hedgerow.errors import EngineError, HedgerowError, ParameterError, ReadError
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import compress, ending_of, write_file
from hedgerow.formats.list_codec import FORMATS
from hedgerow.formats.long_table import number_groups, number_values
from hedgerow.reading import read
from hedgerow.testing import sets_of

RECORDS = [["tea", "milk"], ["bread"], ["milk", "tea"], ["bread", "milk", "tea"]]
EXPECTED = [(("bread",), 1), (("milk", "tea"), 2), (("bread", "milk", "tea"), 1)]
LONG = pl.DataFrame(
    {
        "unit": [number for number, record in enumerate(RECORDS) for _ in record],
        "item": [item for record in RECORDS for item in record],
    }
)


def files() -> dict[str, bytes]:
    parquet, lists = io.BytesIO(), io.BytesIO()
    LONG.write_parquet(parquet)
    pl.DataFrame({"item": RECORDS}).write_parquet(lists)
    return {
        "a.dat": b"tea milk\nbread\nmilk tea tea\nbread  milk\ttea\n",
        "b.txt": b"# head\n\ntea milk\r\n  % note\nbread\r\nmilk tea\nbread milk tea\n\n",
        "c.csv": LONG.write_csv().encode(),
        "d.jsonl": b'["tea","milk"]\n["bread"]\n\n["milk","tea"]\n{"item":["bread","milk","tea"]}',
        "e.parquet": parquet.getvalue(),
        "f.parquet": lists.getvalue(),
    }


@pytest.mark.parametrize("compression", ["", "gz", "zst"])
@pytest.mark.parametrize("name", files())
def test_every_format_gives_the_same_sets(tmp_path, name, compression):
    path = tmp_path / (f"{name}.{compression}" if compression else name)
    path.write_bytes(compress(files()[name], compression))
    assert read(path, kind="sets").itemsets() == EXPECTED


@pytest.mark.parametrize(
    "table",
    [
        LONG,
        LONG.lazy(),
        LONG.to_arrow(),
        LONG.to_pandas(),
        LONG.with_columns(pl.col("item").cast(pl.Categorical)),
        RECORDS,
        pl.DataFrame({"item": RECORDS}),
    ],
    ids=["polars", "lazy", "arrow", "pandas", "categorical", "lists", "list column"],
)
def test_tables_in_memory_are_read_as_well(table):
    assert read(table, kind="sets").itemsets() == EXPECTED


def test_columns_are_named_by_role():
    table = LONG.rename({"unit": "basket", "item": "product"}).with_columns(other=pl.lit("x"))
    columns = {"unit": "basket", "item": "product"}
    assert read(table, kind="sets", columns=columns).itemsets() == EXPECTED


def test_owners_are_read_where_they_are(tmp_path):
    table = LONG.with_columns(person=pl.Series([5, 5, 6, 5, 5, 5, 5, 5]))
    data = read(table, kind="sets", records_per_person=2)
    assert data.count_units("person") == 2
    assert data.domain.records_per_person == 2
    assert len(data.bounded("person")) == 3
    path = tmp_path / "a.jsonl"
    path.write_text('{"item":["x"],"person":"p"}\n{"item":["y"],"person":"q"}\n')
    columns = {"person": "person"}
    assert read(path, kind="sets", columns=columns).count_units("person") == 2
    with pytest.raises(ReadError, match="has no column 'owner'"):
        read(LONG, kind="sets", columns={"person": "owner"})
    with pytest.raises(ReadError, match="the table:1: the record on this line has two owners"):
        read(LONG.with_columns(person=pl.Series(range(8))), kind="sets")


def test_numbers_stay_numbers_unless_written_as_names(tmp_path):
    path = tmp_path / "a.dat"
    for text, values in (
        ("10 9\n2\n", (2, 9, 10)),
        ("10 09\n2\n", ("09", "10", "2")),
        ("1 x\n", ("1", "x")),
        (f"1 {10**20}\n", ("1", str(10**20))),
        ("-1 2\n", (-1, 2)),
    ):
        path.write_text(text)
        assert read(path, kind="sets").domain.values("item") == values


def test_a_declared_domain_is_met_by_what_is_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("unit,item\n1,2\n1,3\n")
    data = read(path, kind="sets", domain=Domain.declare(item=range(5)))
    assert data.itemsets() == [((2, 3), 1)]


def test_lines_before_the_first_record_are_skipped_where_that_is_declared(tmp_path):
    path = tmp_path / "a.seq"
    path.write_text("% Different categories found in input file:\n\nfront news\n\n\n% Sequences:\n\n1 1 \n2 \n")
    data = read(path, kind="sets", options={"skip_lines": "7"})
    assert data.itemsets() == [((1,), 1), ((2,), 1)]
    path = tmp_path / "a.csv"
    path.write_text("made in 2024\n\nunit,item\n1,a\n")
    data = read(path, kind="sets", options={"skip_lines": "2"})
    assert data.itemsets() == [(("a",), 1)]


word = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@given(st.lists(st.sets(word, min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_what_is_written_comes_back(records, data):
    codec = codec_of("sets")
    name = data.draw(st.sampled_from(list(codec.formats)))
    original = read([sorted(record) for record in records], kind="sets")
    try:
        content = codec.write(original.canonical(), name, {role: role for role in codec.written})
    except HedgerowError as error:
        assert name not in {"csv", "jsonl", "parquet"}  # these write any value
        assert "CSV" in str(error)  # noqa: PT017 - a refusal says where to go
        return
    again = codec.formats[name].read("there", content, codec.request({}, {}), 10**9)
    back = codec.make(again, original.domain, original.domain.source, {})
    assert back.itemsets() == original.itemsets()


def test_equal_content_gives_equal_bytes():
    assert compress(b"abc", "gz") == compress(b"abc", "gz")
    assert compress(b"abc", "gz")[4:8] == bytes(4)  # no time
    assert compress(b"abc", "gz")[3] == 0  # no name


@pytest.mark.parametrize("kind", [pl.Int64, pl.String])
@given(held=st.lists(st.sampled_from([3, -7, 10**12, 0, 5]), max_size=12))
def test_values_are_numbered_as_they_first_occur(kind, held):
    codes, values = number_values(pl.Series(held, dtype=pl.Int64).cast(kind))
    assert [int(values[code]) for code in codes] == held
    assert [int(value) for value in values] == list(dict.fromkeys(held))
    assert np.array_equal(number_groups(pl.Series(held, dtype=pl.Int64).cast(kind)), codes)
    ordered = sorted(held)
    seen = list(dict.fromkeys(ordered))
    column = pl.Series(ordered, dtype=pl.Int64)
    assert number_groups(column).tolist() == [seen.index(value) for value in ordered]


BAD = {
    "unknown item": (
        "a.dat",
        b"a b\na z\n",
        ReadError,
        r"a\.dat:2: an item is not in the domain; decl",
    ),
    "empty array": ("a.jsonl", b'["a"]\n[]\n', ReadError, r":2: the record has no items"),
    "binary": ("a.dat", b"a\0b\n", ReadError, r"a\.dat:1: a zero byte, so this is not a text file; give"),
    "not UTF-8": ("a.dat", b"a\nb\xff\n", ReadError, r":2: not UTF-8 text; convert"),
    "cut gzip": ("a.dat.gz", gzip.compress(b"a b\n" * 999)[:-20], ReadError, "cut off or damaged"),
    "no gzip": ("a.dat.gz", b"a b\n", ReadError, "cut off or damaged"),
    "cut zstd": ("a.dat.zst", zstd.compress(b"a b\n" * 99)[:-3], ReadError, "cut off or damaged"),
    "missing column": ("a.csv", b"unit,x\n1,a\n", ReadError, "has no column 'item'; name the column"),
    "missing unit": (
        "a.csv",
        b"u,item\n1,a\n",
        ReadError,
        "has no column 'unit'; .*--columns unit=NAME",
    ),
    "empty cell": ("a.csv", b"unit,item\n1,a\n2,\n", ReadError, ":3: column 'item' is empty; fill"),
    "crooked": (
        "a.csv",
        b"unit,item\n1,a\n2,b,SECRET\n",
        ReadError,
        ":3: the line has more or fewer cells than the header",
    ),
    "no table": ("a.csv", b"", ReadError, "is empty, or its first line does not name the columns"),
    "no JSON": ("a.jsonl", b'["a"]\n["SECRET\n', ReadError, ":2: not a JSON array of texts or"),
    "floats": ("a.jsonl", b"[1.5]\n", ReadError, ":1: not a JSON array"),
    "object without items": ("a.jsonl", b'{"SECRET":["a"]}\n', ReadError, ":1: not a JSON array"),
    "no Parquet": (
        "a.parquet",
        b"PAR1SECRETPAR1",
        ReadError,
        "is not a Parquet file, or it is damaged",
    ),
    "empty gzip": ("a.dat.gz", b"", ReadError, "cut off or damaged"),
    "twice": ("a.csv", b"unit,item,item\n1,a,b\n", ReadError, "has two columns 'item'"),
    "quoted newline": (
        "a.csv",
        b'unit,item\n"1\n1",a\n2,SECRET\n',
        ReadError,
        ":2: a quote is not closed on its line",
    ),
    "no records": ("a.dat", b"# nothing\n", ReadError, "there are no records"),
    "ending": (
        "a.xyz",
        b"a\n",
        ParameterError,
        r"the ending \.xyz does not tell the format of sets; give one with --format: lines",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_that_shows_no_cell(tmp_path, case):
    name, content, error, message = BAD[case]
    (tmp_path / name).write_bytes(content)
    domain = None if case == "no records" else Domain.declare(item=["a", "b"])
    with pytest.raises(error, match=message) as caught:
        read(tmp_path / name, kind="sets", domain=domain)
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_small_file_that_grows_without_end_is_refused(tmp_path):
    for name in ("a.dat.gz", "a.dat.zst"):
        (tmp_path / name).write_bytes(compress(bytes(50_000_000), name.rsplit(".", 1)[1]))
        assert (tmp_path / name).stat().st_size < 100_000
        with pytest.raises(ReadError, match=r"holds more than .* bytes when decompressed"):
            read(tmp_path / name, kind="sets", options={"most_bytes": "1000000"})


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(ReadError, match="there is no file"):
        read(tmp_path / "a.dat", kind="sets")
    (tmp_path / "d.dat").mkdir()
    with pytest.raises(ReadError, match=r"d\.dat is a folder; name a file in it"):
        read(tmp_path / "d.dat", kind="sets")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "sots"}, "there is no kind 'sots' of data; there are: sets"),
        (
            {"format": "xml"},
            f"sets have no format 'xml'; choose one of: {', '.join(FORMATS)}",
        ),
        ({"columns": {"who": "x"}}, "there is no column role 'who'; choose one of: unit, item, person"),
        ({"options": {"x": "y"}}, "there is no reading option 'x'; choose one of: on_unknown"),
        ({"options": {"on_empty": "y"}}, "on_empty must be error or drop; got 'y'"),
        ({"options": {"most_bytes": "many"}}, "most_bytes must be a whole number of bytes"),
    ],
)
def test_what_is_typed_wrongly_is_said(tmp_path, given, message):
    (tmp_path / "a.dat").write_text("a\n")
    with pytest.raises(ParameterError, match=message):
        read(tmp_path / "a.dat", **{"kind": "sets", **given})


def test_unknown_and_empty_can_be_dropped(tmp_path):
    (tmp_path / "a.dat").write_text("a z\n\nz\nb\n")
    options = {"on_unknown": "drop", "on_empty": "drop"}
    domain = Domain.declare(item=["a", "b"])
    held = read(tmp_path / "a.dat", kind="sets", domain=domain, options=options)
    assert held.itemsets() == [(("a",), 1), (("b",), 1)]


@pytest.mark.parametrize("held", [{1: 2}, [[1.5]], [1], object(), [[None]], [[b"x"]]])
def test_what_is_no_data_is_refused(held):
    with pytest.raises(ReadError):
        read(held, kind="sets")


def test_tables_of_pandas_show_no_cell():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame
    for table, message in (
        (
            frame({"unit": [1, 2], "item": [7, object()]}),
            ":2: column 'item' must hold text or whole",
        ),
        (
            frame({"unit": [1, 2], "item": pandas.array(["a", None], "string")}),
            ":2: column 'item' is",
        ),
        (frame({"unit": [1, 2], "item": pandas.array([1, None], "Int64")}), ":2: column 'item' is"),
        (frame([[1, "a", "b"]], columns=["unit", "item", "item"]), "two columns 'item'"),
        (pandas.Series(["a"]), "read takes a path, a table or a list"),
    ):
        with pytest.raises(ReadError, match=message) as caught:
            read(table, kind="sets")
        assert "SECRET" not in str(caught.value)


def test_other_tables(tmp_path):
    array = pl.DataFrame({"item": pl.Series([["a", "b"]], dtype=pl.Array(pl.String, 2))})
    assert read(array, kind="sets").itemsets() == [(("a", "b"), 1)]
    huge = pl.DataFrame({"unit": [1], "item": pl.Series([2**64 - 1], dtype=pl.UInt64)})
    assert read(huge, kind="sets").itemsets() == [((str(2**64 - 1),), 1)]
    with pytest.raises(ParameterError, match="one column cannot have two roles"):
        read(LONG, kind="sets", columns={"unit": "item"})
    many = io.BytesIO()
    pl.select(unit=pl.repeat(1, 300_000), item=pl.repeat(1, 300_000)).write_parquet(many)
    (tmp_path / "a.parquet").write_bytes(many.getvalue())
    with pytest.raises(ReadError, match="holds more than 1,000,000 bytes"):
        read(tmp_path / "a.parquet", kind="sets", options={"most_bytes": "1000000"})


def test_a_bomb_is_refused_by_its_growth(tmp_path):
    (tmp_path / "a.dat.gz").write_bytes(compress(b"1\n" * 150_000_000, "gz"))
    with pytest.raises(ReadError, match="bytes when decompressed; if that is intended"):
        read(tmp_path / "a.dat.gz", kind="sets")


def test_a_record_emptied_by_dropping_is_an_empty_record(tmp_path):
    (tmp_path / "a.dat").write_text("a\nz\n")
    domain = Domain.declare(item=["a"])
    with pytest.raises(ReadError, match=":2: the record has no items of the domain; pass"):
        read(tmp_path / "a.dat", kind="sets", domain=domain, options={"on_unknown": "drop"})


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.dat")
    with pytest.raises(ReadError, match="is not a regular file"):
        read(tmp_path / "a.dat", kind="sets")


def test_a_table_without_text_or_numbers_is_refused():
    with pytest.raises(ReadError, match="column 'item' must hold text or whole numbers; its type is B"):
        read(LONG.with_columns(item=pl.lit(value=True)), kind="sets")
    with pytest.raises(ReadError, match="the table:1: column 'item' must hold text or whole numb"):
        read(LONG.with_columns(item=pl.lit(0.5)), kind="sets")


# ---- files


@pytest.mark.parametrize(
    ("name", "ending"),
    [("a.csv", ("csv", "")), ("a.b.dat.gz", ("dat", "gz")), ("a", ("", "")), ("x.gz", ("", "gz"))],
)
def test_endings(name, ending):
    assert ending_of(Path(name)) == ending


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    write_file(tmp_path / "a", b"one", private=True)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    write_file(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    with pytest.raises(ParameterError, match=r"there is no folder .*none; create it first"):
        write_file(tmp_path / "none" / "a", b"x")
    (tmp_path / ".a.part").write_bytes(b"left by a run that was killed, and longer")
    write_file(tmp_path / "a", b"three")
    assert (tmp_path / "a").read_bytes() == b"three"
    with pytest.raises(EngineError, match="could not be written"):
        write_file(tmp_path, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_rows_are_laid_out_with_fresh_numbers():
    rows = codec_of("sets").lay_out(sets_of([[1], [0, 2], [1]], 3).canonical())
    frame = rows.to_frame({"unit": "u", "item": "i"})
    assert frame["u"].to_list() == [1, 2, 3, 3]
    assert frame["i"].to_list() == [1, 1, 0, 2]
    assert np.array_equal(rows.counts, [2, 1])
