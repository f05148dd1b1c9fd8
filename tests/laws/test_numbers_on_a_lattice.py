"""How a number becomes steps of its lattice, and what one cell that is no number may change: its own step only."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from terminal import run

from hedgerow import Domain, NumberAxis, PureDP, find_method, read
from hedgerow.audit import check_replay
from hedgerow.data.lattice import Lattice, LatticeCells, Placed, exact_number
from hedgerow.errors import DomainError, ParameterError, PromiseBroken, ReadError, UnsupportedGuarantee
from hedgerow.formats import number_table
from hedgerow.kind_registry import KINDS
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.streams.events import BITS

TENTHS = Domain.declare(x=NumberAxis.between(0, 10, "0.1"), y=NumberAxis.between(-5, 5, "0.1"))
COLUMN = Domain.declare(x=NumberAxis.between(0, 100, 1))


# ---- a number and its step


def random_lattice(draw):
    decimals = draw.randrange(9)
    step = Fraction(draw.choice([1, 2, 3, 5, 25, 7]), 10**decimals) / draw.choice([1, 1, 3])
    low = Fraction(draw.randrange(-(10**6), 10**6), 10 ** draw.randrange(decimals + 1))
    return Lattice.between(low, low + step * draw.choice([1, 7, 10**4]), step)


def number_near(lattice, draw):
    """A point, the middle between two, something else, or the floating-point number beside one of these."""
    part = draw.choice([Fraction(0), Fraction(1, 2), Fraction(draw.randrange(1000), 1000)])
    exact = (lattice.start + (draw.randrange(-3, lattice.steps + 3) + part) * lattice.step) / Fraction(lattice.unit)
    number = float(exact)
    return draw.choice([number, float(np.nextafter(number, 9e99)), float(np.nextafter(number, -9e99))])


def test_floating_point_numbers_are_placed_as_their_shortest_decimals():
    """Beside exact fractions, wherever points are decimals."""
    draw = random.Random(8)
    far = [1e300, -1e300, 1e15, 2.0**60, 5e-324, -5e-324, 0.0, -0.0, 99999999999999.5]
    for _ in range(300):
        lattice = random_lattice(draw)
        numbers = np.array([number_near(lattice, draw) for _ in range(20)] + far)
        steps, off, _ = lattice.place(numbers)
        if lattice.has_decimals:
            exact = [lattice.place_one(Fraction(repr(number))) for number in numbers.tolist()]
            assert list(zip(steps.tolist(), off.tolist(), strict=True)) == exact
        points = np.arange(min(lattice.steps, 50) + 1)
        assert lattice.place(lattice.numbers(points)).steps.tolist() == points.tolist()
        assert not lattice.place(lattice.numbers(points)).off.any()


@pytest.mark.parametrize(
    ("cell", "step"),
    [
        *[("1", 10), ("+1", 10), ("1e0", 10), ("0.1e+1", 10), (" 0.30 ", 3), ("-0", 0), ("1e-400", None), ("0.25", None)],
        *[("0.30000000000000004", None), ("0.3000000000000000000", 3), ("0.29999999999999999999", None), ("-7", 0)],
        *[("99", 100), ("99.05", None), ("1e999999999", None), ("1e-999999999", None), ("1e-99999999999999999999", None)],
        *[("1,000", None), ("1_0", None), ("0x1", None), ("nan", None), ("inf", None), ("", None), ("1" * 300, 100)],
        *[("1" * 500, None), ("0." + "0" * 10**6 + "1", None), ("1" + "0" * 300 + ".01", None), ("\u0661", None)],
    ],
)  # fmt: skip
def test_texts_are_exact_decimals(cell, step):
    """None stands for a cell that cannot be read: then a number stands in its place."""
    data = read(pl.DataFrame({"x": [cell], "y": ["0"]}), kind="matrices", domain=TENTHS, options={"on_bad": "0.7"})
    assert data.lattice()[0].tolist() == [7 if step is None else step, 50]


def test_every_type_of_number_is_its_shortest_decimal():
    for kind in (pl.Float32, pl.Float64, pl.Decimal(38, 20), pl.String):
        column = pl.Series("x", ["0.1", "0.7"]).cast(kind)
        data = read(pl.DataFrame({"x": column, "y": column}), kind="matrices", domain=TENTHS)
        assert data.lattice()[:, 0].tolist() == [1, 7]
    for kind in (np.float16, np.float32, np.float64):
        cells = np.array([[0.1, 0.1], [0.7, 0.7]], kind)
        assert read(cells, kind="matrices", domain=TENTHS).lattice()[:, 0].tolist() == [1, 7]
        assert read(cells[:, 0], kind="streams", domain=Domain.declare(value=TENTHS.axis("x"))).events.read(
            0, 2
        ).tolist() == [1, 7]
    odd = Domain.declare(x=NumberAxis.between(0, 9, 3))
    far = [3, 3 * 2**60, 3 * 2**60 + 1]  # floating-point numbers do not tell the last two apart
    assert read(pl.DataFrame({"x": far}), kind="matrices", domain=odd, options={"on_bad": "0"}).lattice()[
        :, 0
    ].tolist() == [1, 3, 0]
    precise = pl.DataFrame({"x": [Decimal("0.10000000000000000001")], "y": [Decimal(0)]})
    with pytest.raises(ReadError, match="the table:1: column 'x' is between two steps of its lattice; declare a finer"):
        read(precise, kind="matrices", domain=TENTHS)


def test_lattices_that_floating_point_numbers_do_not_tell_apart_are_no_bounds():
    for bounds in ((10**15, 10**15 + 1, "0.01"), (0, "1e-25", "1e-30"), (2**60, 2**60 + 1, 1)):
        with pytest.raises(
            DomainError, match="numbers of more than 14 digits, which floating-point numbers do not tell"
        ):
            NumberAxis.between(*bounds)
    assert NumberAxis.between(0, 2**53, 1).steps == 2**53


# ---- one cell changes, and everything else stays

BAD = ["n/a", "", "nan", "1e999999999", "7.3", "-0.5", "100.5", "250", "-3", "1e-400", "\xff", "a\0b", " ", "40"]


def source(cells, form, folder):
    """Put a column of cells into a file or table."""
    if form in {"csv", "txt"}:
        head = b"x\n" if form == "csv" else b""
        (folder / f"a.{form}").write_bytes(head + b"".join(cell.encode("latin-1") + b"\n" for cell in cells))
        return folder / f"a.{form}"
    if form == "texts":
        return pl.DataFrame({"x": cells})
    numbers = [number_of(cell) for cell in cells]
    if form == "array":
        return np.array([np.nan if number is None else number for number in numbers])[:, None]
    if form == "frame":
        return pl.DataFrame({"x": pl.Series(numbers, dtype=pl.Float64)})
    name = folder / f"a.{form}"
    np.save(name, source(cells, "array", folder)) if form == "npy" else source(cells, "frame", folder).write_parquet(
        name
    )
    return name


def number_of(cell):
    try:
        return float(cell)
    except ValueError:
        return None


METHODS = [("private-retrieval", "cell"), ("private-retrieval", "count"), ("private-wavelet", "cell")]
EPSILON_1 = {unit: PureDP(epsilon=1, unit=unit) for unit in ("cell", "count", "event")}


@pytest.mark.parametrize("form", ["csv", "texts", "npy", "array", "parquet", "frame"])
@pytest.mark.parametrize("name", ["private-retrieval", "private-wavelet"])
def test_whatever_is_in_a_cell_a_matrix_keeps_the_replay_law(form, name, tmp_path):
    """On the old tree the cell could only be dropped, and its row with it."""
    cells = ["3", "4", "5", "6", "90"]
    options = {"on_bad": "50"}

    def matrix(first):
        return read(source([first, *cells], form, tmp_path), kind="matrices", domain=COLUMN, options=options)

    law, good = find_method(name)(), matrix("3")
    moved = [check_replay(law, good, matrix(cell), EPSILON_1["cell"], seed).moved for seed, cell in enumerate(BAD)]
    assert sum(moved) > len(moved) / 2


@pytest.mark.parametrize("form", ["csv", "txt", "npy", "parquet", "frame", "list", "bits"])
def test_whatever_an_event_is_a_stream_keeps_the_replay_law(form, tmp_path):
    bits = form == "bits"
    domain = None if bits else Domain.declare(value=COLUMN.axis("x"))
    options = {"on_bad": "1" if bits else "50"}

    def stream(first):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))  # a stream is read while it is published
        folder.mkdir()
        if bits:
            (folder / "a.bits").write_bytes(first.encode("latin-1")[:1] + b"010110")
            return read(folder / "a.bits", kind="streams", options=options)
        cells = [first, "3", "4", "5"]
        events = source(cells, "array" if form in {"list", "npy"} else form, folder)
        events = events[:, 0] if isinstance(events, np.ndarray) else events
        events = events.tolist() if form == "list" else events
        return read(events, kind="streams", domain=domain, columns={"value": "x"}, options=options)

    law = find_method("stream-count")(every=2)
    bad = [cell for cell in BAD if not bits or cell[:1] not in {"", "1", "0"}]
    good = stream("0")
    moved = [check_replay(law, good, stream(cell), EPSILON_1["event"], seed).moved for seed, cell in enumerate(bad)]
    assert sum(moved) > len(moved) / 2


def test_lines_of_a_stream_that_cannot_be_split_are_events(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'time,value\n1,1\n2,\n3\n\n4,"1\n5,0,0\n6,\xff\n7,1\n')
    options = {"on_bad": "0"}
    assert read(tmp_path / "a.csv", kind="streams", options=options).events.read(0, 99).tolist() == [
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
    ]
    (tmp_path / "b.csv").write_bytes(b'x\n1\n\n"2\n3,4\n\r\r\n5\n')
    one = read(tmp_path / "b.csv", kind="matrices", domain=COLUMN, options=options)
    assert one.values[:, 0].tolist() == [1, 0, 0, 0, 0, 5]
    with pytest.raises(ReadError, match=r"b\.csv:3: column 'x' is empty"):  # a blank line is a cell, too
        (tmp_path / "b.csv").write_bytes(b"x\n1\n\n5\n")
        read(tmp_path / "b.csv", kind="matrices", domain=COLUMN)
    # of several columns nobody knows whose cells those are
    (tmp_path / "c.csv").write_bytes(b"x,y\n1,2\n3\n")
    with pytest.raises(ReadError, match=r"c\.csv:3: the line has more or fewer cells than the header; correct it$"):
        read(tmp_path / "c.csv", kind="matrices", options=options)


# ---- unit count: one step stays one step

PAIRS = [
    *[("1", "2.5", "3.5"), ("1", "2", "3"), ("2", "1", "3"), ("0.5", "0.25", "0.75"), ("0.1", "0.25", "0.35")],
    *[("0.1", "0.35", "0.45"), ("0.2", "0.5", "0.7"), ("0.1", "0.15", "0.25"), ("0.01", "0.145", "0.155")],
    *[("1", "99.5", "100.5"), ("1", "-0.5", "0.5"), ("1", "0.4999999999999999", "1.4999999999999999")],
    *[("1", "-0.5000000000000000000001", "0.4999999999999999999999"), ("1", "1.5", "2.5"), ("0.01", "1.005", "1.015")],
    *[("1", "9.99999999999999999999999", "10.99999999999999999999999"), ("1", "6.4999999999999999", "7.4999999999999999")],
    *[("3", "36893488147419103233", "36893488147419103236"), ("0.1", "0.30000000000000004", "0.40000000000000004")],
]  # fmt: skip
RULES = [{}, {"on_bad": "12"}, {"round": "nearest"}, {"round": "nearest", "on_bad": "12"}]


def losses_of_pairs():
    """The loss of every pair of counts one step apart, however they are read; nothing where both are refused."""
    law = find_method("private-retrieval")()
    for step, one, other in PAIRS:
        domain = Domain.declare(x=NumberAxis.between(0, 90 if step == "3" else 100, step))
        for options in RULES:
            datasets = []
            for cell in (one, other):
                try:
                    table = pl.DataFrame({"x": [cell, "6"]})
                    datasets.append(read(table, kind="matrices", domain=domain, options=options))
                except ReadError:
                    datasets.append(None)
            if None not in datasets:
                yield check_replay(law, *datasets, EPSILON_1["count"], 1).loss
            elif "on_bad" in options or "round" in options:
                msg = "a cell was refused although it was declared what becomes of it"
                raise PromiseBroken(msg)


def test_counts_one_step_apart_stay_one_step_apart():
    """On the old tree 2.5 and 3.5 were two steps apart, and 0.145 and 0.155 as well: a loss of 2 epsilon."""
    losses = list(losses_of_pairs())
    assert len(losses) > 3 * len(PAIRS)
    assert max(losses) == 1


def half_to_even(self, numbers):
    """What the old tree did."""
    exact = (numbers - self.start / self.unit) / (self.step / self.unit)
    steps = np.clip(np.nan_to_num(np.rint(exact)), 0, self.steps).astype(np.int64)
    return Placed(steps, np.zeros(len(numbers), np.bool_), np.zeros(len(numbers), np.bool_))


def bounds_first(self, numbers, place=Lattice.place):
    """Take what is beyond the bounds for a point."""
    low, high = self.numbers(np.array([0, self.steps]))
    return place(self, np.clip(numbers, low, high))


def in_floating_point(self, numbers):
    """Round half up, with all the errors of arithmetic."""
    exact = (numbers - self.start / self.unit) / (self.step / self.unit)
    steps = np.clip(np.floor(np.nan_to_num(exact) + 0.5), 0, self.steps).astype(np.int64)
    return Placed(steps, np.abs(exact - np.rint(exact)) > 1e-9, np.zeros(len(numbers), np.bool_))


def never_rounded(column, numbers):
    """Take every text for its floating-point number."""
    del numbers
    return np.zeros(len(column), np.bool_)


def without_exact_step(self, number, place=Lattice.place_one):
    """Round a long decimal before it is placed."""
    return place(self, Fraction(repr(float(number))))


PLANTED = {
    "half to even": (Lattice, "place", half_to_even),
    "bounds first": (Lattice, "place", bounds_first),
    "in floating point": (Lattice, "place", in_floating_point),
    "texts as floating-point numbers": (number_table, "_may_be_rounded", never_rounded),
    "long decimals are rounded": (Lattice, "place_one", without_exact_step),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_bugs_of_the_lattice_are_caught(bug, monkeypatch):
    monkeypatch.setattr(*PLANTED[bug])
    with pytest.raises((PromiseBroken, AssertionError)):
        assert max(losses_of_pairs()) <= 1


# ---- what is refused


@pytest.mark.parametrize(
    ("kind", "unit"), [(row.name, unit) for row in KINDS.values() for unit in row.changed]
)  # fmt: skip
def test_nothing_is_dropped_where_units_are_changed(kind, unit):
    """Whether or not there was something to drop: the option decides, not the data."""
    if kind == "streams":
        with pytest.raises(ParameterError, match="an event of streams cannot be dropped: how many there are is public"):
            read([0, 1], kind=kind, options={"on_bad": "drop"})
        return
    for cells in (["3", "4"], ["n/a", "4"]):
        data = read(pl.DataFrame({"x": cells}), kind=kind, domain=COLUMN, options={"on_bad": "drop"})
        with pytest.raises(UnsupportedGuarantee, match=f"a {unit} that cannot be read must not be dropped"):
            find_method("private-retrieval")().publish(data, EPSILON_1[unit])
        find_method("private-wavelet")().publish(data, PureDP(epsilon=1, unit="row"))


def test_the_command_advises_a_number(tmp_path):
    (tmp_path / "d.toml").write_text("[x]\nnumbers = true\nlow = 0\nhigh = 10\nstep = 1\n")
    publish = "publish {} --kind matrices --domain d.toml --method private-retrieval --epsilon 1 --unit {} --out {}"
    for unit in ("cell", "count"):
        for name, cells in (("a.csv", "x\n3\n4\n5\n6\n"), ("b.csv", "x\nn/a\n4\n5\n6\n")):
            (tmp_path / name).write_text(cells)
            out = f"R-{unit}-{name}"
            ran = run(publish.format(name, unit, out) + " --even-if-useless --read on_bad=drop", tmp_path)
            assert (ran.code, "put a number in its place with on_bad=NUMBER" in ran.err) == (3, True)
            assert not (tmp_path / out).exists()
            ran = run(publish.format(name, unit, out) + " --even-if-useless --read on_bad=0", tmp_path)
            assert (ran.code, (tmp_path / out / "data.csv").read_text().count("\n")) == (0, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_bad": "11"}, "on_bad=11 is not among the numbers of column 'x', which are 0 to 10 in steps of 1/10"),
        ({"on_bad": "0.25"}, "choose a number that every column may have"),
        ({"on_bad": "-1"}, "column 'x'"),
        ({"on_bad": "7"}, "column 'y', which are -5 to 5"),
        ({"on_bad": "1e999999999"}, "on_bad must be error, drop or a number; got '1e999999999'"),
        ({"on_bad": "nan"}, "on_bad must be error, drop or a number"),
        ({"round": "yes"}, "round must be no or nearest; got 'yes'"),
    ],
)
def test_a_number_in_the_place_of_others_is_one_of_the_column(options, message):
    with pytest.raises(ParameterError, match=message):
        read(np.zeros((2, 2)), kind="matrices", domain=TENTHS, options=options)


def test_without_bounds_any_number_stands_in():
    cells = np.array([[np.nan, 1.5], [0.25, np.inf]])
    data = read(cells, kind="matrices", options={"on_bad": "-3"})
    assert data.values.tolist() == [[-3, 1.5], [0.25, -3]]
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert read(masked, kind="matrices", options={"on_bad": "0"}).values.tolist() == [[1, 0], [3, 4]]


def test_bits_may_be_rounded_but_are_not_moved():
    cells = LatticeCells.of(np.array([0.2, 0.5, 7]), BITS.lattice)
    assert cells.steps.tolist() == [0, 1, 1]
    options = {"round": "nearest"}
    assert read([0.2, 0.5], kind="streams", options=options).events.read(0, 2).tolist() == [0, 1]
    with pytest.raises(ReadError, match="event 2 is neither 0 nor 1"):
        read([0, 7], kind="streams", options=options)


def test_numbers_in_memory_are_rounded_only_where_that_is_said():
    data = Matrix.from_rows([[0.25, 0], [7.75, 0.05]], domain=TENTHS)
    with pytest.raises(DomainError, match=r"row 1: column 'x' has a number between two steps; .*Matrix\.rounded\(\)"):
        find_method("private-wavelet")().publish(data, PureDP(epsilon=1, unit="row"))
    assert data.rounded().values.tolist() == [[0.3, 0], [7.8, 0.1]]
    assert exact_number("1.50e1") == 15


# ---- in memory


def test_no_event_in_memory_changes_the_type_of_others():
    """Among others of 64 bits, a tenth of 32 or 16 bits had seventeen decimals, and was refused or replaced."""
    domain, options = Domain.declare(value=NumberAxis.between(0, 10, "0.1")), {"on_bad": "5"}
    tenths = [np.float32(0.1), np.float16(0.2)]
    for other in (np.float32(3), 3, 3.0, np.float64(3), "x", None, 2**70, np.nan):
        events = read([*tenths, other], kind="streams", domain=domain, options=options).events.read(0, 3)
        assert events[:2].tolist() == [1, 2], other
        with_objects = np.array([*tenths, other], object)
        assert read(with_objects, kind="streams", domain=domain, options=options).events.read(0, 2).tolist() == [1, 2]


def test_what_is_under_a_mask_is_not_read():
    """It was published, and without its bounds: one event could move a sum by any number."""
    domain = Domain.declare(value=NumberAxis.between(0, 10, 1))
    events = np.ma.array([1.0, 1e9, 3.0], mask=[False, True, False])
    read_so = read(events, kind="streams", domain=domain, options={"on_bad": "5"})
    assert read_so.events.read(0, 3).tolist() == [1, 5, 3]
    with pytest.raises(ReadError, match="event 2 is missing, or not a finite number"):
        read(events, kind="streams", domain=domain)
    rows = np.ma.array([[1], [2], [3]], mask=[[False], [True], [False]])
    left = read(rows, kind="matrices", options={"on_bad": "drop"})
    assert left.values.tolist() == [[1], [3]]


def test_columns_of_pandas_are_streams_and_short_numbers_have_short_decimals():
    pandas = pytest.importorskip("pandas")
    options = {"on_bad": "5"}
    short = pandas.array([0.1, None, 0.3], dtype="Float32")
    mixed = pandas.Series([np.float32(0.1), "n/a", "0.3"], dtype=object)
    for column in (short, mixed):
        table = pandas.DataFrame({"x": column})
        matrix = read(table, kind="matrices", domain=Domain.declare(x=TENTHS.axis("x")), options=options)
        assert matrix.values[:, 0].tolist() == [0.1, 5, 0.3]
        for events in (table, table["x"]):
            domain = Domain.declare(value=TENTHS.axis("x"))
            stream = read(events, kind="streams", domain=domain, columns={"value": "x"}, options=options)
            assert stream.events.read(0, 3).tolist() == [1, 50, 3]
    with pytest.raises(ReadError, match="the table has no column 'value', or several"):
        read(pandas.DataFrame({"x": [1]}), kind="streams")


def test_decimals_in_a_list_are_numbers_and_none_is_rounded_unseen():
    domain, options = Domain.declare(value=TENTHS.axis("x")), {"on_bad": "5"}
    long = Decimal("0.10000000000000000001")
    cells = [Decimal("0.1"), long, Decimal("NaN"), Decimal("0.30"), Decimal("0.15"), 0.2]
    assert read(cells, kind="streams", domain=domain, options=options).events.read(0, 6).tolist() == [
        1,
        50,
        50,
        3,
        50,
        2,
    ]
    with pytest.raises(ReadError, match="event 1 is missing, or not a finite number"):
        read([long], kind="streams", domain=domain)
