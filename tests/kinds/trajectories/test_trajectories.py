"""Trajectories from files to a release and back: readers, bins, grids, measures, the console."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import run

from hedgerow import Domain, Sets, find_method
from hedgerow.errors import DomainError, ParameterError, ReadError
from hedgerow.evaluate import evaluate
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import Ending, compress
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.generated_walks import Walks, walks
from hedgerow.reading import read
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import Layout, write_folder
from hedgerow.report import report
from hedgerow.testing import build_edge_cases

CSV = b"unit,time,place,diagnosis\n1,8,home,flu\n1,9,work,flu\n2,8,home,\n3,,,fever\n"
EXPECTED = [((), ("fever",)), ((("home", 8),), (None,)), ((("home", 8), ("work", 9)), ("flu",))]


def load(content, name="a.csv", folder=None, **more):
    path = folder / name
    path.write_bytes(content)
    return read(path, kind="trajectories", **more)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet"])
def test_every_format_gives_the_same_trajectories(tmp_path, ending):
    content = CSV
    if ending == "parquet":
        held = io.BytesIO()
        pl.read_csv(CSV).write_parquet(held)
        content = held.getvalue()
    content = compress(content, ending.partition(".")[2])
    data = load(content, f"a.{ending}", tmp_path, options={"sensitive": "diagnosis"})
    assert data.records() == EXPECTED


def test_tables_in_memory_are_read_as_well():
    frame = pl.read_csv(CSV)
    for table in (frame, frame.lazy(), frame.to_arrow()):
        data = read(table, kind="trajectories", options={"sensitive": "diagnosis"})
        assert data.records() == EXPECTED


@pytest.mark.parametrize(
    ("times", "options", "expected"),
    [
        (["65", "130"], {"bin": "60"}, [60, 120]),
        (["65", "1560"], {"bin": "60", "fold": "1440"}, [1, 2]),
        (
            ["2024-05-01 08:59", "2024-05-01 09:01"],
            {"bin": "1h"},
            ["2024-05-01T08:00:00", "2024-05-01T09:00:00"],
        ),
        (["2024-05-01 08:59", "2024-05-03 09:01"], {"bin": "1h", "fold": "1d"}, [8, 9]),
        (["08", "9"], {}, [8, 9]),
        (["8", "noon"], {"times": "text"}, ["8", "noon"]),
        (["10", "9"], {"times": "text"}, ["10", "9"]),
    ],
)
def test_times_are_put_into_declared_bins(tmp_path, times, options, expected):
    lines = "".join(f"1,{time},p{n}\n" for n, time in enumerate(times))
    data = load(f"unit,time,place\n{lines}".encode(), folder=tmp_path, options=options)
    assert sorted(data.domain.values("time"), key=str) == sorted(expected, key=str)


def test_lon_and_lat_are_put_on_a_declared_grid(tmp_path):
    content = b"unit,time,lon,lat\n1,1,-58.381,-34.603\n1,2,-58.389,-34.601\n2,1,-58.379,-34.603\n"
    data = load(content, folder=tmp_path, options={"grid": "0.01"})
    assert data.domain.values("place") == ("-34.61,-58.38", "-34.61,-58.39")
    assert len(data.records()) == 2


def test_collisions_are_resolved_by_a_declared_rule(tmp_path):
    content = b"unit,time,place\n1,1,a\n1,1,b\n1,1,a\n"
    with pytest.raises(ReadError, match=r":2: the record .* has two places at one time; choose which"):
        load(content, folder=tmp_path)
    first = load(content, folder=tmp_path, options={"collisions": "first"})
    last = load(b"unit,time,place\n1,1,a\n1,1,b\n", folder=tmp_path, options={"collisions": "last"})
    assert first.records() == [(((("a"), 1),), ())]
    assert last.records() == [((("b", 1),), ())]


BAD = {
    "one record a line": (
        "a.dat",
        b"1 2\n",
        {},
        ParameterError,
        "the ending .dat does not tell the format of trajectories; give one with --format: csv, parquet",
    ),
    "no time": ("a.csv", b"unit,place\n1,a\n", {}, ReadError, "has no column 'time'"),
    "no place": (
        "a.csv",
        b"unit,time\n1,1\n",
        {},
        ReadError,
        "has no column 'place'; name it with --columns place=NAME, or",
    ),
    "half a visit": (
        "a.csv",
        b"unit,time,place\n1,1,a\n1,2,\n",
        {},
        ReadError,
        ":3: a line needs both a time",
    ),
    "no column": (
        "a.csv",
        b"unit,time,place\n1,1,a\n",
        {"sensitive": "ill"},
        ReadError,
        "no column 'ill'",
    ),
    "two values": (
        "a.csv",
        b"unit,time,place,ill\n1,1,a,x\n1,2,a,SECRET\n",
        {"sensitive": "ill"},
        ReadError,
        ":2: the record on this line has two values of 'ill'",
    ),
    "bad bin": (
        "a.csv",
        b"unit,time,place\n1,1,a\n",
        {"bin": "1h"},
        ReadError,
        "column 'time' must hold ISO 8601 times, or pass time_format",
    ),
    "no bin": (
        "a.csv",
        b"unit,time,place\n1,1,a\n",
        {"bin": "1x"},
        ParameterError,
        "bin must be such as 15min",
    ),
    "bad dates": (
        "a.csv",
        b"unit,time,place\n1,SECRET,a\n",
        {"bin": "1h"},
        ReadError,
        ":2: column 'time' must",
    ),
    "bad fold": (
        "a.csv",
        b"unit,time,place\n1,1,a\n",
        {"bin": "2", "fold": "5"},
        ParameterError,
        "multiple of bin",
    ),
    "fold alone": (
        "a.csv",
        b"unit,time,place\n1,1,a\n",
        {"fold": "5"},
        ParameterError,
        "fold needs a bin",
    ),
    "bad grid": (
        "a.csv",
        b"unit,time,lon,lat\n1,1,2,3\n",
        {"grid": "0"},
        ParameterError,
        "grid must be a size",
    ),
    "bad lon": (
        "a.csv",
        b"unit,time,lon,lat\n1,1,SECRET,3\n",
        {"grid": "1"},
        ReadError,
        ":2: column 'lon' must",
    ),
    "bad rule": (
        "a.csv",
        b"unit,time,place\n1,1,a\n",
        {"collisions": "x"},
        ParameterError,
        "collisions must be",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_that_shows_no_cell(tmp_path, case):
    name, content, options, error, message = BAD[case]
    with pytest.raises(error, match=message) as caught:
        load(content, name, tmp_path, options=options)
    assert "SECRET" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_plain_lists_are_no_visits():
    with pytest.raises(ReadError, match="the list: trajectories are read from tables"):
        read([["a", 1]], kind="trajectories")


@given(st.sampled_from(list(build_edge_cases("trajectories"))), st.sampled_from(["csv", "parquet"]))
def test_awkward_data_comes_back_from_a_folder(tmp_path_factory, name, ending):
    data = build_edge_cases("trajectories")[name]
    release = find_method("kcl")().publish(data, KCL(k=1, l=1))
    folder = tmp_path_factory.mktemp("r") / "out"
    write_folder(release, folder, Layout(ending, Ending(ending, "")))
    again, _ = open_folder(folder)
    assert again.data.records() == release.data.records()
    assert again.guarantee == release.guarantee


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_without_any_visit_comes_back_from_a_folder(tmp_path, ending):
    data = Trajectories.from_records([[("a", 1)], [("b", 2)]])
    release = find_method("kcl")().publish(data, KCL(k=2, l=1))
    folder = write_folder(release, tmp_path / "out", Layout(ending, Ending(ending, "")))
    assert open_folder(folder)[0].data.records() == [((), ()), ((), ())]


def test_a_violation_planted_in_a_file_is_found(tmp_path):
    data = walks(Walks(400, 3, 5))
    promise = "--k 4 --c 60% --l 2 --sensitive diagnosis=HIV"
    codec_of("trajectories").lay_out(data).to_frame({"unit": "unit", "time": "time", "place": "place"}).write_csv(
        tmp_path / "t.csv"
    )
    ran = run(f"publish t.csv --kind trajectories --method kcl {promise} --out R", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert run("verify R", tmp_path).code == 0
    check = f"verify R/data.csv --kind trajectories {promise}"
    assert run(check, tmp_path).code == 0
    path = tmp_path / "R" / "data.csv"
    path.write_text(path.read_text() + "99999,4,new,HIV\n99999,3,p1,HIV\n")
    planted = run(check, tmp_path)
    assert planted.code == 3
    assert "sequences of 2 visits in fewer than 4 records" in planted.err
    assert run("verify R", tmp_path).code == 3


def test_a_column_that_is_carried_along_is_named_as_not_covered(tmp_path):
    ill = {0: "flu", 1: "well"}
    lines = [f"{n},{t},home,{ill[n % 2]},{20 + n % 2}" for n in range(6) for t in (8, 9)]
    (tmp_path / "t.csv").write_text("\n".join(["unit,time,place,diagnosis,age", *lines, ""]))
    promise = "--k 2 --l 2 --sensitive diagnosis=flu --c 60%"
    publish = f"publish t.csv --kind trajectories --method kcl {promise}"
    ran = run(f"{publish} --carry age --out R --save-recipe r.toml", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "R" / "data.csv").read_text().startswith("unit,time,place,diagnosis,age\n")
    assert "The column 'age': it is published unchanged" in (tmp_path / "R/STATEMENT.md").read_text()
    assert run("verify R", tmp_path).code == 0
    assert run("publish --recipe r.toml --out S", tmp_path).code == 0
    assert (tmp_path / "S/data.csv").read_bytes() == (tmp_path / "R/data.csv").read_bytes()
    assert run(f"{publish} --out T", tmp_path).code == 0
    assert "age" not in (tmp_path / "T" / "data.csv").read_text()
    assert "published unchanged" not in (tmp_path / "T" / "STATEMENT.md").read_text()
    for column, message in {
        "wage": "no column 'wage'",
        "unit": "the column 'unit' has a role",
        "place": "the column 'place' has a role",
        "person": "the column 'person' has a role",
    }.items():
        none = run(f"{publish} --carry {column} --out U", tmp_path)
        assert (none.code, message in none.err) == (2, True), none.err


def test_degrees_must_be_degrees(tmp_path):
    for cells in ("nan,1", "1,inf", "1,95", "400,1"):
        content = f"unit,time,lon,lat\na,1,{cells}\n".encode()
        with pytest.raises(ReadError, match="must hold degrees from"):
            load(content, folder=tmp_path, options={"grid": "0.1"})


def test_a_release_is_compared_with_its_own_data_only():
    data = Trajectories.from_records([[("a", 1)]] * 4 + [[("b", 2)]] * 4)
    other = Trajectories.from_records([[("a", 1)]] * 4 + [[("c", 2)]] * 4)
    release = find_method("kcl")().publish(data, KCL(k=2, l=1))
    with pytest.raises(ParameterError, match="visits that are not in the data"):
        evaluate(release, other, seed=1)


@pytest.mark.filterwarnings("always")
def test_the_console_of_trajectories(tmp_path):
    """From file to report; what the owner sees is for the owner only."""
    codec_of("trajectories").lay_out(walks(Walks(300, 3, 5))).to_frame(
        {"unit": "u", "time": "t", "place": "p"}
    ).write_csv(tmp_path / "t.csv")
    columns = "--columns unit=u,time=t,place=p"
    promise = "--k 3 --l 2 --sensitive diagnosis=HIV --c 0.5"
    for line in (
        f"describe t.csv --kind trajectories {columns} --json",
        f"publish t.csv --kind trajectories {columns} --method kcl {promise} --out R --save-recipe r.toml",
        f"evaluate R --against t.csv {columns} --scores s.json",
        "report R --scores s.json --html p.html",
        "publish --recipe r.toml --out S",
    ):
        ran = run(line, tmp_path)
        assert (ran.code, ran.err) == (0, ""), line
    assert (tmp_path / "R" / "data.csv").read_bytes() == (tmp_path / "S" / "data.csv").read_bytes()
    assert "For the owner only" in (tmp_path / "p.html").read_text()
    none = run(f"publish t.csv --kind trajectories {columns} --method kcl --k 3 --out T", tmp_path)
    assert none.code == 3
    assert "kcl keeps KCL: --k --c --l --sensitive --unit; got --k" in none.err
    many = run(f"publish t.csv --kind trajectories {columns} --method kcl --k 999 --l 1 --out U", tmp_path)
    assert (many.code, "the release is empty" in many.err) == (3, True)
    assert "warning: k = 999 is more than there are records" in many.err


def test_measures_stand_beside_controls_and_the_attack_is_bounded():
    data = walks(Walks(1_500, 4, 6))
    promise = KCL(k=20, c="60%", l=2, sensitive=["diagnosis=HIV"])
    release = find_method("kcl")().publish(data, promise)
    scores = {score.name: score for score in evaluate(release, data, seed=1)}
    lost = scores["share of visits suppressed"]
    assert 0 < lost.value < 1
    assert dict(lost.controls)["empty release"] == 1
    identity = scores["identity linkage, 2 known visits"]
    assert identity.value <= 1 / 20
    assert identity.value < dict(identity.controls)["original"]
    attribute = scores["attribute linkage, 2 known visits"]
    assert attribute.value <= 0.6
    kept = [score for score in scores.values() if score.chart == "visits kept, by time"]
    assert sum(score.value for score in kept) == len(release.data.arrays()[1])
    seen = [score for score in scores.values() if score.across]
    assert sum(score.value for score in seen) == len(release.data.arrays()[1])
    lost_sequences = scores["share of maximal frequent sequences (support at least 20) lost"]
    assert 0 <= lost_sequences.value <= dict(lost_sequences.controls)["empty release"] == 1
    share = scores["share of diagnosis = HIV among records with visits"]
    assert 0.1 < dict(share.controls)["original"] < 0.3
    assert dict(lost.controls)["one visit per record"] >= lost.value
    page = report([("R", release)], [list(scores.values())])
    assert "Visits kept, by time" in page
    assert "Visits by time and place: original" in page
    assert "Visits by time and place: this release" in page


def test_values_are_compared_by_name_where_the_domain_is_not_public():
    """A release read back knows only the places that were kept."""
    data = Trajectories.from_records([[("b", 2)]] * 5 + [[("a", 1)]])
    release = find_method("kcl")().publish(data, KCL(k=2, l=1))
    small = Trajectories.from_records([visits for visits, _ in release.data.records()])
    assert small.domain.size("place") == 1
    again = type(release)(**{**vars(release), "outputs": {"": small}, "domain": small.domain})
    scores = {score.name: score.value for score in evaluate(again, data, seed=1)}
    assert scores["share of visits suppressed"] == pytest.approx(1 / 6)
    assert scores["visits at place b"] == 5
    assert np.isclose(scores["share of records without visits"], 1 / 6)


def test_what_was_suppressed_everywhere_is_not_in_the_release_at_all():
    """An inferred domain lists what occurs; of that only what is published may be told."""
    visits = [[("park", 1)]] * 5 + [[("clinic", 2)]]
    data = Trajectories.from_records(visits, sensitive={"ill": ["no"] * 5 + ["yes"]})
    release = find_method("kcl")().publish(data, KCL(k=2, l=1))
    assert release.domain.values("place") == release.data.domain.values("place") == ("park",)
    assert release.domain.values("ill") == ("no", "yes")  # sensitive values stay
    assert b"clinic" not in release.data.to_bytes() + release.to_json()
    assert release.data.records()[0] == ((), ("yes",))
    empty = find_method("kcl")().publish(data, KCL(k=6, l=1))
    assert empty.domain.values("place") == ("none",)


def test_the_same_holds_for_sets():
    data = Sets.from_records([["tea"]] * 9 + [["rare"]])
    assert data.narrowed().itemsets() == data.itemsets()
    kept = data.without(9, unit="record")
    assert kept.domain.size("item") == 2
    assert kept.narrowed().domain.values("item") == ("tea",)
    assert kept.narrowed().itemsets() == [(("tea",), 9)]


@pytest.mark.parametrize("visit", [(None, 2), ("a", None), ("c", 1), ("a", 3)])
def test_a_visit_needs_a_place_and_a_time_of_the_domain(visit):
    domain = Domain.declare(place=["a", "b"], time=[1, 2])
    with pytest.raises(DomainError, match="not in the domain"):
        Trajectories.from_records([[visit], [("a", 1)]], domain=domain)


def test_codes_outside_the_domain_are_refused():
    domain, zero = Domain.declare(place=["a", "b"], time=[1, 2]), np.zeros(1, np.int64)
    for name, code in (("time", -1), ("time", 2), ("place", -1), ("place", 2)):
        codes = {"time": zero, "place": zero, name: np.array([code])}
        with pytest.raises(DomainError, match=f"a {name} code is outside the domain"):
            Trajectories.from_columns(records=1, row=zero, sensitive={}, domain=domain, **codes)
