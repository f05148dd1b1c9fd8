"""Matrices from files and tables to a release and back: formats, declared bounds, one line per refusal."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from terminal import run

from hedgerow import Domain, Matrix, PureDP, find_method, read, read_release, write_release
from hedgerow.data import NumberAxis
from hedgerow.errors import DomainError, GuaranteeError, ParameterError, ReadError, UndeclaredDomain
from hedgerow.formats.codec import codec_of, explain
from hedgerow.formats.domains import draft_domain, read_domain
from hedgerow.kinds.matrices import data as row_order
from hedgerow.kinds.matrices.cases import matrix_of
from hedgerow.kinds.matrices.data import order_rows
from hedgerow.privacy import Laplace
from hedgerow.privacy.distortion import Distortion
from hedgerow.publisher import Publisher
from hedgerow.statement import File
from hedgerow.testing import build_edge_cases, check_publisher, mutant

CODEC = codec_of("matrices")
COLUMNS = {role: role for role in CODEC.written}
CSV = "age,dose,ill,who\n1,2.5,yes,ann\n2,-4,no,bob\n3,25e-2,yes,cy\n5,1,no,di\n"
BOUNDS = Domain.declare(age=NumberAxis.between(0, 120, 1), dose=NumberAxis.between("-1", "1", "0.25"))


def load(text, folder, name="a.csv", **more):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, kind="matrices", **more)


def again(data, form):
    """Write a matrix and read it."""
    options = CODEC.reread_options(data, form)
    content = CODEC.write(data, form, COLUMNS)
    laid = CODEC.formats[form].read("there", content, CODEC.request(COLUMNS, options), 10**9)
    return CODEC.make(laid, data.domain, data.domain.source, options)


# ---- formats


@pytest.mark.parametrize("form", CODEC.formats)
@pytest.mark.parametrize("name", build_edge_cases("matrices"))
def test_edge_cases_come_back_in_every_format(name, form):
    data = build_edge_cases("matrices")[name]
    if form == "npy" and data.labels is not None:
        with pytest.raises(ParameterError, match="no place for names and labels of rows; leave them out, or write CSV"):
            again(data, form)
        data = data.without_attributes()
    assert again(data, form).to_bytes() == data.to_bytes()


@pytest.mark.parametrize("form", ["csv", "npy", "parquet"])
def test_numbers_come_back_to_the_last_bit(form):
    values = np.random.default_rng(4).normal(size=(200, 3)) * 10.0 ** np.arange(-150, 150, 100)
    data = Matrix.from_rows(np.concatenate((values, [[5e-324, 1.7976931348623157e308, 0.1 + 0.2]])))
    assert again(data, form).values.tobytes() == data.values.tobytes()


def test_rows_without_names_have_an_order_of_their_content(monkeypatch):
    chance = np.random.default_rng(3)
    for _ in range(2):
        for rows, columns, values in [(0, 3, 2), (1, 2, 2), (60, 4, 2), (300, 5, 3), (900, 2, 30), (50, 9, 1)]:
            numbers = chance.integers(0, values, (rows, columns)).astype(float)
            labels, moved = chance.integers(0, 2, rows), chance.permutation(rows)
            first, second = order_rows([], numbers, [labels]), order_rows([], numbers[moved], [labels[moved]])
            assert sorted(first.tolist()) == list(range(rows))
            assert np.array_equal(numbers[first], numbers[moved][second])
            assert np.array_equal(labels[first], labels[moved][second])
        # once more where all rows have the same hash, which chance does not show
        monkeypatch.setattr(row_order, "_factors", lambda columns: np.zeros(columns, np.uint64))


def test_names_are_sorted_as_numbers_where_they_are():
    data = Matrix.from_rows([[1], [2], [3]], ids=["10", "9", "a"])
    assert data.canonical().ids.tolist() == ["9", "a", "10"]
    assert not data.numbered
    assert Matrix.from_rows([[0.0], [-0.0]]).values.tobytes() == bytes(16)


def test_names_labels_and_declared_columns(tmp_path):
    data = load(CSV, tmp_path, columns={"id": "who", "label": "ill"})
    assert (data.columns, data.ids.tolist(), data.labels[0]) == (("age", "dose"), ["ann", "bob", "cy", "di"], "yes")
    assert load(CSV, tmp_path, domain=BOUNDS).columns == ("age", "dose")
    numbered = load(CSV, tmp_path, options={"drop": "ill,who", "rows": "numbered"})
    assert (numbered.ids.tolist(), numbered.numbered) == ([1, 2, 3, 4], True)
    body = CSV.partition("\n")[2]
    options = {"names": "age,dose,ill,who", "drop": "ill,who"}
    assert load(body, tmp_path, options=options).values.tobytes() == numbered.values.tobytes()


def test_tables_and_arrays_in_memory(tmp_path):
    pd = pytest.importorskip("pandas")
    rows = {"x": [1, 2], "y": [0.5, -3.0]}
    wanted = [[1.0, 0.5], [2.0, -3.0]]
    path = tmp_path / "a.npy"
    np.save(path, np.asfortranarray(wanted))
    for source in (pl.DataFrame(rows), pl.LazyFrame(rows), pd.DataFrame(rows), pl.DataFrame(rows).to_arrow(), path):
        assert read(source, kind="matrices").values.tolist() == wanted
    strings = pd.DataFrame({"x": ["1", "2"], "y": [0.5, -3]})
    assert read(strings, kind="matrices").values.tolist() == wanted
    assert read(np.array([3, 4]), kind="matrices").columns == ("c1",)
    assert read(np.array(wanted), kind="matrices", domain=BOUNDS).columns == ("age", "dose")


# ---- refusals: one line, a remedy, and no cell


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        (CSV, {}, r"a\.csv:2: column 'ill' is empty, or not a finite number; correct it, leave the column out with drop=ill"),
        ("x,y\n1,2\n3,\n", {}, r"a\.csv:3: column 'y' is empty, or not a finite number; .*on_bad=drop"),
        ("x\n1\nnan\n", {}, r"a\.csv:3: column 'x' is empty, or not a finite number"),
        ("x\n1\n-inf\n", {}, r"a\.csv:3: column 'x'"),
        ("x,y\n1,2\n3\n", {}, r"a\.csv:3: the line has more or fewer cells than the header"),
        ("x,x\n1,2\n", {}, r"has two columns 'x'; rename one"),
        ("x\n1\n", {"columns": {"id": "who"}}, "has no column 'who'; name the columns that it has"),
        ("x\n1\n", {"options": {"drop": "x"}}, "has no column of numbers"),
        ("x\n1\n", {"domain": BOUNDS}, "has no column 'age'"),
        ("x,who\n1,\n", {"columns": {"id": "who"}}, r"a\.csv:2: column 'who' is empty, or has several lines"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read(text, more, message, tmp_path):
    with pytest.raises(ReadError, match=message) as error:
        load(text, tmp_path, **more)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "columns", "message"),
    [
        ({"names": "x,,y"}, {}, "the names of columns must be distinct, and none may be empty"),
        ({"rows": "any"}, {}, "rows must be hashed or numbered; got 'any'"),
        ({"rows": "numbered"}, {"id": "x"}, "rows are named by a column or numbered, not both"),
    ],
)
def test_a_request_that_cannot_be_met(options, columns, message):
    with pytest.raises(ParameterError, match=message):
        read(np.zeros((2, 2)), kind="matrices", options=options, columns=columns)


def npy(array, **more):
    content = io.BytesIO()
    np.lib.format.write_array(content, array, **more)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a NumPy file, or its header is damaged"),
        (npy(np.zeros((2, 2)))[:-1], "is cut off or damaged: its header announces another size"),
        (npy(np.zeros((2, 2))) + b"x", "is cut off or damaged"),
        (npy(np.array([[{}]], object), allow_pickle=True), "must hold numbers of at most 64 bits; its type is O8"),
        (npy(np.zeros(2, [("x", float)])), "must hold numbers"),
        (npy(np.array(["a"])), "must hold numbers"),
        (npy(np.zeros((2, 2), complex)), "its type is c16"),
        (npy(np.zeros((0, 10**9))), "has 1,000,000,000 columns, more than 100,000; transpose it"),
        (npy(np.zeros((2, 2, 2))), "must have rows and columns; it has 3 dimensions"),
        (npy(np.array([[1.0, np.nan]])), r"a\.npy:1: a cell is empty, or not a finite number"),
    ],
)
def test_a_numpy_file_that_cannot_be_read(content, message, tmp_path):
    """A pickle is refused by its type, before anything of it is loaded."""
    with pytest.raises(ReadError, match=message):
        load(content, tmp_path, "a.npy")


def test_other_sources_are_refused():
    with pytest.raises(ReadError, match=r"make one of lists with Matrix\.from_rows"):
        read([[1, 2]], kind="matrices")
    with pytest.raises(ReadError, match="read takes a path, a table"):
        read(7, kind="matrices")
    with pytest.raises(ReadError, match="column 'x' must hold numbers; its type is Boolean; leave it out"):
        read(pl.DataFrame({"x": [True]}), kind="matrices")
    with pytest.raises(ReadError, match="has 2 columns, and 1 names are given"):
        read(np.zeros((2, 2)), kind="matrices", options={"names": "x"})
    with pytest.raises(DomainError, match="has 3 columns, and the domain 2; declare each column"):
        read(np.zeros((2, 3)), kind="matrices", domain=BOUNDS)


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([[1, np.nan]], {}, "needs finite numbers in all cells"),
        ([[1, "x"]], {}, "needs rows of numbers, all of one length"),
        ([[1], [2, 3]], {}, "needs rows of numbers, all of one length"),
        ([[1, 2]], {"columns": ["a"]}, "needs rows of 1 numbers, one per column"),
        ([[1, 2]], {"columns": ["a", "a"]}, "distinct lines of text"),
        ([[1, 2]], {"columns": ["a", "b\n"]}, "distinct lines of text"),
        ([[1, 2]], {"ids": ["a", "b"]}, "must be one per row; got 2 for 1 rows"),
        ([[1, 2]], {"domain": Domain.declare(a=["x"], b=[1])}, "column 'a' of the domain does not hold numbers"),
    ],
)
def test_a_matrix_of_other_values_is_refused(rows, more, message):
    with pytest.raises(DomainError, match=message):
        Matrix.from_rows(rows, **more)


# ---- bounds


def test_bounds_are_declared_in_a_file_and_come_back(tmp_path):
    path = tmp_path / "d.toml"
    path.write_text(
        '[age]\nlow = 0\nhigh = 120\n["dose, mg"]\nnumbers = true\nlow = -1\nhigh = 1.0\nstep = 0.1\n[x]\nnumbers = true\n'
    )
    data = Matrix.from_rows([[3, 0.26, 9]], domain=read_domain(path))
    assert [axis.bounded for _, axis in data.domain.axes] == [True, True, False]
    assert data.domain.axis("dose, mg").steps == 20
    assert Domain.from_plain(data.domain.to_plain()) == data.domain
    draft = draft_domain(data.domain).replace("read_from_private_data = true\n", "")
    path.write_text(draft)
    assert read_domain(path) == data.domain


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("numbers = true\nlow = 1", r"section \[x\]: the bounds of a column are low, high and step; give all"),
        ("numbers = false", "has numbers = true and"),
        ("numbers = true\nvalues = [1]", "has numbers = true and"),
        ("numbers = true\nlow = 1\nhigh = 1\nstep = 1", "need low < high"),
        ("numbers = true\nlow = 0\nhigh = 1\nstep = 0.3", "a step above 0 that divides"),
        ("numbers = true\nlow = 'a'\nhigh = 1\nstep = 1", "low of a column must be a number; got 'a'"),
        ("numbers = true\nlow = '1e999999999'\nhigh = 1\nstep = 1", "low of a column must be a number"),
        ("numbers = true\nlow = '1/0'\nhigh = 1\nstep = 1", "low of a column must be a number"),
        ("low = 0.5\nhigh = 1", "must be whole numbers, .* with numbers = true"),
    ],
)
def test_bounds_that_are_none(fields, message, tmp_path):
    (tmp_path / "d.toml").write_text(f"[x]\n{fields}\n")
    with pytest.raises(DomainError, match=message):
        read_domain(tmp_path / "d.toml")


def test_numbers_are_moved_to_the_bounds_and_onto_the_lattice_each_alone():
    data = Matrix.from_rows([[-5, 0.25], [121, 7], [4, -0.5]], domain=BOUNDS)
    assert data.lattice().tolist() == [[0, 5], [120, 8], [4, 2]]
    assert data.bounded("row").values.tolist() == [[0, 0.25], [120, 1], [4, -0.5]]
    between = Matrix.from_rows([[-5, 0.3], [121.4, 7], [3.5, -0.125]], domain=BOUNDS)
    with pytest.raises(DomainError, match="row 2: column 'age' has a number between two steps; declare a finer step"):
        between.bounded("row")
    assert between.rounded().lattice().tolist() == [[0, 5], [120, 8], [4, 4]]
    with pytest.raises(
        UndeclaredDomain, match="column 'c1' has no declared bounds, and bounds from the data are private"
    ):
        Matrix.from_rows([[1]]).bounded("cell")


# ---- neighbours


def test_neighbours_remove_a_row_or_change_a_cell():
    data = matrix_of([[1, -8], [8, 0]], 2)
    assert [other.values.tolist() for other in data.neighbours("row")] == [[[8, 0]], [[1, -8]]]
    changed = list(data.neighbours("cell"))
    assert len(changed) == data.count_neighbours("cell") == 12
    for other in changed:
        moved = (other.values != data.values) & (np.abs(other.values) <= 8)
        assert (moved.sum(), len(other)) == (1, 2)
    assert {float(other.values[0, 0]) for other in changed} == {1, -8, 8, 1.5}
    free = Matrix.from_rows([[0.0, 4.0]])
    assert all((other.values != free.values).sum() == 1 for other in free.neighbours("cell"))


@dataclass(frozen=True, kw_only=True)
class NoisySums(Publisher[Matrix]):
    """Publish one row: the noisy sum of each column.

    Privacy
    -------
    column sums: a row or a cell moves each by at most its span; asked once.

    Examples
    --------
    >>> NoisySums().name
    'noisy-sums'

    References
    ----------
    .. [1] A toy.
    """

    name: ClassVar[str] = "noisy-sums"
    kinds: ClassVar = ("matrices",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("row", "cell")

    def run(self, data, ledger):
        """Ask for all sums at once."""
        steps = [axis.steps for axis in data.bounds]
        # a row has one cell in each column, between 0 and its steps
        l1 = sum(steps)
        noisy = ledger.ask(data.lattice().sum(0), Laplace(l1=l1), spend=ledger.budget, label="column sums")
        low = np.array([float(axis.low) for axis in data.bounds])
        step = np.array([float(axis.step) for axis in data.bounds])
        return Matrix(data.domain, (low + step * noisy)[None, :])


@pytest.mark.parametrize("unit", ["row", "cell"])
def test_conformance_tries_both_units(unit):
    result = check_publisher(NoisySums(), PureDP(epsilon=1, unit=unit))
    assert result.replays >= 20
    assert result.moved >= result.replays / 2


@pytest.mark.parametrize(
    ("unit", "old", "new"),
    [
        ("row", "l1 = sum(steps)", "l1 = max(steps)"),
        ("cell", "l1 = sum(steps)", "l1 = max(1, max(steps) // 2)"),
        ("row", "(low + step * noisy)[None, :]", "(low + step * noisy)[None, :].repeat(len(data), 0)"),
        ("cell", "step * noisy)", "step * noisy + data.values.sum())"),
    ],
    ids=["the largest column only", "half a cell", "as many rows", "exact sums"],
)
def test_planted_bugs_are_caught_in_their_unit(unit, old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(NoisySums, old, new)(), PureDP(epsilon=1, unit=unit))


def test_differential_privacy_sees_no_names_and_needs_bounds():
    data = Matrix.from_rows([[1, 0.5], [2, 0.25]], domain=BOUNDS, ids=["a", "b"], labels=["x", "y"])
    release = NoisySums().publish(data, PureDP(epsilon=1, unit="row"), seed=1)
    assert (release.data.ids, release.data.labels) == (None, None)
    assert "if any one cell had been changed" in PureDP(epsilon=1, unit="cell").sentence()
    with pytest.raises(UndeclaredDomain, match="was inferred from the data"):
        NoisySums().publish(Matrix.from_rows([[1, 2]]), PureDP(epsilon=1, unit="row"))


# ---- all commands


@pytest.mark.parametrize("method", ["svd", "wavelet", "additive-noise"])
@pytest.mark.parametrize("form", ["csv", "npy", "parquet"])
def test_a_release_is_written_and_read_again(method, form, tmp_path):
    data = matrix_of([[((7 * i * i + 5 * i * j) % 33 - 16) / 2 for j in range(4)] for i in range(9)], 4)
    release = find_method(method)().publish(data, Distortion(), seed=1)
    write_release(release, tmp_path / "R", like=f"a.{form}")
    assert read_release(tmp_path / "R").data.to_bytes() == release.data.to_bytes()
    assert "Nothing is promised." in (tmp_path / "R" / "STATEMENT.md").read_text()


def test_a_matrix_goes_through_all_commands(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    read_as = "--columns id=who,label=ill"
    for line, shown in {
        "describe --kind matrices --help": "columns that are not read",
        f"describe a.csv --kind matrices {read_as}": "range of dose",
        f"publish a.csv --kind matrices --method svd {read_as} --out R": "Nothing is promised",
        "verify R": "nothing is promised, so there was nothing to verify",
        f"evaluate R --against a.csv {read_as} --scores s.json --seed 1": "relative difference of the numbers (VD)",
        "report R --scores s.json --html r.html": "r.html",
        "methods svd": "Distortion",
    }.items():
        ran = run(line, tmp_path)
        assert (ran.code, shown in ran.out) == (0, True), (line, ran)
    statement = (tmp_path / "R" / "STATEMENT.md").read_text()
    assert "no formal guarantee" in statement
    assert "Spectral filtering" in statement
    ran = run(f"verify R/data.csv --kind matrices --promise Distortion {read_as}", tmp_path)
    assert (ran.code, "cannot be verified from a file" in ran.err) == (3, True)
    assert "`who` is the name of the row, as it was." in statement


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("publish a.csv --kind matrices --method svd --out R", 2, "a.csv:2: column 'ill' is empty, or not a finite"),
        (
            "publish a.csv --kind matrices --method svd --epsilon 1 --out R",
            3,
            "svd keeps Distortion: no options; got --epsilon",
        ),
        ("publish a.csv --kind matrices --method svd --read drop=ill,who --set rank=9 --out R", 2, "SVD.rank must be"),
        (
            "publish one.csv --kind matrices --method svd --out R",
            3,
            "needs at least 2 rows; got 1; nothing was released",
        ),
    ],
)
def test_a_command_that_cannot_be_done(line, code, message, tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "one.csv").write_text("x,y\n1,2\n")
    ran = run(line, tmp_path)
    assert (ran.code, message in ran.err, (tmp_path / "R").exists()) == (code, True, False), ran


def test_the_statement_says_how_rows_are_numbered():
    file = File("", "matrices", "data.npy", "0" * 64, "npy", COLUMNS, {"carried": "", "rows": "numbered"})
    assert "Row number k is row number k of the original." in explain([file])
    assert not CODEC.accepts_reread({"carried": "id", "rows": "hashed"})
    assert not CODEC.accepts_reread({"names": "x"})
