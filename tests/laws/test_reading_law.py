"""One unit never decides how another is read."""

from __future__ import annotations

import os
import random
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from reading_cases import CASES, OWNED_CASES
from reading_law import check_pair, check_persons

from hedgerow import Domain, Sequences, Sets
from hedgerow.data.encoding import text_of
from hedgerow.errors import HedgerowError, ParameterError, ReadError
from hedgerow.formats import blank_separated, csv_table, text_lines
from hedgerow.formats.blank_separated import read_words
from hedgerow.formats.list_codec import FORMATS
from hedgerow.kinds.trajectories import files as reading_times
from hedgerow.reading import read

PAIRS = 30
DROP = {"on_bad": "drop"}


def moved(name, pairs, folder, seed=0):
    """Check so many pairs; return the share in which the unit has records of its own."""
    chance = random.Random(f"{name} {seed}")
    return sum(check_pair(CASES[name], chance, folder) > 0 for _ in range(pairs)) / pairs


@pytest.mark.parametrize("name", CASES)
def test_reading_law(name, tmp_path):
    """Also that units of every case are read at all: the law holds for a reader of nothing."""
    assert moved(name, PAIRS, tmp_path) > 0.1


@pytest.mark.parametrize("name", OWNED_CASES)
def test_reading_law_for_persons(name, tmp_path):
    """One person's lines in other people's records take nothing from them."""
    chance = random.Random(name)
    counts = [check_persons(CASES[name], chance, tmp_path) for _ in range(PAIRS)]
    assert sum(count > 0 for count in counts) > 0.1 * PAIRS


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_reading_law_on_many_pairs(name, tmp_path):
    """Eight thousand neighbours in all; HEDGEROW_PAIRS asks for more."""
    pairs = int(os.environ.get("HEDGEROW_PAIRS", "250"))
    assert moved(name, pairs, tmp_path, seed=1) > 0.1


def guessing_dates(column, options, domain):
    """Let the library guess one pattern from the whole column."""
    del options, domain
    found = column.cast(pl.String).str.to_datetime(strict=False)
    hours = found.dt.hour().cast(pl.Int64)
    return hours, hours.is_null().to_numpy() & column.is_not_null().to_numpy(), "dates"


def first_type_wins(records):
    """Let the library take the type of the first cell."""
    flat = [list(record) for record in records if isinstance(record, (list, tuple))]
    return pl.Series(flat, strict=False).cast(pl.List(pl.String))


def no_quote(lines, quotes, before):
    """Take every quote as well placed."""
    del lines, before
    return np.zeros(len(quotes), np.bool_)


def all_or_none(edges, checker, options):
    """Take a matrix with one directed edge for a directed graph."""
    del checker, options
    if edges.one_way.any():
        msg = "directed"
        raise ReadError(msg)


def first_vertex_wins(lines, starts):
    """Take all vertices for numbers if the first one is."""
    words = read_words(lines, starts).cast(pl.String)
    numbers = words.cast(pl.Int64, strict=False)
    return numbers.cast(pl.String) if len(words) and numbers[0] is not None else words


def all_numbers_or_texts(where, name, column):
    """Take a column for numbers only if all of its cells are."""
    del where, name
    try:
        return column.cast(pl.Float64).to_numpy(), np.zeros(len(column), np.bool_)
    except pl.exceptions.PolarsError:
        return np.zeros(len(column)), np.ones(len(column), np.bool_)


def two_weights_spoil_all(checker, kept, keys, weights):
    """Drop all edges if one is listed with two weights."""
    edge = pl.DataFrame({"key": keys, "weight": weights}).filter(pl.Series(kept)).unique()
    if edge["key"].is_duplicated().any():
        checker.refuse(np.ones(len(keys), np.bool_), "two weights")


def more_than_others(edges, checker, options):
    """Take further fields for a weight that is not declared, where all lines have them."""
    del options
    checker.refuse(edges.further & ~edges.further.all(), "another number of fields")


PLANTED = {
    "one cell decides what weights are": (
        "polars texts, weighted",
        "hedgerow.kinds.graphs.files.number_cells",
        all_numbers_or_texts,
    ),
    "two weights of one edge spoil all": (
        "CSV, weighted",
        "hedgerow.kinds.graphs.files._refuse_disagreement",
        two_weights_spoil_all,
    ),
    "fields are counted over lines": (
        "edge list, directed",
        "hedgerow.kinds.graphs.files._refuse_further",
        more_than_others,
    ),
    "one cell makes a column a text": (
        "CSV of numbers",
        "hedgerow.kinds.matrices.files.number_cells",
        all_numbers_or_texts,
    ),
    "one edge directs all": ("sparse matrix", "hedgerow.kinds.graphs.files._refuse_directions", all_or_none),
    "the first vertex decides what all are": ("edge list", "hedgerow.formats.edge_list.read_words", first_vertex_wins),
    "dates are guessed": (
        "visits by hour of the day",
        "hedgerow.kinds.trajectories.files.read_times",
        guessing_dates,
    ),
    "the first type wins": ("plain lists of sets", "hedgerow.formats.long_table_codec.to_list_series", first_type_wins),
    "the end of a file is stripped": (
        "CSV without owners",
        "hedgerow.formats.csv_table.split_lines",
        lambda where, content, *rest: text_lines.split_lines(where, content.rstrip(), *rest),
    ),
    "quotes go over lines": ("CSV of sets", "hedgerow.formats.csv_table._misplaced", no_quote),
    "one bad line is the end": (
        "lines of sets",
        "hedgerow.formats.blank_separated.split_lines",
        lambda where, content, request: text_lines.split_lines(where, content.partition(b"\xff")[0], request),
    ),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_the_reading_law_catches_planted_bugs(bug, tmp_path, monkeypatch):
    name, place, wrong = PLANTED[bug]
    module, _, attribute = place.rpartition(".")
    monkeypatch.setattr(import_module(module), attribute, wrong)
    with pytest.raises((AssertionError, pl.exceptions.PolarsError, HedgerowError)):
        moved(name, 200, tmp_path)


# ---- what used to go wrong, one by one


def test_one_cell_of_another_format_does_not_change_how_others_are_read(tmp_path):
    path = tmp_path / "a.csv"
    others = "".join(f"{n},2024-05-01 0{n % 9}:30,home\n" for n in range(50))
    path.write_text(f"unit,time,place\nv,05/01/2024 08:30:00,home\n{others}")
    domain = Domain.declare(time=range(24), place=["home"])
    options = {"bin": "1h", "fold": "1d", "on_bad": "drop"}
    data = read(path, kind="trajectories", domain=domain, options=options)
    assert len(data) == 50
    assert [len(visits) for visits, _ in data.records()] == [1] * 50


def test_dates_are_read_by_the_declared_format_and_never_sorted_as_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("unit,time,place\n1,12/31/14 23:33,a\n1,01/02/15 00:10,b\n")
    with pytest.raises(ReadError, match=r"a\.csv:2: column 'time' must hold whole numbers; for da"):
        read(path, kind="trajectories")
    options = {"time_format": "%m/%d/%y %H:%M"}
    data = read(path, kind="trajectories", options=options)
    assert data.records()[0][0] == (("a", "2014-12-31T23:33:00"), ("b", "2015-01-02T00:10:00"))
    assert read(path, kind="trajectories", options={"times": "text"}).domain.values("time") == (
        "01/02/15 00:10",
        "12/31/14 23:33",
    )


@pytest.mark.parametrize(
    ("cell", "zone", "hour"),
    [
        ("2024-07-01T08:30:00Z", "UTC", 8),
        ("2024-07-01T08:30:00Z", "Europe/Paris", 10),
        ("2024-07-01T08:30+05:30", "UTC", 3),
        ("2024-07-01 08:30:59.9-0500", "UTC", 13),
        ("2024-07-01T08:30", "Europe/Paris", 8),
        ("2024-07-01", "UTC", 0),
    ],
)
def test_offsets_are_put_into_the_declared_zone(cell, zone, hour):
    column = pl.Series([cell])
    options = {"bin": "1h", "fold": "1d", "time_zone": zone}
    assert reading_times.read_times(column, options, None)[0].to_list() == [hour]
    plain = {"bin": "1h", "fold": "1d"}
    without, unreadable, _ = reading_times.read_times(column, plain, None)
    offset = cell[10:].strip("T 0123456789:.") != ""
    assert unreadable.tolist() == without.is_null().to_list() == [offset]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_zone": "Mars"}, "time_zone must be a time zone such as Europe/Paris"),
        ({"time_format": "%Q"}, "time_format must consist of %Y"),
        ({"time_format": "noon"}, "time_format must consist of %Y"),
        ({"time_format": "%H:%M%z"}, "pass the time_zone of the bins as well"),
        ({"time_format": "%Y-%m-%d %H"}, "with minutes if it has hours"),
        ({"time_format": "%S%f"}, "time_format must consist of"),
        ({"times": "number", "bin": "1h"}, "times=number cannot be combined with dates"),
        ({"times": "text", "bin": "5"}, "times=text has no bins"),
        ({"times": "x"}, "times must be"),
        ({"on_bad": "x"}, "on_bad must be error or drop; got 'x'"),
        ({"skip_lines": "-1"}, "skip_lines must be a whole number of lines; got '-1'"),
    ],
)
def test_what_is_declared_wrongly_is_said(tmp_path, options, message):
    (tmp_path / "a.csv").write_text("unit,time,place\n1,1,a\n")
    with pytest.raises(ParameterError, match=message):
        read(tmp_path / "a.csv", kind="trajectories", options=options)


def test_the_first_record_of_a_list_does_not_decide_what_items_are():
    domain = Domain.declare(item=["01234", "94110"])
    data = read([[94110], ["01234"], ["01234"]], kind="sets", domain=domain)
    assert data.itemsets() == [(("01234",), 2), (("94110",), 1)]


def test_the_last_cell_of_a_table_keeps_its_blanks(tmp_path):
    domain = Domain.declare(item=["tea", "tea "])
    for content, expected in (
        ("unit,item\n1,tea \n", [(("tea ",), 1)]),
        ("unit,item\n1,tea \n2,tea\n", [(("tea",), 1), (("tea ",), 1)]),
    ):
        (tmp_path / "a.csv").write_text(content)
        assert read(tmp_path / "a.csv", kind="sets", domain=domain).itemsets() == expected


def test_lines_that_look_like_spmf_are_refused_each_for_itself(tmp_path):
    path = tmp_path / "a.dat"
    domain = Domain.declare(item=["1", "-1", "-2", "a"])
    for content in ("1 -1 -2\n", "1 -1 -2\na\n"):
        path.write_text(content)
        with pytest.raises(ReadError, match=":1: this looks like SPMF"):
            read(path, kind="sequences", domain=domain)
    data = read(path, kind="sequences", domain=domain, options={"on_bad": "drop"})
    assert data.distinct_records() == [(("a",), 1)]


def test_two_lines_of_comments_hide_nothing_between_them(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("% Different categories found in input file:\na\n% Sequences:\na\n")
    domain = Domain.declare(item=["a"])
    assert read(path, kind="sets", domain=domain).itemsets() == [(("a",), 2)]


def test_one_record_without_an_owner_does_not_take_the_owners_of_others(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"item":["a"],"person":1}\n{"item":["a"],"person":"1"}\n{"item":["a"]}\n')
    owned = {"kind": "sets", "columns": {"person": "person"}}
    with pytest.raises(ReadError, match=r"a\.jsonl:3: .*and its owner under 'person'"):
        read(path, **owned)
    data = read(path, options={"on_bad": "drop"}, **owned)
    assert (len(data), data.count_units("person")) == (2, 1)


@pytest.mark.parametrize("kind", [Sets, Sequences])
def test_owners_are_texts_or_whole_numbers(kind):
    """`1 == True == 1.0`, but these are not one owner: the last two are none."""
    for owner in (True, 1.0, None, float("nan")):
        with pytest.raises(ParameterError, match="persons must be texts or whole numbers"):
            kind.from_records([["a"], ["a"]], persons=[1, owner])
    assert kind.from_records([["a"], ["a"]], persons=[1, "1"]).count_units("person") == 1


def test_a_line_in_other_peoples_records_takes_none_of_them():
    domain = Domain.declare(item=["a", "b"], records_per_person=1)
    schema = ["unit", "item", "person"]
    others = [(n, "a", f"u{n}") for n in range(20)]
    spoiled = [*others, *((n, "b", "v") for n in range(20)), (3, "b", None)]
    for rows, message in ((spoiled[:-1], "has two owners"), (spoiled, "column 'person' is empty")):
        table = pl.DataFrame(rows, schema=schema, orient="row")
        with pytest.raises(ReadError, match=message):
            read(table, kind="sets", domain=domain)
        data = read(table, kind="sets", domain=domain, options={"on_bad": "drop"})
        assert data.itemsets() == [(("a",), 20), (("b",), 20)]
        assert data.bounded("person").itemsets() == [(("a",), 20), (("b",), 1)]


@pytest.mark.parametrize("asserted", [True, False])
def test_a_text_that_no_file_can_hold_is_no_value(asserted):
    data = read([["a\0"], ["b"]], kind="sets", options=DROP, assert_public_domain=asserted)
    assert data.itemsets() == [(("b",), 1)]
    table = pl.DataFrame({"unit": [1, 2], "item": ["a\0", "b"]})
    assert read(table, kind="sets", options=DROP).itemsets() == [(("b",), 1)]


def test_tables_show_no_cell_and_only_wanted_columns_are_looked_at():
    pyarrow = pytest.importorskip("pyarrow")
    lazy = pl.LazyFrame({"unit": ["1", "SECRET"], "item": ["a", "b"]})
    with pytest.raises(ReadError, match="the table cannot be read") as caught:
        read(lazy.with_columns(pl.col("unit").cast(pl.Int64)), kind="sets")
    assert "SECRET" not in str(caught.value)
    other = lazy.with_columns(other=pl.col("unit").cast(pl.Int64))
    assert len(read(other, kind="sets")) == 2
    strange = pyarrow.array([None, None], pyarrow.decimal256(76))
    table = pyarrow.table({"unit": [1, 2], "item": ["a", "b"], "other": strange})
    assert len(read(table, kind="sets")) == 2


def test_a_visit_is_dropped_by_what_its_time_is_and_not_by_its_type():
    pandas = pytest.importorskip("pandas")
    domain = Domain.declare(time=range(24), place=["h"])
    options = {"on_bad": "drop", "on_unknown": "drop"}
    for cell in ("1.5", 1.5):
        table = pandas.DataFrame({"unit": [1, 1], "time": [cell, 1], "place": ["h", "h"]})
        data = read(table, kind="trajectories", domain=domain, options=options)
        assert data.records() == [((("h", 1),), ())]


def test_numbers_and_dates_beyond_reason_do_not_overflow():
    for cell, options in (
        ("-9223372036854775808", {"bin": "60"}),
        ("9223372036854775807", {"bin": "60"}),
        ("1969-01-01", {"bin": "999999999d"}),
        ("0001-01-01", {"bin": "7d"}),
    ):
        times, unreadable, _ = reading_times.read_times(pl.Series([cell]), options, None)
        assert (times.to_list(), unreadable.tolist()) == ([None], [True])


def test_a_file_that_is_not_utf8_throughout_is_read_in_time(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(b"th\xe9 x\na\n" * 100_000)
    domain = Domain.declare(item=["a"])
    data = read(path, kind="sets", domain=domain, options={**DROP, "skip_lines": "2"})
    assert len(data) == 99_999
    data = read(path, kind="sets", domain=domain, options={"skip_lines": "9" * 15})
    assert len(data) == 0


def test_rows_without_coordinates_can_be_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("unit,time,lon,lat\n1,8,1.5,1.5\n1,9,,\n2,8,1.5,\n")
    options = {"grid": "1"}
    with pytest.raises(ReadError, match=":3: a line needs both a time and a place, or neither; fill"):
        read(path, kind="trajectories", options=options)
    data = read(path, kind="trajectories", options={**options, "on_missing": "drop"})
    assert data.records() == [((), ()), ((("1,1", 8),), ())]
    data = read(path, kind="trajectories", options={**options, "on_bad": "drop"})
    assert data.records() == []


@pytest.mark.parametrize(("rule", "value"), [("first", "flu"), ("last", "well")])
def test_two_values_of_a_sensitive_column_need_a_declared_rule(tmp_path, rule, value):
    path = tmp_path / "a.csv"
    path.write_text("unit,time,place,ill\n1,8,a,flu\n1,9,a,\n1,10,a,well\n2,8,a,flu\n")
    options = {"sensitive": "ill"}
    with pytest.raises(ReadError, match=r":2: the record .* two values of 'ill'; choose one"):
        read(path, kind="trajectories", options=options)
    data = read(path, kind="trajectories", options={**options, "on_conflict": rule})
    assert sorted(traits for _, traits in data.records()) == sorted([("flu",), (value,)])
    data = read(path, kind="trajectories", options={**options, "on_bad": "drop"})
    assert len(data) == 1


def test_values_with_line_breaks_do_not_fit_a_table():
    with pytest.raises(HedgerowError, match="values with line breaks cannot be written to CSV"):
        csv_table.check(["a\nb"])
    for value in ("tea ", " tea", "whole milk", "tea\n", "#tea"):
        with pytest.raises(HedgerowError, match="cannot be written to lines; use CSV"):
            blank_separated.check([value])
    assert FORMATS["jsonl"].check(["a\nb"]) is None
    assert text_of(True) is None
