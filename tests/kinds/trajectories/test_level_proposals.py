"""Proposals of coarser places and times: they nest, they are drafts, and describe shows them."""

from __future__ import annotations

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st
from terminal import run

from hedgerow import Domain, read_domain
from hedgerow.data import Axis
from hedgerow.data.grids import propose_grids, propose_paths
from hedgerow.formats.domains import draft_domain
from hedgerow.kinds.trajectories.levels import propose_bins

DEGREES = st.tuples(st.decimals(-180, 180, places=3), st.decimals(-90, 90, places=3))


def axis_of(points):
    return Axis(tuple(range(len(points))), coordinates=tuple((float(lon), float(lat)) for lon, lat in points))


@given(st.lists(DEGREES, min_size=1, max_size=30), st.integers(1, 400))
def test_cells_nest_and_become_fewer(points, scale):
    axis = axis_of([(lon / scale, lat / scale) for lon, lat in points])
    levels = propose_grids(axis)
    for fine, coarse in itertools.pairwise(levels):
        pairs = set(zip(fine.cells, coarse.cells, strict=True))
        assert len(pairs) == fine.regions
        assert float(coarse.size) == 2 * float(fine.size)
        assert coarse.regions <= fine.regions
    assert all(2 * level.regions <= len(axis) for level in levels)
    paths = propose_paths(axis)
    assert len(paths) in (0, len(axis))
    assert {len(path) for path in paths} <= {len(levels)}


@given(st.integers(0, 50), st.integers(1, 60), st.integers(1, 100))
def test_bins_divide_each_other(low, step, count):
    widths = propose_bins(range(low * step, (low + count) * step, step))
    assert all(wide % width == 0 and wide > width for width, wide in itertools.pairwise(widths))
    assert widths[:1] == ([step] if count > 1 else [])


def test_nothing_is_proposed_where_there_is_nothing_to_propose():
    assert propose_grids(Axis(("a", "b"))) == []
    assert propose_paths(Axis(("a", "b"), coordinates=((1, 2), (3, 4)))) == ()
    assert propose_bins([0, 7]) == [7, 14]


def test_a_draft_proposes_regions_for_places_with_coordinates(tmp_path):
    points = [(2 + 0.001 * (n % 8), 48 + 0.001 * (n // 8)) for n in range(64)]
    domain = Domain.declare(place=[f"p{n}" for n in range(64)], time=range(24)).with_coordinates("place", points)
    draft = draft_domain(domain)
    assert "# a proposal: cells of a grid" in draft
    (tmp_path / "d.toml").write_text(draft.replace("read_from_private_data = true\n", ""))
    again = read_domain(tmp_path / "d.toml").axis("place")
    assert again.coordinates == domain.axis("place").coordinates
    assert again.paths == propose_paths(domain.axis("place"))
    assert again.paths[0] == ("48,2 (0.005)",)
    assert again.paths[63] == ("48.005,2.005 (0.005)",)


def test_describe_proposes_regions_and_bins(tmp_path):
    lines = [f"{n},{60 * (n % 24)},{2 + 0.003 * (n % 12)},{48 + 0.003 * (n % 7)}" for n in range(84)]
    (tmp_path / "t.csv").write_text("\n".join(["unit,time,lon,lat", *lines]) + "\n")
    ran = run("describe t.csv --kind trajectories --read grid=0.001 --draft-domain d.toml --json", tmp_path)
    assert ran.code == 0
    told = json.loads(ran.out)
    assert list(told["proposed regions"]) == ["0.005 degrees", "0.01 degrees", "0.02 degrees"]
    assert told["proposed time bins"] == "60, 120, 240, 480, 1440"
    assert "paths = [" in (tmp_path / "d.toml").read_text()
    plain = run("describe t.csv --kind trajectories --read grid=0.001", tmp_path)
    assert "proposed regions" in plain.out
