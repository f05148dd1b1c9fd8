"""Labels of several levels in files: written, read again, verified from the folder, refused if they were changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from folders import seal
from project import TESTS
from terminal import run

from hedgerow import KCL, Domain, Trajectories, TrajectoryGeneralisation, read_release, write_release
from hedgerow.audit.verification import verify_folder
from hedgerow.data import Axis
from hedgerow.errors import HedgerowError, ParameterError, ReadError
from hedgerow.kinds.trajectories import label_files as coarse_labels
from hedgerow.testing import changed

PLACE = Axis(
    ("quay", "pier", "mall", "01"), (("city", "port"), ("city", "port"), ("city", "centre"), ("city", "centre"))
)
GRID = Axis(("a", "b", "c"), coordinates=((2.301, 48.8), (2.309, 48.8), (-0.001, 48.9)))
RECORDS = [[("quay", 8), ("mall", 9)]] * 3 + [[("pier", 10), ("01", 17)]] * 2 + [[("pier", 8)], []]


def release_of(*, axis=PLACE, records=RECORDS, k=2, ill=True, several=True, **parameters):
    traits = {"ill": ["flu", "well"]} if ill else {}
    domain = Domain.declare(place=axis, time=range(24), **traits)
    values = {"ill": ["flu", "well", None, "well", "flu", "well", "well"][: len(records)]} if ill else None
    data = Trajectories.from_records(records, domain=domain, sensitive=values, several=several)
    promise = KCL(k=k, l=2, c="60%", sensitive=["ill=flu"]) if ill else KCL(k=k, l=2)
    return TrajectoryGeneralisation(**parameters).publish(data, promise)


@pytest.mark.parametrize("like", ["x.csv", "x.parquet", "x.csv.gz"])
@pytest.mark.parametrize("parameters", [{"levels": "1,24"}, {"levels": "1,4", "one_place": True}, {"mixed": "no"}])
def test_a_release_of_labels_is_read_back_and_verified(tmp_path, like, parameters):
    release = release_of(**parameters)
    write_release(release, tmp_path / "R", like=like)
    received = read_release(tmp_path / "R")
    assert received.data.to_bytes() == release.data.to_bytes()
    assert received.data.records() == release.data.records()
    assert all(verify_folder(tmp_path / "R").values())


def test_a_table_of_labels_says_level_region_and_bin(tmp_path):
    write_release(release_of(levels="1,24"), tmp_path / "R", like="x.csv")
    lines = (tmp_path / "R" / "data.csv").read_text().splitlines()
    assert lines[0] == "unit,position,place_level,place,time,time_to,ill"
    assert lines[1] == "1,,,,,,well"  # the record without visits
    assert "3,1,0,pier,10,11,flu" not in lines[1]
    assert any(line.split(",")[2:4] == ["0", "quay"] for line in lines)
    said = (tmp_path / "R" / "STATEMENT.md").read_text()
    assert "`time` and `time_to` are a bin of time: from the one on, and before the other" in said
    assert "1 the last group of its path in `release.json`" in said


def test_names_are_text_in_a_release(tmp_path):
    """`01` is not `1`, in CSV as in Parquet."""
    for like in ("x.csv", "x.parquet"):
        folder = tmp_path / like
        write_release(release_of(records=[[("01", 5)]] * 4, ill=False), folder, like=like)
        assert {labels[0][1] for labels, _ in read_release(folder).data.records()} == {"01"}


def test_regions_may_be_cells_of_a_grid_that_nest(tmp_path):
    release = release_of(axis=GRID, records=[[("a", 8), ("c", 9)], [("b", 8), ("c", 9)]], ill=False, grid="0.01")
    assert [(level.name, level.regions) for level in release.data.levels.places[:3]] == [
        ("0", ("a", "b", "c")),
        ("0.01", ("-1:4890", "230:4880")),
        ("0.02", ("-1:2445", "115:2440")),
    ]
    write_release(release, tmp_path / "R", like="x.csv")
    assert read_release(tmp_path / "R").data.records() == release.data.records()
    assert release.data.records()[0][0] == (("0.01", "230:4880", 8, 9), ("0", "c", 9, 10))


def rewritten(folder: Path, change) -> None:
    """Change the table of labels, and let the hashes fit."""
    path = folder / "data.csv"
    change(pl.read_csv(path, infer_schema=False)).write_csv(path)
    seal(folder)


def set_cell(row, column, value):
    def change(table):
        values = table[column].to_list()
        values[row] = value
        return table.with_columns(pl.Series(column, values, dtype=pl.String))

    return change


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("place", "harbour", "is not one of the declared levels"),
        ("place_level", "7", "is not one of the declared levels"),
        ("place_level", "1", "is not one of the declared levels"),
        ("time_to", "22", "is not one of the declared levels"),
        ("time", "-4", "is not one of the declared levels"),
        ("position", "3", "must be 1, 2, 3"),
        ("place", None, "needs its position, level, place and both times"),
        ("time_to", None, "needs its position, level, place and both times"),
    ],
)
def test_a_label_that_cannot_be_is_refused(tmp_path, column, value, message):
    write_release(release_of(levels="1,24"), tmp_path / "R", like="x.csv")
    rewritten(tmp_path / "R", set_cell(2, column, value))
    with pytest.raises(ReadError, match=message):
        read_release(tmp_path / "R")
    assert not all(verify_folder(tmp_path / "R").values())


def test_labels_in_any_other_order_are_refused(tmp_path):
    """Every swap of two labels of a record, with positions that count."""
    write_release(release_of(levels="1,24"), tmp_path / "R", like="x.csv")
    table = pl.read_csv(tmp_path / "R" / "data.csv", infer_schema=False)
    swapped = 0
    for row in range(table.height - 1):
        if table["unit"][row] == table["unit"][row + 1]:
            order = [*range(row), row + 1, row, *range(row + 2, table.height)]
            (tmp_path / "R" / "data.csv").write_text(table[order].with_columns(table["position"]).write_csv())
            seal(tmp_path / "R")
            with pytest.raises(ReadError, match="must stand in the order of time, width, level and place"):
                read_release(tmp_path / "R")
            swapped += 1
    assert swapped > 1


def test_a_reader_that_takes_any_order_is_caught(tmp_path):
    with changed(coarse_labels, "_out_of_order", "= True", "= False"), pytest.raises(pytest.fail.Exception):
        test_labels_in_any_other_order_are_refused(tmp_path)


def test_a_release_in_the_order_of_visits_is_read_and_never_satisfied():
    """As the version before published it: who knows the quay at 5 is left with the one record with HIV."""
    folder = TESTS / "earlier" / "labels-in-the-order-of-visits"
    release = read_release(folder)
    assert release.data.by_visits
    assert len(release.data.records()) == 4
    said = next(check for check in verify_folder(folder) if check.startswith("KCL"))
    assert verify_folder(folder)[said] is False
    assert "labels in the order of visits, which tells more than the labels: withdraw it and publish again" in said
    assert release.verdict.failures == "3 x records in the order of visits, which tells more than their labels"


@pytest.mark.parametrize("start", [9, -4, 24])
def test_a_bin_between_two_or_beyond_the_period_is_refused(tmp_path, start):
    """Its width is declared, but it is not one of the bins of that width."""
    write_release(release_of(levels="1,4", mixed="no"), tmp_path / "R", like="x.csv")
    table = pl.read_csv(tmp_path / "R" / "data.csv", infer_schema=False)
    row = int(table["time"].is_not_null().arg_max() or 0)
    for column, value in (("time", start), ("time_to", start + 4)):
        rewritten(tmp_path / "R", set_cell(row, column, str(value)))
    with pytest.raises(ReadError, match="is not one of the declared levels"):
        read_release(tmp_path / "R")


def test_a_folder_whose_labels_overlap_does_not_pass(tmp_path):
    """The same file with a label that covers another of its record."""
    write_release(release_of(levels="1,24", ill=False), tmp_path / "R", like="x.csv")
    table = pl.read_csv(tmp_path / "R" / "data.csv", infer_schema=False)
    last = table.height - 2  # the first label of the last record
    for column, value in (("place_level", "2"), ("place", "city"), ("time", "0"), ("time_to", "24")):
        rewritten(tmp_path / "R", set_cell(last, column, value))
    checks = verify_folder(tmp_path / "R")
    assert checks["KCL: checked on the published data"] is False
    assert "overlap" in read_release(tmp_path / "R").verdict.failures


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("labels", "grid 0.1 3"), ("bins", "1,5,24"), ("bins", "5,7"), ("label_order", "any"), ("labels", "x")),
        ("one_place", "no"),
    ],
)
def test_options_that_do_not_go_with_the_domain_are_refused(tmp_path, option, value):
    write_release(release_of(levels="1,24"), tmp_path / "R", like="x.csv")
    held = json.loads((tmp_path / "R" / "release.json").read_text())
    held["files"][0]["options"][option] = value
    (tmp_path / "R" / "release.json").write_text(json.dumps(held, indent=2) + "\n")
    seal(tmp_path / "R")
    with pytest.raises(HedgerowError):
        read_release(tmp_path / "R")


def test_a_lone_file_of_labels_needs_its_folder(tmp_path):
    write_release(release_of(ill=False), tmp_path / "R", like="x.csv")
    ran = run("verify R/data.csv --kind trajectories --k 2 --l 2 --read labels=paths --read bins=1,2,4,8,24", tmp_path)
    assert ran.code == 2
    assert "holds labels, which need the domain of their release; verify the release folder" in ran.err


def test_publish_and_verify_on_the_command_line(tmp_path):
    table = [(n, hour, place) for n, record in enumerate(RECORDS) for place, hour in record]
    pl.DataFrame(table, schema=["unit", "time", "place"], orient="row").write_csv(tmp_path / "t.csv")
    paths = json.dumps(["/".join(path) for path in PLACE.paths])
    (tmp_path / "d.toml").write_text(
        f"[place]\nvalues = {json.dumps(PLACE.values)}\npaths = {paths}\n[time]\nlow = 0\nhigh = 23\n"
    )
    made = run(
        "publish t.csv --kind trajectories --method kcl-generalisation --k 2 --l 2 --domain d.toml "
        "--set levels=1,24 --read collisions=keep --out R",
        tmp_path,
    )
    assert made.code == 0, made.err
    checked = run("verify R --kind trajectories --k 2 --l 2", tmp_path)
    assert checked.code == 0, checked.out
    other = run("verify R --kind trajectories --k 3 --l 2", tmp_path)
    assert other.code == 3
    inferred = run("publish t.csv --kind trajectories --method kcl-generalisation --k 2 --l 2 --out S", tmp_path)
    assert inferred.code == 3
    assert "domain was inferred from the data" in inferred.err


def test_an_attribute_cannot_have_the_name_of_a_column_of_labels():
    domain = Domain.declare(place=["a"], time=range(2), position=["x"])
    data = Trajectories.from_records([[("a", 0)]], domain=domain, sensitive={"position": ["x"]}, several=True)
    with pytest.raises(ParameterError, match="cannot be called 'position'; rename it"):
        TrajectoryGeneralisation().publish(data, KCL(k=1, l=1))


def test_a_shuffled_data_set_of_labels_is_the_same_when_canonical():
    data = release_of(levels="1,24").data
    assert data.shuffled(np.random.default_rng(1)).canonical().to_bytes() == data.to_bytes()
    assert data.neighbour(0, unit="trajectory").count_units("trajectory") == len(data) - 1
