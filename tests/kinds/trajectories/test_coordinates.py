"""Places with coordinates: declared, narrowed, published, received; stops of GTFS and cells of a grid."""

from __future__ import annotations

import json
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import run

from hedgerow import KCL, Domain, PureDP, Trajectories, find_method, read, read_domain, read_release, write_release
from hedgerow.data import Axis, Source
from hedgerow.errors import DomainError, ReadError
from hedgerow.formats.domains import draft_domain
from hedgerow.kinds.trajectories.files import name_cells

PLACES = ["a", "b", "c"]
POINTS = ((103.8, 1.25), (103.9, 1.5), (-0.125, -90.0))


def domain() -> Domain:
    return Domain.declare(place=PLACES, time=range(3)).with_coordinates("place", POINTS)


def plain(coordinates: object) -> dict[str, object]:
    axis = {"values": PLACES, "coordinates": coordinates}
    return {"source": "declared", "records_per_person": None, "axes": {"place": axis}}


def test_coordinates_stay_with_their_values():
    known = domain()
    assert known.axis("time").coordinates == ()
    assert known.with_paths("place", [["x"], ["x"], ["y"]]).axis("place").coordinates == POINTS
    assert known.with_paths("place", [["x"]] * 3).with_coordinates("place", []).axis("place").paths == (("x",),) * 3
    assert known.narrowed(place=[2, 0]).axis("place") == Axis(("c", "a"), (), (POINTS[2], POINTS[0]))
    assert known.narrowed(place=[]).axis("place") == Axis(("none",))
    assert known.only(["place"]).axis("place").coordinates == POINTS
    assert known.with_source(Source.ASSERTED).axis("place").coordinates == POINTS
    assert Domain.declare(place=Axis(("a",), coordinates=((1, 2),))).axis("place").coordinates == ((1.0, 2.0),)


def test_plain_data_has_the_coordinates_of_a_public_domain_only():
    again = Domain.from_plain(json.loads(json.dumps(domain().to_plain())))
    assert again == domain()
    assert domain().with_source(Source.INFERRED).to_plain()["axes"] is None
    assert "coordinates" not in Domain.declare(place=PLACES).to_plain()["axes"]["place"]


@pytest.mark.parametrize(
    "coordinates",
    [
        *(5, "abc", {"a": 1}, None, [1, 2, 3], [[1.0, 2.0]] * 2, [[1.0, 2.0]] * 4, [[1.0, 2.0, 3.0]] * 3, [[1.0]] * 3),
        *([["1", "2"]] * 3, [[True, 1.0]] * 3, [[None, 1.0]] * 3, [[1.0, 90.5]] * 3, [[361.0, 1.0]] * 3),
        *([[float("nan"), 1.0]] * 3, [[float("inf"), 1.0]] * 3, [[10**400, 1.0]] * 3, [[[1.0], 1.0]] * 3),
    ],
)
def test_hostile_coordinates_are_refused(coordinates):
    with pytest.raises(DomainError, match="coordinates"):
        Domain.from_plain(plain(coordinates))


def test_a_column_of_numbers_has_no_coordinates():
    axes = {"x": {"numbers": True, "coordinates": [[1.0, 2.0]]}}
    with pytest.raises(DomainError, match="a column of numbers has numbers = true"):
        Domain.from_plain({"source": "declared", "records_per_person": None, "axes": axes})


def test_a_release_carries_the_coordinates_and_refuses_changed_ones(tmp_path):
    records = [[("a", 0), ("b", 1)]] * 40 + [[("c", 2)]] * 20
    data = Trajectories.from_records(records, domain=domain())
    made = find_method("prefix-tree")().publish(data, PureDP(epsilon=5, unit="trajectory"))
    folder = write_release(made, tmp_path / "R", like="x.csv")
    assert read_release(folder).data.domain.axis("place").coordinates == POINTS
    assert run("verify R", tmp_path).code == 0
    document = json.loads((folder / "release.json").read_text())
    for wrong in ([], [[1.0, 2.0]], [[1, 2]] * 3, "SECRET"):
        document["domain"]["axes"]["place"]["coordinates"] = wrong
        (folder / "release.json").write_text(json.dumps(document, separators=(",", ":")))
        ran = run("verify R", tmp_path)
        assert ran.code == 3
        assert "SECRET" not in ran.out + ran.err


def test_a_suppressed_release_over_an_inferred_domain_tells_no_coordinates(tmp_path):
    records = [[("a", 0), ("b", 1)]] * 4 + [[("c", 2)]]
    data = Trajectories.from_records(records, domain=domain().with_source(Source.INFERRED))
    made = find_method("kcl")().publish(data, KCL(k=2, l=1), seed=1)
    assert b"103.9" not in write_release(made, tmp_path / "R", like="x.csv").joinpath("release.json").read_bytes()
    assert made.data.domain.axis("place").coordinates == POINTS[:2]


# ---- domain files


@pytest.mark.parametrize(
    "text",
    [
        '[place]\nvalues = ["a", "b", "c"]\ncoordinates = [[103.8, 1.25], [103.9, 1.5], [-0.125, -90]]\n',
        '[place]\nfile = "places.tsv"\ncoordinates = true\n',
    ],
)
def test_domain_files_declare_coordinates(tmp_path, text):
    (tmp_path / "places.tsv").write_text("a\t103.8\t1.25\nb\t103.9\t1.5\nc\t-.125\t-90\n")
    (tmp_path / "d.toml").write_text(text)
    assert read_domain(tmp_path / "d.toml").axis("place") == Axis(tuple(PLACES), (), POINTS)


def test_a_file_of_values_has_coordinates_and_then_the_path(tmp_path):
    (tmp_path / "places.tsv").write_text("1\t2.0\t48.0\tnorth\tone\n2\t3\t49\tsouth\n")
    (tmp_path / "d.toml").write_text('[place]\nfile = "places.tsv"\ncoordinates = true\n')
    read_back = read_domain(tmp_path / "d.toml").axis("place")
    assert read_back == Axis((1, 2), (("north", "one"), ("south",)), ((2.0, 48.0), (3.0, 49.0)))
    (tmp_path / "d.toml").write_text('[place]\nfile = "places.tsv"\n')
    assert read_domain(tmp_path / "d.toml").axis("place").paths[1] == ("3", "49", "south")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[place]\nvalues = ["a"]\ncoordinates = true\n', "must be pairs of longitude and latitude"),
        ('[place]\nvalues = ["a"]\ncoordinates = [[1, 2], [3, 4]]\n', "needs as many coordinates"),
        ('[place]\nvalues = ["a"]\ncoordinates = [[1, nan]]\n', "must be pairs of longitude and latitude"),
        ('[place]\nvalues = ["a"]\ncoordinates = [[1, 91]]\n', "must be pairs|must be degrees"),
        ('[place]\nfile = "p.tsv"\ncoordinates = [[1, 2]]\n', "coordinates = true says that its second"),
        ('[place]\nfile = "p.tsv"\ncoordinates = true\n', "each place needs a longitude and a latitude"),
        ('[place]\ngtfs = "stops.txt"\ncoordinates = true\n', "omit the other fields"),
        ('[place]\ngtfs = "p.tsv"\n', "is not a stops.txt of GTFS: it needs the columns stop_id"),
        ('[place]\ngtfs = "none.txt"\n', "there is no file"),
        ('[place]\ngtfs = "empty.txt"\n', "has no stops"),
        ('[place]\ngtfs = "bad.txt"\n', "each place needs a longitude and a latitude"),
        ('[place]\ngtfs = "latin.txt"\n', "is not UTF-8 text"),
        ('[place]\ngtfs = "twice.txt"\n', "must be distinct"),
    ],
)
def test_bad_coordinates_in_files(tmp_path, text, message):
    (tmp_path / "p.tsv").write_text("a\tnorth\n")
    header = "stop_id,stop_lat,stop_lon\n"
    (tmp_path / "empty.txt").write_text(header)
    (tmp_path / "bad.txt").write_text(f"{header}x,1.0,\n")
    (tmp_path / "twice.txt").write_text(f"{header}x,1,2\nx,1,2\n")
    (tmp_path / "latin.txt").write_bytes(header.encode() + b"\xe9,1,2\n")
    (tmp_path / "stops.txt").write_text(f"{header}x,1,2\n")
    (tmp_path / "d.toml").write_text(text)
    with pytest.raises((DomainError, ReadError), match=message):
        read_domain(tmp_path / "d.toml")


def test_stops_of_a_feed_are_places_with_coordinates_and_stations(tmp_path):
    (tmp_path / "stops.txt").write_bytes(
        b'\xef\xbb\xbfstop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\r\n'
        b'S1,"Central, main hall",48.85,2.35,1,\r\n'
        b'S1a,"Platform\r\none",48.8501,2.3501,0,S1\r\n'
        b'E1,Door,48.8502,2.3502,2,S1\r\n'
        b'B7,Bridge, 48.9 ,2.4\r\n'
    )  # fmt: skip
    (tmp_path / "d.toml").write_text('[place]\ngtfs = "stops.txt"\n\n[time]\nlow = 0\nhigh = 23\n')
    known = read_domain(tmp_path / "d.toml")
    assert known.values("place") == ("S1", "S1a", "B7")
    assert known.axis("place").paths == (("S1",), ("S1",), ("B7",))
    assert known.axis("place").coordinates == ((2.35, 48.85), (2.3501, 48.8501), (2.4, 48.9))
    assert known.taxonomy("place", 2, declared=True)


def test_a_feed_without_stations_has_no_paths(tmp_path):
    (tmp_path / "stops.txt").write_text("stop_lon,stop_lat,stop_id\n2,48,007\n3,49,8\n")
    (tmp_path / "d.toml").write_text('[place]\ngtfs = "stops.txt"\n')
    assert read_domain(tmp_path / "d.toml").axis("place") == Axis(("007", "8"), (), ((2.0, 48.0), (3.0, 49.0)))


def test_a_draft_keeps_paths_and_coordinates(tmp_path):
    known = domain().with_paths("place", [["x", "y"], ["x"], ["z"]])
    (tmp_path / "d.toml").write_text(draft_domain(known).replace("read_from_private_data = true\n", ""))
    assert read_domain(tmp_path / "d.toml").axes == known.axes


# ---- cells of a grid


def test_cells_have_the_coordinates_of_their_centres(tmp_path):
    (tmp_path / "a.csv").write_text("unit,time,lon,lat\n1,1,-58.379,-34.603\n1,2,-58.389,-34.601\n2,1,103.8,90\n")
    data = read(tmp_path / "a.csv", kind="trajectories", options={"grid": "0.01"})
    assert data.domain.values("place") == ("-34.61,-58.38", "-34.61,-58.39", "90.00,103.80")
    # the last cell begins at the pole
    assert data.domain.axis("place").coordinates == ((-58.375, -34.605), (-58.385, -34.605), (103.805, 90.0))


def test_declared_cells_get_centres_and_other_places_do_not(tmp_path):
    (tmp_path / "a.csv").write_text("unit,time,lon,lat\n1,1,2.31,48.81\n")
    cells = Domain.declare(place=["48.8,2.3", "48.9,2.3"], time=[1])
    options = {"grid": "0.1"}
    data = read(tmp_path / "a.csv", kind="trajectories", domain=cells, options=options)
    assert data.domain.axis("place").coordinates == ((2.35, 48.85), (2.35, 48.95))
    mixed = Domain.declare(place=["48.8,2.3", "elsewhere"], time=[1])
    assert read(tmp_path / "a.csv", kind="trajectories", domain=mixed, options=options).domain == mixed
    own = cells.with_coordinates("place", [(1, 2), (3, 4)])
    assert read(tmp_path / "a.csv", kind="trajectories", domain=own, options=options).domain == own


@given(
    st.decimals(-180, 180, places=4, allow_nan=False).map(lambda number: number.normalize()),
    st.sampled_from([Decimal("0.01"), Decimal("0.005"), Decimal("0.0001"), Decimal(7), Decimal("0.30")]),
)
def test_cells_are_those_of_the_exact_decimals(number, step):
    """A cell contains its lower bound and not its upper one, whatever floating-point division says."""
    lower = Decimal(name_cells(pl.Series([float(number)]), step).item())
    assert lower <= number < lower + step
    assert lower % step == 0
