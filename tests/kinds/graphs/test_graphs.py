"""Graphs from files and objects to a release and back: formats, declared rules, one line per refusal."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hedgerow import Domain, Graph, PureDP, progress, read, read_release, write_release
from hedgerow.errors import DomainError, HedgerowError, MissingExtra, ParameterError, ReadError
from hedgerow.formats import edge_list
from hedgerow.formats.codec import codec_of, explain
from hedgerow.formats.domains import draft_domain, read_domain
from hedgerow.formats.files import Ending, compress
from hedgerow.privacy import Laplace
from hedgerow.publisher import Publisher
from hedgerow.statement import File
from hedgerow.testing import build_edge_cases, strategies

NAMES = ["ann", "bob", "cleo", "dan"]
DOMAIN = Domain.declare(vertex=NAMES)
EDGES = [("ann", "bob"), ("ann", "cleo"), ("bob", "cleo")]
LINES = b"# friends\nbob ann\n\n% and more\ncleo\tann\n  bob   cleo \nann bob\n"
CODEC = codec_of("graphs")
COLUMNS = {role: role for role in CODEC.written}
FORMATS = sorted(CODEC.formats)


def load(content, folder, name="a.edges", **more):
    path = folder / name
    path.write_bytes(content)
    return read(path, kind="graphs", **{"domain": DOMAIN, **more})


def again(graph, form):
    """Write a graph and read it."""
    content = CODEC.write(graph, form, COLUMNS)
    laid = CODEC.formats[form].read("there", content, CODEC.request({}, {}), 10**9)
    return CODEC.make(laid, graph.domain, graph.domain.source, {})


def test_there_are_no_persons(tmp_path):
    """Edges have no owners, so an option about owners would promise something that is not done."""
    for kind in ("graphs", "records"):
        with pytest.raises(ParameterError, match=f"{kind} have no unit 'person'; omit --records-per-person"):
            read(tmp_path / "x", kind=kind, records_per_person=2)


@pytest.mark.parametrize(
    ("first", "second"),
    [([1], [0]), ([1], [1]), ([-1], [1]), ([0], [4]), ([0, 0], [1, 1]), ([0, 0], [2, 1]), ([1, 0], [2, 1]), ([0], [])],
    ids=["turned", "loop", "negative", "outside", "twice", "second unsorted", "first unsorted", "uneven"],
)
def test_a_graph_of_other_columns_is_refused(first, second):
    with pytest.raises(DomainError, match=r"sorted, distinct pairs first < second .*; use Graph.from_columns"):
        Graph(DOMAIN, np.array(first, np.int32), np.array(second, np.int32))
    with pytest.raises(DomainError, match="sorted, distinct pairs"):
        Graph(DOMAIN, np.array([0.0]), np.array([1.0]))


# ---- formats


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", build_edge_cases("graphs"))
def test_edge_cases_come_back_in_every_format(name, form):
    graph = build_edge_cases("graphs")[name]
    assert again(graph, form).to_bytes() == graph.to_bytes()


word = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(lambda text: "\0" not in text)


@given(st.lists(word, min_size=2, max_size=6, unique=True), st.data())
def test_graphs_on_any_vertices_come_back_or_are_refused(names, data):
    form = data.draw(st.sampled_from(FORMATS))
    pairs = data.draw(st.lists(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)))
    graph = Graph.from_edges(map(tuple, pairs), domain=Domain.declare(vertex=names))
    try:
        CODEC.formats[form].check(names)
    except DomainError as error:
        refused = {
            "edges": "cannot be written to an edge list",
            "csv": "line breaks",
            "graphml": "control characters",
        }  # all others take any text
        assert refused[form] in str(error)  # noqa: PT017 - only these may refuse
        return
    assert again(graph, form).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize(
    ("form", "vertex", "message"),
    [
        *(("edges", name, "vertices that have blanks or start with % or #") for name in ("a b", "#a", "%", "\ufeffa")),
        *(("edges", name, "vertices that have blanks or start with % or #") for name in ("a\n", "\t")),
        *(("graphml", name, "vertices with control characters") for name in ("a\x01", "\x1b", "\ufffe")),
    ],
)
def test_vertices_that_would_not_come_back_are_refused(form, vertex, message):
    graph = Graph.from_edges([("x", vertex)], domain=Domain.declare(vertex=["x", vertex]))
    with pytest.raises(DomainError, match=message):
        again(graph, form)


@given(strategies.of_kind("graphs", least=0), st.sampled_from(FORMATS))
def test_what_is_written_is_simple_undirected_and_sorted(graph, form):
    back = again(graph, form)
    assert np.all(back.first < back.second)
    assert np.all(np.diff(back.ranks()) > 0)
    assert back.edges() == graph.edges()


@pytest.mark.parametrize("compression", ["", "gz", "zst"])
@pytest.mark.parametrize("ending", ["edges", "edgelist", "txt", "csv", "parquet", "graphml"])
def test_every_ending_gives_the_same_graph(tmp_path, ending, compression):
    form = CODEC.format_name(None, Ending(ending, ""))
    content = CODEC.write(Graph.from_edges(EDGES, domain=DOMAIN), form, COLUMNS)
    name = f"a.{ending}.{compression}" if compression else f"a.{ending}"
    assert load(compress(content, compression), tmp_path, name).edges() == EDGES


def test_edges_are_written_once_the_first_vertex_in_front():
    domain = Domain.declare(vertex=["z", "b", "a"])
    graph = Graph.from_edges([("a", "z"), ("b", "a"), ("b", "z")], domain=domain)
    assert CODEC.write(graph, "edges", COLUMNS) == b"z b\nz a\nb a\n"
    assert CODEC.write(graph, "csv", {"source": "from", "target": "to"}) == b"from,to\nz,b\nz,a\nb,a\n"


def test_comments_blanks_and_repetitions_of_an_edge_list(tmp_path):
    assert load(LINES, tmp_path).edges() == EDGES
    assert load(b"\xef\xbb\xbfann bob\r\nann cleo\r\nbob cleo", tmp_path).edges() == EDGES
    assert load(b"", tmp_path).edges() == []
    assert load(b"made today\nann bob\n", tmp_path, options={"skip_lines": "1"}).edges() == EDGES[:1]


def test_a_long_edge_list_is_read_in_pieces(tmp_path, monkeypatch):
    """Numbers in one piece and names in another are vertices of one graph, and lines keep their numbers."""
    monkeypatch.setattr(edge_list, "_PIECE", 10)
    content = b"1 2\n2 3\n" * 3 + b"ann bob\n1 ann\n"
    domain = Domain.declare(vertex=["1", "2", "3", "ann", "bob"])
    expected = [("1", "2"), ("1", "ann"), ("2", "3"), ("ann", "bob")]
    assert load(content, tmp_path, domain=domain).edges() == expected
    with pytest.raises(ReadError, match=r"a\.edges:9: the line has one field"):
        load(content + b"ann\n", tmp_path, domain=domain)


# ---- objects


def test_objects_and_tables_are_read_as_well():
    pandas = pytest.importorskip("pandas")
    frame = pl.DataFrame(EDGES, schema=["source", "target"], orient="row")
    array = np.array(EDGES)
    for source in (
        *(frame, frame.lazy(), frame.to_arrow(), pandas.DataFrame(EDGES, columns=["source", "target"])),
        *(EDGES, [list(edge) for edge in EDGES], tuple(EDGES), [set(edge) for edge in EDGES]),
        *(array, array.astype(object), nx.Graph(EDGES), nx.MultiGraph([*EDGES, *EDGES])),
    ):
        assert read(source, kind="graphs", domain=DOMAIN).edges() == EDGES
    named = frame.rename({"source": "from", "target": "to"})
    columns = {"source": "from", "target": "to"}
    assert read(named, kind="graphs", domain=DOMAIN, columns=columns).edges() == EDGES


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_matrix, sparse.csr_array, sparse.lil_matrix])
def test_a_row_of_an_adjacency_matrix_is_a_vertex_of_the_domain(make):
    full = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    assert read(make(full), kind="graphs", domain=DOMAIN).edges() == EDGES
    plain = read(make(full), kind="graphs", assert_public_domain=True)
    assert (plain.domain.values("vertex"), plain.edges()) == ((0, 1, 2, 3), [(0, 1), (0, 2), (1, 2)])
    with pytest.raises(ReadError, match="the matrix has 4 rows, and the domain 2 vertices; a row is a vertex"):
        read(make(full), kind="graphs", domain=Domain.declare(vertex=["a", "b"]))
    with pytest.raises(ReadError, match=r"as many columns as rows; its shape is \(2, 4\)"):
        read(make(full[:2]), kind="graphs")


def test_a_stored_zero_is_no_edge_and_cells_of_a_pair_are_summed():
    cells = ([0.0, 0.0, 1.0, 1.0, 1.0, -1.0], ([0, 1, 0, 2, 1, 1], [1, 0, 2, 0, 2, 2]))
    data = read(sparse.coo_matrix(cells, shape=(4, 4)), kind="graphs", domain=DOMAIN)
    assert data.edges() == [("ann", "cleo")]
    rows = ([1, -1, 1, -1], [1, 1, 0, 0], [0, 2, 4, 4, 4])
    assert read(sparse.csr_matrix(rows, shape=(4, 4)), kind="graphs", domain=DOMAIN).edges() == []


def test_networkx_and_back():
    graph = Graph.from_edges(EDGES, domain=DOMAIN)
    there = graph.to_networkx()
    assert (list(there.nodes), sorted(there.edges)) == (NAMES, EDGES)
    back = read(there, kind="graphs", assert_public_domain=True)
    assert (back.edges(), back.domain.values("vertex")) == (EDGES, tuple(NAMES))


def test_networkx_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"need the extra 'graph': pip install 'hedgerow\[graph\]'"):
        Graph.from_edges(EDGES, domain=DOMAIN).to_networkx()


# ---- vertices


def test_vertices_without_edges_are_those_that_the_source_lists(tmp_path):
    graphml = CODEC.write(Graph.from_edges(EDGES, domain=DOMAIN), "graphml", COLUMNS)
    for data in (
        load(graphml, tmp_path, "a.graphml", domain=None),
        read(Graph.from_edges(EDGES, domain=DOMAIN).to_networkx(), kind="graphs"),
    ):
        assert data.domain.values("vertex") == tuple(NAMES)
        assert data.domain.source.value == "inferred from the data"
    assert load(LINES, tmp_path, domain=None).domain.values("vertex") == tuple(NAMES[:3])
    with pytest.raises(ReadError, match="there are no edges to infer the vertices from; declare a domain"):
        load(b"# nobody\n", tmp_path, domain=None)


def test_vertices_are_looked_up_by_their_text(tmp_path):
    numbers, names = Domain.declare(vertex=[10, 9]), Domain.declare(vertex=["10", "9", "09"])
    assert load(b"9 10\n", tmp_path, domain=numbers).edges() == [(10, 9)]
    assert load(b"9 10\n9 09\n", tmp_path, domain=names).edges() == [("10", "9"), ("9", "09")]
    assert load(b"9 10\n", tmp_path, domain=None).domain.values("vertex") == (9, 10)


def test_a_domain_is_drafted_checked_and_declared(tmp_path):
    draft = draft_domain(load(LINES, tmp_path, domain=None).domain)
    assert "[vertex]" in draft
    path = tmp_path / "domain.toml"
    path.write_text(draft)
    with pytest.raises(HedgerowError, match="is a draft that was read from private data"):
        read_domain(path)
    path.write_text(draft.replace("read_from_private_data = true\n", ""))
    assert load(LINES, tmp_path, domain=read_domain(path)).edges() == EDGES


def test_a_graph_needs_two_vertices():
    with pytest.raises(DomainError, match="a graph needs at least two vertices, and the domain has one"):
        read([], kind="graphs", domain=Domain.declare(vertex=["ann"]))


# ---- declared rules


@pytest.mark.parametrize(
    ("content", "message", "rule"),
    [
        (b"ann bob\nann ann\n", "a.edges:2: an edge joins a vertex to itself; remove it", {"loops": "drop"}),
        (b"ann bob\nann SECRET\n", "a.edges:2: a vertex is not in the domain; declare it", {"on_unknown": "drop"}),
        (b"ann bob\ncleo\n", "a.edges:2: the line has one field, and an edge needs two", {"on_bad": "drop"}),
        (b"ann bob\n\xff ann\n", "a.edges:2: not UTF-8 text; convert the file", {"on_bad": "drop"}),
        (b"ann bob 0.5\n", "a.edges:1: the line has more than two fields; name that of the", {"weights": "ignore"}),
    ],
)
def test_what_is_not_an_edge_is_refused_unless_a_rule_is_declared(tmp_path, content, message, rule):
    for options in ({}, {"loops": "error", "duplicates": "collapse", "symmetrise": "no", "weights": "error"}):
        with pytest.raises(ReadError, match=message) as caught:
            load(content, tmp_path, options=options)
        assert "SECRET" not in str(caught.value)
    assert load(content, tmp_path, options=rule).edges() == EDGES[:1]


def test_repeated_edges_are_one_edge_or_an_error(tmp_path):
    for content, line in ((b"ann bob\nann cleo\nbob ann\n", 1), (b"bob cleo\nann bob\nann bob\n", 2)):
        assert load(content, tmp_path).edges() == sorted(load(content, tmp_path).edges())
        with pytest.raises(ReadError, match=f"a.edges:{line}: the edge on this line is listed twice; list it once"):
            load(content, tmp_path, options={"duplicates": "error"})
        once = load(content, tmp_path, options={"duplicates": "error", "on_bad": "drop"})
        assert len(once) == 1
    both_ways = {"duplicates": "error", "symmetrise": "yes"}
    assert load(b"ann bob\nbob ann\n", tmp_path, options=both_ways).edges() == EDGES[:1]


def test_directed_data_is_refused_unless_symmetrised(tmp_path):
    directed = nx.DiGraph([("ann", "bob"), ("bob", "ann"), ("cleo", "ann"), ("bob", "cleo")])
    text = "\n".join(nx.generate_graphml(directed)).encode()
    (tmp_path / "a.graphml").write_bytes(text)
    one_way = sparse.csr_matrix(np.triu(np.ones((4, 4)), 1)[:, [0, 1, 2, 3]])
    for source, message in (
        (directed, "the graph: the edges are declared to be directed"),
        (nx.MultiDiGraph(directed), "the graph: the edges are declared to be directed"),
        (tmp_path / "a.graphml", r"a\.graphml: the edges are declared to be directed"),
        (one_way, "the matrix:1: an edge is directed"),
    ):
        with pytest.raises(ReadError, match=rf"{message}; read .*directed=yes, .*without directions .*symmetrise=yes"):
            read(source, kind="graphs", domain=DOMAIN)
        data = read(source, kind="graphs", domain=DOMAIN, options={"symmetrise": "yes"})
        assert data.edges()[:3] == [*EDGES[:2], EDGES[2] if source is not one_way else ("ann", "dan")]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([("ann", "bob"), ("ann",)], "the list:2: an edge must be a pair of vertices, which are texts or whole"),
        ([("ann", "bob"), ("ann", "bob", 2)], "the list:2: the edge has more than two ends; give the number of its"),
        ([("ann", "bob"), {"ann", "bob", "cleo"}], "the list:2: an edge must be a pair of vertices"),
        ([("ann", "bob"), None], "the list:2: an edge must be a pair of vertices"),
        ([("ann", "bob"), ("ann", 1.5)], "the list:2: an edge must be a pair of vertices"),
        (nx.Graph([("ann", "bob"), ("ann", ("cleo", 1))]), "the graph:2: nodes must be texts or whole numbers"),
        (sparse.csr_matrix(np.array([[0, 1, np.nan, 0]] * 4)), "the matrix:1: a cell is not a number; correct it"),
        (pl.DataFrame({"source": ["ann", None], "target": ["bob", "cleo"]}), "the table:2: column 'source' is empty"),
    ],
)
def test_objects_that_are_no_edges_are_refused_with_their_number(source, message):
    with pytest.raises(ReadError, match=message):
        read(source, kind="graphs", domain=DOMAIN)
    data = read(source, kind="graphs", domain=DOMAIN, options={"on_bad": "drop", "symmetrise": "yes", "loops": "drop"})
    assert ("ann", "bob") in data.edges()


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (np.zeros((3, 1)), ReadError, r"an array of edges needs a column for each end; its shape is \(3, 1\)"),
        (np.zeros((3, 3)), ReadError, "the array:1: the edge has more than two ends; give the number of its weight"),
        (7, ReadError, "read takes a path, a table or a list of records; got int"),
        (
            nx.path_graph(5),
            ReadError,
            "a vertex is not in the domain; declare it",
        ),
        (nx.empty_graph(["ann", "eve"]), ReadError, "the graph: a vertex without edges is not in the domain; declare"),
        (nx.empty_graph(["ann", 1.5]), ReadError, "the graph: nodes must be texts or whole numbers; rename them"),
        (pl.DataFrame({"a": [1]}), ReadError, "has no column 'source'; name the column that holds the source"),
    ],
)
def test_other_objects_are_refused(source, error, message):
    with pytest.raises(error, match=message):
        read(source, kind="graphs", domain=DOMAIN)


@pytest.mark.parametrize("name", ["loops", "duplicates", "symmetrise", "weights", "on_unknown"])
def test_an_option_has_the_values_that_its_help_names(name):
    with pytest.raises(ParameterError, match=f"{name} must be .* or .*; got 'perhaps'"):
        read([("ann", "bob")], kind="graphs", domain=DOMAIN, options={"duplicates": "error", name: "perhaps"})
    assert "default" in CODEC.options[name]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "vertices", "edges"), [("ca-grqc", 5_242, 14_484), ("wiki-vote", 7_115, 100_762)])
def test_public_networks_have_the_published_sizes(name, vertices, edges):
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    path = Path(folder) / name / f"{name}.edges.gz"
    data = read(path, kind="graphs", assert_public_domain=True, options={"loops": "drop"})
    assert (data.domain.size("vertex"), len(data)) == (vertices, edges)


# ---- releases


@dataclass(frozen=True, kw_only=True)
class FirstPairs(Publisher[Graph]):
    """Publish as many edges as there are, with noise, between the first pairs of vertices."""

    name: ClassVar[str] = "toy-first-pairs"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("edge",)

    def run(self, data: Graph, ledger) -> Graph:
        noisy = ledger.ask(np.array([len(data)]), Laplace(l1=1), spend=ledger.budget, label="edges")
        return Graph.from_ranks(np.arange(min(max(int(noisy[0]), 0), data.pairs)), data.domain)


@pytest.mark.parametrize("ending", ["edges", "txt.gz", "csv", "parquet", "graphml.zst"])
def test_a_release_has_the_vertices_of_its_domain_in_every_format(tmp_path, ending):
    data = Graph.from_edges(EDGES, domain=DOMAIN)
    release = FirstPairs().publish(data, PureDP(epsilon=1, unit="edge"), seed=3)
    write_release(release, tmp_path / "R", like=f"in.{ending}")
    received = read_release(tmp_path / "R").data
    assert received.to_bytes() == release.data.to_bytes()
    assert received.domain.values("vertex") == tuple(NAMES)
    statement = (tmp_path / "R" / "STATEMENT.md").read_text()
    assert "Edges have no direction. Each is listed once, in the order of the vertices." in statement
    assert "one edge per" in statement or "one `edge` element per edge" in statement


def test_the_statement_says_what_the_columns_are():
    file = File("", "graphs", "data.csv", "", "csv", {"source": "from", "target": "to"})
    assert "one edge per line. Column `from` is the source, `to` is the target." in explain([file])


def test_the_owner_is_told_what_was_dropped_and_collapsed(tmp_path):
    content = b"ann bob\nbob ann\nann bob\ncleo cleo\nann eve\n"
    with progress.counting() as counts:
        load(content, tmp_path, options={"loops": "drop", "on_unknown": "drop"})
    assert counts == {"edges with a vertex outside the domain": 1, "loops dropped": 1, "edges listed again": 2}
