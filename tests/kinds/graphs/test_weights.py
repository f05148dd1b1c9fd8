"""Weights and directions of networks, from files and objects to a release and back."""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
import weight_toys
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from terminal import run
from weight_toys import HalfWeights

from hedgerow import Domain, Graph, progress, read, read_release, write_release
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import compress
from hedgerow.methods import METHODS
from hedgerow.privacy.distortion import Distortion

NAMES = ["ann", "bob", "cleo", "dan"]
DOMAIN = Domain.declare(vertex=NAMES)
CODEC = codec_of("graphs")
FORMATS = sorted(CODEC.formats)
ROADS = Graph.from_edges([("bob", "ann"), ("bob", "cleo")], weights=[0.1, 2.5e-7], domain=DOMAIN)
FLOWS = Graph.from_edges(
    [("bob", "ann"), ("ann", "bob"), ("cleo", "bob")], weights=[3, 1e22, 0.5], directed=True, domain=DOMAIN
)
WEIGHT = {"weight": "weight"}
LISTED = {"edges": "edges", "csv": "csv", "parquet": "parquet", "graphml": "graphml", "json": "json"}


def again(graph, form):
    """Write a graph as a release does, and read it as its receiver does."""
    columns = CODEC.name_columns(graph, form, {})
    content = CODEC.write(graph, form, columns)
    options = CODEC.reread_options(graph, form)
    assert CODEC.can_write(columns)
    assert CODEC.accepts_reread(options)
    laid = CODEC.formats[form].read("there", content, CODEC.request(columns, options), 10**9)
    return CODEC.make(laid, graph.domain, graph.domain.source, options)


def load(content, folder, name, **more):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(folder / name, kind="graphs", **{"domain": DOMAIN, **more})


# ---- there and back

numbers = st.floats(min_value=5e-324, max_value=1.7976931348623157e308)


@st.composite
def networks(draw):
    """Networks with every kind of weight, with directions or without."""
    directed = draw(st.booleans())
    ends = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)
    key = tuple if directed else frozenset
    pairs = draw(st.lists(ends, max_size=8, unique_by=key))
    weights = draw(st.none() | st.lists(numbers, min_size=len(pairs), max_size=len(pairs)))
    return Graph.from_edges(map(tuple, pairs), weights=weights, directed=directed, domain=DOMAIN)


@given(networks(), st.sampled_from(FORMATS))
def test_networks_come_back_bit_by_bit_from_every_format(graph, form):
    assert again(graph, form).to_bytes() == graph.to_bytes()


@given(networks())
def test_networks_come_back_from_objects(graph):
    columns = {} if graph.weights is None else WEIGHT
    options = {"directed": "yes"} if graph.directed else {}
    back = [read(graph.to_networkx(), kind="graphs", domain=DOMAIN, columns=columns, options=options)]
    if graph.weights is not None:
        back.append(read(graph.to_matrix(), kind="graphs", domain=DOMAIN, columns=columns, options=options))
    assert {data.to_bytes() for data in back} == {graph.to_bytes()}


WRITTEN = {
    "edges": (b"ann bob 0.1\nbob cleo 2.5e-07\n", b"ann bob 1e+22\nbob ann 3.0\ncleo bob 0.5\n"),
    "csv": (
        b"source,target,weight\nann,bob,0.1\nbob,cleo,2.5e-07\n",
        b"source,target,weight\nann,bob,1e+22\nbob,ann,3.0\ncleo,bob,0.5\n",
    ),
    "graphml": (
        (
            b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            b'<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n<graph edgedefault="undirected">\n'
            b'<node id="ann"/>\n<node id="bob"/>\n<node id="cleo"/>\n<node id="dan"/>\n'
            b'<edge source="ann" target="bob"><data key="weight">0.1</data></edge>\n'
            b'<edge source="bob" target="cleo"><data key="weight">2.5e-07</data></edge>\n</graph>\n</graphml>\n'
        ),
        (
            b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            b'<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n<graph edgedefault="directed">\n'
            b'<node id="ann"/>\n<node id="bob"/>\n<node id="cleo"/>\n<node id="dan"/>\n'
            b'<edge source="ann" target="bob"><data key="weight">1e+22</data></edge>\n'
            b'<edge source="bob" target="ann"><data key="weight">3.0</data></edge>\n'
            b'<edge source="cleo" target="bob"><data key="weight">0.5</data></edge>\n</graph>\n</graphml>\n'
        ),
    ),
    "json": (
        (
            b'{"directed": false, "multigraph": false, "graph": {}, "nodes": [\n{"id": "ann"},\n{"id": "bob"},\n'
            b'{"id": "cleo"},\n{"id": "dan"}\n], "edges": [\n{"source": "ann", "target": "bob", "weight": 0.1},\n'
            b'{"source": "bob", "target": "cleo", "weight": 2.5e-07}\n]}\n'
        ),
        (
            b'{"directed": true, "multigraph": false, "graph": {}, "nodes": [\n{"id": "ann"},\n{"id": "bob"},\n'
            b'{"id": "cleo"},\n{"id": "dan"}\n], "edges": [\n{"source": "ann", "target": "bob", "weight": 1e+22},\n'
            b'{"source": "bob", "target": "ann", "weight": 3.0},\n{"source": "cleo", "target": "bob", "weight": 0.5}\n]}\n'
        ),
    ),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_the_bytes_of_each_format(form):
    for graph, expected in zip((ROADS, FLOWS), WRITTEN[form], strict=True):
        assert CODEC.write(graph, form, CODEC.name_columns(graph, form, {})) == expected


def test_other_libraries_read_what_is_written(tmp_path):
    (tmp_path / "a.graphml").write_bytes(WRITTEN["graphml"][1])
    flows = nx.read_graphml(tmp_path / "a.graphml")
    assert flows.is_directed()
    assert flows["bob"]["ann"] == {"weight": 3.0}
    assert nx.utils.graphs_equal(nx.node_link_graph(json.loads(WRITTEN["json"][1])), FLOWS.to_networkx())
    table = pl.read_parquet(CODEC.write(ROADS, "parquet", CODEC.name_columns(ROADS, "parquet", {"weight": "km"})))
    assert table.schema == {"source": pl.String, "target": pl.String, "km": pl.Float64}


def test_unweighted_networks_have_the_bytes_they_had():
    bare = ROADS.without_weights()
    assert CODEC.name_columns(bare, "edges", {"weight": "7"}) == {"source": "source", "target": "target"}
    columns = {"source": "source", "target": "target"}
    assert CODEC.write(bare, "edges", columns) == b"ann bob\nbob cleo\n"
    assert CODEC.write(bare, "csv", columns) == b"source,target\nann,bob\nbob,cleo\n"
    graphml = CODEC.write(bare, "graphml", columns)
    assert b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n<graph edgedefault="undirected">\n' in graphml
    assert b'<edge source="ann" target="bob"/>\n' in graphml
    assert CODEC.reread_options(bare, "csv") == {}


@pytest.mark.parametrize("compression", ["", "gz", "zst"])
@pytest.mark.parametrize("ending", ["edges", "txt", "csv", "parquet", "graphml", "json"])
@pytest.mark.parametrize("graph", [ROADS, FLOWS], ids=["roads", "flows"])
def test_a_release_is_read_back_exactly(tmp_path, graph, ending, compression):
    release = HalfWeights().publish(graph, Distortion())
    like = f"in.{ending}.{compression}" if compression else f"in.{ending}"
    write_release(release, tmp_path / "R", like=like, columns={"weight": "3"})
    received = read_release(tmp_path / "R").data
    assert received.to_bytes() == graph.weighted(graph.weights / 2).to_bytes()
    statement = (tmp_path / "R" / "STATEMENT.md").read_text()
    assert ("Edges lead from source to target." in statement) == graph.directed
    assert ("Edges have no direction." in statement) != graph.directed
    assert "weight" in statement.partition("## How to read the data")[2]


def test_a_folder_may_not_name_other_columns_or_options(tmp_path):
    write_release(HalfWeights().publish(FLOWS, Distortion()), tmp_path / "R", like="in.csv")
    good = (tmp_path / "R" / "release.json").read_text()
    assert '"options": {\n        "directed": "yes"\n      }' in good
    for wrong in (
        good.replace('"directed"', '"paths"'),
        good.replace('"yes"', '"no"'),
        good.replace('"weight"', '"person"'),
        good.replace('"yes"', '"yes","weights":"ignore"'),
    ):
        (tmp_path / "R" / "release.json").write_text(wrong)
        with pytest.raises(ReadError, match="is not as Hedgerow writes it"):
            read_release(tmp_path / "R")


# ---- what is declared

CASES = {
    "a.edges": b"bob ann 0.1 x\nann bob 0.1 x\nbob cleo 25e-8 x\n",
    "a.csv": b"source,target,weight,more\nbob,ann,0.1,x\nann,bob,0.1,x\nbob,cleo,25e-8,x\n",
    "a.graphml": b'<graphml><key id="k" for="edge" attr.name="weight"/><key id="x" for="edge"/>'
    b'<graph edgedefault="undirected"><edge source="bob" target="ann"><data key="k">0.1</data><data key="x"/></edge>'
    b'<edge source="ann" target="bob"><data key="x">7</data><data key="k">0.10</data></edge>'
    b'<edge source="bob" target="cleo"><data key="k"> 2.5e-7\n</data><data key="x"/></edge></graph></graphml>',
    "a.json": b'{"nodes": [{"id": "dan", "x": 1}], "links": [{"source": "bob", "target": "ann", "weight": 0.1, "x": 1},'
    b'\n{"source": "ann", "target": "bob", "weight": "0.1", "x": {}},'
    b'{"source": "bob", "target": "cleo", "weight": 0.00000025, "x": 1}]}',
}


@pytest.mark.parametrize("name", CASES)
def test_a_weight_is_read_where_it_is_named_and_the_rest_is_told(tmp_path, name):
    columns = {"weight": "3" if name == "a.edges" else "weight"}
    with progress.counting() as counts:
        graph = load(CASES[name], tmp_path, name, columns=columns)
    assert graph.to_bytes() == ROADS.to_bytes()
    told = {"columns that are not read": 1} if name == "a.csv" else {"edges with more than is read": 3}
    assert counts == {**told, "edges listed again": 1}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_taken_for_a_weight_by_its_name(tmp_path, name):
    with pytest.raises(ReadError, match=r"name that of the weight.*weights=ignore") as caught:
        load(CASES[name], tmp_path, name)
    assert "0.1" not in str(caught.value)
    with progress.counting() as counts:
        bare = load(CASES[name], tmp_path, name, options={"weights": "ignore"})
    assert bare.to_bytes() == ROADS.without_weights().to_bytes()
    assert set(counts) & {"columns that are not read", "edges with more than is read"}


def test_objects_are_read_with_weights_and_without():
    graph = nx.Graph([("bob", "ann", {"cost": 0.1, "x": 1}), ("cleo", "bob", {"cost": np.float32(0.1)})])
    expected = [("ann", "bob", 0.1), ("bob", "cleo", 0.1)]
    cells = sparse.coo_array(np.array([[0, 0.1, 0, 0], [0.1, 0, 0.1, 0], [0, 0.1, 0, 0], [0] * 4], np.float32))
    frame = pl.DataFrame(expected, schema=["source", "target", "cost"], orient="row")
    lists = [("bob", "ann", 0.1, "x"), ["bob", "cleo", "0.1"]]
    sources = (
        *((graph, "cost"), (cells, "value"), (frame, "cost"), (frame.lazy(), "cost"), (lists, "3")),
        (frame.with_columns(pl.col("cost").cast(pl.Decimal(5, 2))), "cost"),
        (frame.with_columns(pl.col("cost").cast(pl.Float32)), "cost"),
        (frame.to_pandas(), "cost") if has_pandas() else (frame, "cost"),
        (np.array([*map(list, expected)], object), "3"),
    )
    for source, name in sources:
        data = read(source, kind="graphs", domain=DOMAIN, columns={"weight": name})
        listed = zip(data.edges(), data.weights.tolist(), strict=True)
        assert [(*ends, weight) for ends, weight in listed] == expected
        with pytest.raises(ReadError, match="weights=ignore"):
            read(source, kind="graphs", domain=DOMAIN)
        assert read(source, kind="graphs", domain=DOMAIN, options={"weights": "ignore"}).weights is None


def has_pandas():
    try:
        import pandas  # noqa: F401, ICN001
        import pyarrow  # noqa: F401, ICN001
    except ImportError:
        return False
    return True


def test_fields_of_an_edge_list_are_named_by_numbers(tmp_path):
    content = "7 ann bob 0.25\n8 bob cleo 4\n"
    columns = {"source": "2", "target": "3", "weight": "4"}
    data = load(content, tmp_path, "a.edges", columns=columns, options={"directed": "yes"})
    assert (data.edges(), data.weights.tolist()) == ([("ann", "bob"), ("bob", "cleo")], [0.25, 4])
    written = CODEC.name_columns(data, "edges", columns)
    assert written == {"source": "1", "target": "2", "weight": "3"}
    for name, message in (
        ("weight", "the fields of an edge have numbers instead of names; give that of the weight.* got 'weight'"),
        ("0", "numbers instead of names"),
        ("2", "one field of an edge list cannot have two roles"),
    ):
        with pytest.raises(ParameterError, match=message):
            load(content, tmp_path, "a.edges", columns={"weight": name})
    with pytest.raises(ReadError, match=r"a\.edges:1: the line has fewer than 5 fields, where the vertices of"):
        load(content, tmp_path, "a.edges", columns={"target": "5"})


def test_the_key_of_a_graphml_file_has_a_name_or_an_id_and_perhaps_a_default(tmp_path):
    edges = '<edge source="ann" target="bob"/><edge source="bob" target="cleo"><data key="a">2</data></edge>'

    def file(keys, later=""):
        return f'<graphml>{keys}<graph edgedefault="undirected">\n{edges}</graph>{later}</graphml>'

    default = '<key id="a" for="edge" attr.name="w"><default>7</default></key><key id="w" for="edge"/>'
    for name in ("w", "a"):
        assert load(file(default), tmp_path, "a.graphml", columns={"weight": name}).weights.tolist() == [7, 2]
    for content, message in (
        (file('<key id="a" for="node" attr.name="w"/>'), "there is no key of edges with the name 'w' before the graph"),
        (file('<key id="a" attr.name="w"/><key id="b" attr.name="w"/>'), "two keys of edges with the name 'w'"),
        (file("", '<key id="a" attr.name="w"/>'), "no key of edges"),
        (file(default, '<key id="z"/>'), "the keys of a file come before its graph; move them"),
        (file('<key id="a" attr.name="w"/>'), r"a\.graphml:2: the weight of the edge is missing"),
    ):
        with pytest.raises(ReadError, match=message):
            load(content, tmp_path, "a.graphml", columns={"weight": "w"})
    with pytest.raises(ReadError, match=r"a\.graphml:2: the edge has data besides its two ends"):
        load(
            file('<key id="z"><default>1</default></key>').replace('<data key="a">2</data>', ""), tmp_path, "a.graphml"
        )


def test_options_that_contradict_each_other_are_refused():
    for columns, options, message in (
        (WEIGHT, {"weights": "ignore"}, "a weight is named, and weights=ignore leaves it out; omit one of the two"),
        ({}, {"directed": "yes", "symmetrise": "yes"}, "directed=yes reads directions, and symmetrise=yes leaves them"),
        ({}, {"directed": "perhaps"}, "directed must be no or yes; got 'perhaps'"),
        ({"weight": "source"}, {}, "one column cannot have two roles"),
    ):
        with pytest.raises(ParameterError, match=message):
            read([("ann", "bob")], kind="graphs", domain=DOMAIN, columns=columns, options=options)
    with pytest.raises(ReadError, match="the table has no column 'km'"):
        read(pl.DataFrame({"source": [], "target": []}), kind="graphs", domain=DOMAIN, columns={"weight": "km"})


def test_numbers_are_read_exactly_as_they_are_written(tmp_path):
    texts = [
        "0.1",
        "9007199254740993",
        "1.7976931348623157e308",
        "4.9e-324",
        "123456789012345678901234567890",
        "+.5e-3",
    ]
    names = [f"v{number}" for number in range(len(texts) + 1)]
    domain = Domain.declare(vertex=names)
    lines = [f"{names[number]} {names[number + 1]} {text}" for number, text in enumerate(texts)]
    expected = [float(Fraction(text)) for text in texts]
    graph = load("\n".join(lines), tmp_path, "a.edges", domain=domain, columns={"weight": "3"})
    assert graph.weights.tolist() == expected
    links = [{"source": names[number], "target": names[number + 1]} for number in range(len(texts) - 1)]
    spelled = ",".join(json.dumps(link)[:-1] + f', "w": {text}}}' for link, text in zip(links, texts, strict=False))
    graph = load(f'{{"edges": [{spelled}]}}', tmp_path, "a.json", domain=domain, columns={"weight": "w"})
    assert graph.weights.tolist() == expected[:-1]


# ---- directions


def test_directions_are_read_where_they_are_declared(tmp_path):
    arcs = [("ann", "bob"), ("bob", "ann"), ("cleo", "bob")]
    directed = nx.DiGraph(arcs)
    nx.write_graphml(directed, tmp_path / "b.graphml")
    (tmp_path / "b.json").write_text(json.dumps(nx.node_link_data(directed)))
    (tmp_path / "b.edges").write_text("ann bob\nbob ann\ncleo bob\nann bob\n")
    cells = nx.to_scipy_sparse_array(directed, nodelist=NAMES[:3], weight=None)
    domain = Domain.declare(vertex=NAMES[:3])
    for source in (
        directed,
        nx.MultiDiGraph(arcs * 2),
        arcs,
        cells,
        *(tmp_path / f"b.{e}" for e in LISTED if e[0] in "egj"),
    ):
        data = read(source, kind="graphs", domain=domain, options={"directed": "yes"})
        assert (data.edges(), data.directed) == (arcs, True)
        both = read(source, kind="graphs", domain=domain, options={"symmetrise": "yes"})
        assert (both.edges(), both.directed) == ([("ann", "bob"), ("bob", "cleo")], False)


def test_data_without_directions_has_none_to_read(tmp_path):
    undirected = nx.Graph([("ann", "bob")])
    nx.write_graphml(undirected, tmp_path / "b.graphml")
    (tmp_path / "b.json").write_text(json.dumps(nx.node_link_data(undirected)))
    for source in (undirected, tmp_path / "b.graphml", tmp_path / "b.json"):
        with pytest.raises(ReadError, match="declared to have no direction; omit the reading option directed"):
            read(source, kind="graphs", domain=DOMAIN, options={"directed": "yes"})
    with pytest.raises(ReadError, match="the list:2: an edge says that it has no direction; correct it, or drop such"):
        read([("ann", "bob"), {"ann", "cleo"}], kind="graphs", domain=DOMAIN, options={"directed": "yes"})


def test_an_edge_that_contradicts_its_file_is_refused_by_its_line(tmp_path):
    edge = '<edge source="ann" target="bob"{}/>\n'
    for default, own, options in (("undirected", "true", {}), ("directed", "false", {"directed": "yes"})):
        elements = edge.format("") + edge.format(f' directed="{own}"')
        content = f'<graphml><graph edgedefault="{default}">\n{elements}</graph></graphml>'
        with pytest.raises(ReadError, match=r"a\.graphml:3: an edge (is directed|says that it has no direction)"):
            load(content, tmp_path, "a.graphml", options=options)
        assert len(load(content, tmp_path, "a.graphml", options={**options, "on_bad": "drop"})) == 1
        assert len(load(content, tmp_path, "a.graphml", options={"symmetrise": "yes"})) == 1


def test_an_edge_is_listed_twice_in_its_own_direction_only(tmp_path):
    content = "ann bob\nbob ann\nann cleo\n"
    options = {"directed": "yes", "duplicates": "error"}
    assert len(load(content, tmp_path, "a.edges", options=options)) == 3
    with pytest.raises(ReadError, match=r"a\.edges:1: the edge on this line is listed twice"):
        load(content + "ann bob\n", tmp_path, "a.edges", options=options)


# ---- two weights of one edge


def test_two_weights_of_an_edge_are_its_own_affair(tmp_path):
    content = "ann bob 1\nbob cleo 2\nann bob 1.0\nbob ann 3\nann bob 3\n"
    for options in ({}, {"duplicates": "collapse"}):
        with pytest.raises(ReadError, match=r"a\.edges:4: the edge on this line was listed with another weight before"):
            load(content, tmp_path, "a.edges", columns={"weight": "3"}, options=options)
    with progress.counting() as counts:
        data = load(content, tmp_path, "a.edges", columns={"weight": "3"}, options={"on_bad": "drop"})
    assert (data.edges(), data.weights.tolist()) == ([("bob", "cleo")], [2])
    assert counts == {"records dropped": 4, "edges with two weights": 1}
    arcs = load(content[:-10], tmp_path, "a.edges", columns={"weight": "3"}, options={"directed": "yes"})
    assert arcs.weights.tolist() == [1, 3, 2]


def test_the_two_cells_of_a_pair_have_one_weight():
    full = np.array([[0, 2, 0, 0], [3, 0, 4, 0], [0, 4, 0, 0], [0, 0, 0, 0]])
    columns = {"weight": "value"}
    with pytest.raises(ReadError, match="the matrix:2: the edge on this line was listed with another weight before"):
        read(sparse.csr_array(full), kind="graphs", domain=DOMAIN, columns=columns)
    kept = read(sparse.csr_array(full), kind="graphs", domain=DOMAIN, columns=columns, options={"on_bad": "drop"})
    assert (kept.edges(), kept.weights.tolist()) == ([("bob", "cleo")], [4])
    arcs = read(sparse.csr_array(full), kind="graphs", domain=DOMAIN, columns=columns, options={"directed": "yes"})
    assert arcs.weights.tolist() == [2, 3, 4, 4]
    stored = sparse.csr_array(([1.0, 0.0], ([0, 1], [1, 0])), shape=(4, 4))
    with pytest.raises(ReadError, match="the matrix:2: the weight of the edge is missing, or not a finite number"):
        read(stored, kind="graphs", domain=DOMAIN, columns=columns, options={"directed": "yes"})


# ---- bad input, through the command line

BAD = {
    "negative": "-7.25",
    "zero": "0",
    "missing": "",
    "infinite": "inf",
    "NaN": "nan",
    "text": "SECRET",
    "huge": "1e999",
}
GOOD = [("ann", "bob", "2.5"), ("cleo", "dan", "1")]


def file_of(rows, form):
    """Write rows as they are, each on a line of its own."""
    if form == "edges":
        return "".join(f"{' '.join(row)}\n" for row in rows)
    if form == "csv":
        return "source,target,weight\n" + "".join(f"{','.join(row)}\n" for row in rows)
    if form == "graphml":
        edges = "".join(f'<edge source="{s}" target="{t}"><data key="w">{w}</data></edge>\n' for s, t, w in rows)
        key = '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
        return f'<graphml>{key}<graph edgedefault="undirected">\n{edges}</graph></graphml>'
    quoted = [{"source": s, "target": t, **({"weight": w} if w else {})} for s, t, w in rows]
    return '{"edges": [\n' + ",\n".join(map(json.dumps, quoted)) + "]}"


@pytest.fixture
def registered(monkeypatch, tmp_path):
    """The toy as a method of the command line, and a domain file."""
    monkeypatch.setitem(sys.modules, "hedgerow.kinds.graphs.methods.weight_toys", weight_toys)
    monkeypatch.setitem(METHODS, HalfWeights.name, "graphs.weight_toys:HalfWeights")
    (tmp_path / "domain.toml").write_text(f"[vertex]\nvalues = {json.dumps(NAMES)}\n")


def publish(folder, form, *more):
    column = "3" if form == "edges" else "weight"
    words = ["publish", f"a.{form}", "--kind", "graphs", "--domain", "domain.toml", "--method", HalfWeights.name]
    return run([*words, "--columns", f"weight={column}", "--out", "R", *more], folder)


def refused(ran, folder, message):
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert message in ran.err
    assert not any(text in ran.err for text in ("SECRET", "7.25", "1e999"))
    assert not (folder / "R").exists()


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("form", ["edges", "csv", "graphml", "json"])
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_weight_is_one_line_of_error(tmp_path, form, bad):
    (tmp_path / f"a.{form}").write_text(file_of([GOOD[0], ("bob", "cleo", BAD[bad]), GOOD[1]], form))
    line = 2 if form == "edges" else 3
    message = f"a.{form}:{line}: the weight of the edge is missing, or not a finite number above 0; correct it"
    refused(publish(tmp_path, form), tmp_path, message)
    assert publish(tmp_path, form, "--read", "on_bad=drop").code == 0
    assert len(read_release(tmp_path / "R").data) == 2


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("form", ["edges", "csv", "graphml", "json"])
def test_two_weights_and_undeclared_ones_are_one_line_of_error(tmp_path, form):
    (tmp_path / f"a.{form}").write_text(file_of([*GOOD, ("bob", "ann", "7.25")], form))
    line = 3 if form == "edges" else 4
    refused(publish(tmp_path, form), tmp_path, f"a.{form}:{line}: the edge on this line was listed with another weight")
    words = f"publish a.{form} --kind graphs --domain domain.toml --method tmf --epsilon 9 --unit edge --out R"
    ran = run(words, tmp_path)
    refused(ran, tmp_path, "with --columns weight=" if form != "edges" else "such as --columns weight=3")


PATHS = {
    "an unknown vertex": ("ann SECRET\n", "h.edges:1: a vertex is not in the network"),
    "a pair with itself": ("ann bob\n\nann ann\n", "h.edges:3: a path joins a vertex to itself; remove it"),
    "one field": ("ann\n", "h.edges:1: the line has one field, and an edge needs two vertices"),
    "three fields": ("ann bob 7.25\n", "h.edges:1: the line has more than two fields, and a pair is two vertices"),
    "no text": ("\0\n", "h.edges:1: a zero byte"),
}


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", PATHS)
def test_bad_pairs_of_paths_are_one_line_of_error(tmp_path, name):
    content, message = PATHS[name]
    (tmp_path / "a.csv").write_text(file_of(GOOD, "csv"))
    (tmp_path / "h.edges").write_text(content)
    refused(publish(tmp_path, "csv", "--read", "paths=h.edges"), tmp_path, message)
    (tmp_path / "v.txt").write_text("ann\nSECRET\n")
    refused(publish(tmp_path, "csv", "--read", "between=v.txt"), tmp_path, "v.txt:2: a vertex is not in the network")
    refused(publish(tmp_path, "csv", "--read", "between=no.txt"), tmp_path, "there is no file no.txt")
    refused(publish(tmp_path, "csv", "--read", "paths=h.xml"), tmp_path, "h.xml: pairs of vertices are read from files")


# ---- paths that must stay


def test_pairs_and_vertices_between_which_paths_stay(tmp_path):
    (tmp_path / "h.edges.gz").write_bytes(compress(b"# pairs\ncleo ann\nann cleo\ndan bob\ncleo ann\n", "gz"))
    (tmp_path / "h.csv").write_text("target,source\nann,cleo\ncleo,ann\nbob,dan\n")
    pl.DataFrame({"source": ["cleo", "ann", "dan"], "target": ["ann", "cleo", "bob"]}).write_parquet(
        tmp_path / "h.parquet"
    )
    (tmp_path / "v.txt").write_bytes(b"dan\r\nann\n\ndan\n")
    for name in ("h.edges.gz", "h.csv", "h.parquet"):
        options = {"paths": str(tmp_path / name), "between": str(tmp_path / "v.txt")}
        graph = read([("ann", "bob")], kind="graphs", domain=DOMAIN, options=options)
        listed = np.sort(graph.paths.listed, axis=1).tolist()
        assert (listed, graph.paths.between.tolist()) == ([[0, 2], [1, 3]], [0, 3])
        arcs = read([("ann", "bob")], kind="graphs", domain=DOMAIN, options={**options, "directed": "yes"})
        assert sorted(arcs.paths.listed.tolist()) == [[0, 2], [2, 0], [3, 1]]
    bare = read([("ann", "bob")], kind="graphs", domain=DOMAIN)
    assert bare.paths is None
    (tmp_path / "none.edges").write_text("")
    empty = read([("ann", "bob")], kind="graphs", domain=DOMAIN, options={"paths": str(tmp_path / "none.edges")})
    assert len(empty.paths.listed) == 0


def test_lines_of_paths_can_be_dropped_and_are_counted(tmp_path):
    (tmp_path / "h.csv").write_text("source,target\nann,bob\nann,eve\nann,ann\n,bob\n")
    (tmp_path / "v.txt").write_text("ann\neve\n")
    options = {"paths": str(tmp_path / "h.csv"), "between": str(tmp_path / "v.txt"), "on_bad": "drop"}
    with progress.counting() as counts:
        graph = read([("ann", "bob")], kind="graphs", domain=DOMAIN, options=options)
    assert (graph.paths.listed.tolist(), graph.paths.between.tolist()) == ([[0, 1]], [0])
    assert counts == {"pairs and vertices of paths left out": 4}
    (tmp_path / "h.csv").write_text("source,target,more\nann,bob,x\n")
    with pytest.raises(ReadError, match=r"h\.csv has columns besides source and target; remove them"):
        read([("ann", "bob")], kind="graphs", domain=DOMAIN, options=options)


@pytest.mark.usefixtures("registered")
def test_files_of_paths_belong_to_the_owner_and_to_the_recipe(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "a.csv").write_text(file_of(GOOD, "csv"))
    (tmp_path / "private" / "pairs.edges").write_text("ann bob\n")
    ran = publish(tmp_path, "csv", "--read", "paths=private/pairs.edges", "--save-recipe", "jobs/again.toml")
    assert ran.code == 0
    assert 'paths = "../private/pairs.edges"' in (tmp_path / "jobs" / "again.toml").read_text()
    assert not any(
        b"private" in path.read_bytes() or b"pairs.edges" in path.read_bytes() for path in (tmp_path / "R").iterdir()
    )
    assert "pairs that are listed: 1" in (tmp_path / "R" / "STATEMENT.md").read_text()
    assert run("publish --recipe again.toml --out ../S", tmp_path / "jobs").code == 0
    assert (tmp_path / "S" / "data.csv").read_bytes() == (tmp_path / "R" / "data.csv").read_bytes()
    inside = publish(tmp_path, "csv", "--read", "paths=R/h.edges", "--overwrite")
    assert (inside.code, "is inside R, the folder that is published" in inside.err) == (3, True)
    reading = "--columns weight=weight --read paths=private/pairs.edges"
    ran = run(f"evaluate R --against a.csv {reading} --scores private/pairs.edges", tmp_path)
    assert (ran.code, "is another type of file; it is not replaced" in ran.err) == (2, True)
    assert (tmp_path / "private" / "pairs.edges").read_text() == "ann bob\n"


# ---- node-link JSON

WRONG = {
    "no JSON": ('{"edges": [\n{]}', r"a\.json:2: this is not JSON; correct the file"),
    "cut off": ('{"edges": [', r"this is not JSON|must be one JSON object"),
    "a list": ("[]", "must be one JSON object such as"),
    "edges of another type": ('{"edges": 7}', "must be one JSON object such as"),
    "no edges": ('{"nodes": []}', 'must have its edges in one list, either "edges" or "links"'),
    "two lists": ('{"edges": [], "links": []}', "must have its edges in one list"),
    "directions that are no truth value": ('{"directed": "SECRET", "edges": []}', "must be one JSON object such as"),
    "not UTF-8": (b'{"edges": [{"source": "\xff", "target": "a"}]}', "JSON"),
    "deep": ('{"graph": ' + "[" * 10**6 + '], "edges": []}', "nested too deep; flatten it"),
    "directed": ('{"directed": true, "edges": []}', "declared to be directed; read them as they are"),
    "a node without id": ('{"nodes": [{"name": "SECRET"}], "edges": []}', "node number 1 must be an object such as"),
    "half a pair of surrogates": ('{"edges": [{"source": "\\ud800", "target": "a"}]}', "this is not JSON"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_no_node_link_json_is_refused_in_one_line(tmp_path, name):
    content, message = WRONG[name]
    with pytest.raises(ReadError, match=message) as caught:
        load(content, tmp_path, "a.json")
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "edge",
    [
        *(
            "7",
            "{}",
            '{"source": "ann"}',
            '{"source": 1.5, "target": "bob"}',
            '{"source": "ann", "target": ["SECRET"]}',
        ),
        *('{"source": "ann", "source": "bob", "target": "cleo"}', '{"source": "ann", "target": null}'),
    ],
)
def test_an_edge_of_json_that_cannot_be_read_is_refused_with_its_line(tmp_path, edge):
    content = '{"nodes": [],\n "edges": [{"source": "ann", "target": "bob"},\n\n' + edge + "]}"
    with pytest.raises(
        ReadError, match=r"a\.json:4: an edge must be a JSON object whose 'source' and 'target'"
    ) as caught:
        load(content, tmp_path, "a.json")
    assert "SECRET" not in str(caught.value)
    assert load(content, tmp_path, "a.json", options={"on_bad": "drop"}).edges() == [("ann", "bob")]


def test_json_of_networkx_is_read_with_names_of_its_own(tmp_path):
    graph = nx.MultiGraph([("ann", "bob"), ("ann", "bob"), ("bob", "cleo")])
    content = json.dumps(nx.node_link_data(graph, edges="links", source="from", target="to"))
    data = load("\ufeff" + content, tmp_path, "a.json", columns={"source": "from", "target": "to"})
    assert data.edges() == [("ann", "bob"), ("bob", "cleo")]
    inferred = load('{"nodes": [{"id": 3}, {"id": 1}], "edges": []}', tmp_path, "a.json", domain=None)
    assert inferred.domain.values("vertex") == (1, 3)


# ---- data sets


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "vertices", "edges", "heaviest"),
    [
        ("eies/eies_acquaintance_time2.edges", {"directed": "yes"}, 34, 830, 4),
        ("us-airports/us_airports_500.edges", {}, 500, 2_980, 2_253_992),
        ("condmat-weighted/condmat_coauthors.edges.gz", {}, 16_264, 47_594, 22.333333),
        ("netscience/netscience.edges", {}, 1_461, 2_742, 4.75),
    ],
)
def test_public_weighted_networks_have_the_published_sizes(name, options, vertices, edges, heaviest):
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    columns = {"weight": "3"}
    data = read(Path(folder) / name, kind="graphs", assert_public_domain=True, columns=columns, options=options)
    assert (data.domain.size("vertex"), len(data)) == (vertices, edges)
    assert data.weights.max() == heaviest
