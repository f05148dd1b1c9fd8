"""GraphML from strangers: what is not read, and files made to harm their reader."""

from __future__ import annotations

import random
import time
import tracemalloc

import networkx as nx
import pytest
from terminal import run

from hedgerow import Domain, Graph, read
from hedgerow.errors import HedgerowError, ReadError
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import ending_of

DOMAIN = Domain.declare(vertex=["a", "b", "c"])
HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
EDGE = '<edge source="a" target="b"/>'
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))


def document(inside=EDGE, default="undirected", head=HEAD, before=""):
    return f'{before}{head}<graph edgedefault="{default}">\n{inside}</graph></graphml>'


def load(content, folder, **more):
    path = folder / "a.graphml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(path, kind="graphs", **{"domain": DOMAIN, **more})


@pytest.mark.parametrize(
    "content",
    [
        document(),
        document(head="<graphml>"),
        document(head='<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">')
        .replace("<graph ", "<g:graph ")
        .replace("<edge", "<g:edge")
        .replace("</graph>", "</g:graph>")
        .replace("</graphml>", "</g:graphml>"),
        document(before='<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<!-- made by hand -->'),
        "\ufeff" + document(),
        document('<node id="a"><data key="k">text</data></node>' + EDGE),
        document('<edge id="e" source="a" target="b" sourceport="x" directed="false"><desc>3</desc></edge>'),
        document('<y:edge xmlns:y="urn:y" source="a" target="c"/>' + EDGE),
        document('<data key="k"><edge source="a" target="c"/></data>' + EDGE),
        document(EDGE, head=HEAD + '<key id="w" for="edge"/><data key="z"/>'),
        document('<edge source="&#97;" target="&#x62;"/>'),
    ],
)
def test_edges_of_the_graph_are_read_and_nothing_else(tmp_path, content):
    assert load(content, tmp_path).edges() == [("a", "b")]


def test_files_of_networkx_are_read(tmp_path):
    graph = nx.les_miserables_graph()
    nx.write_graphml(graph, tmp_path / "les.graphml")
    with pytest.raises(ReadError, match=r"les\.graphml:82: the edge has data besides its two ends; name that of the"):
        read(tmp_path / "les.graphml", kind="graphs", assert_public_domain=True)
    options = {"weights": "ignore"}
    data = read(tmp_path / "les.graphml", kind="graphs", assert_public_domain=True, options=options)
    assert (len(data), data.domain.size("vertex")) == (254, 77)
    assert set(map(frozenset, data.edges())) == set(map(frozenset, graph.edges()))


REFUSED = {
    "billion laughs": (
        document('<edge source="&l29;" target="a"/>', before=f'<!DOCTYPE graphml [<!ENTITY l0 "ha">{LAUGHS}]>'),
        r"a\.graphml:1: a document type \(DOCTYPE\) is not read, since it may define entities; remove it",
    ),
    "empty document type": (document(before="<!DOCTYPE graphml>"), "DOCTYPE"),
    "external document type": (document(before='<!DOCTYPE graphml SYSTEM "http://127.0.0.1:9/a.dtd">'), "DOCTYPE"),
    "external entity": (
        document(
            '<edge source="&x;" target="a"/>', before='<!DOCTYPE graphml [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
        ),
        "DOCTYPE",
    ),
    "entity without declaration": (document('<edge source="&x;" target="a"/>'), r":2: .*XML \(undefined entity\)"),
    "deep nesting": (document("<data>" * 200 + "</data>" * 200), ":2: elements are nested more than 100 deep"),
    "deeper nesting": ("<graphml>" + "<a>" * 1_000_000, "elements are nested more than 100 deep"),
    "huge attribute": (
        document(f'<edge source="{"SECRET" * 500_000}" target="a"/>'),
        "a tag or comment is longer than 1,048,576 bytes",
    ),
    "huge comment": (document("<!--" + "<" * 3_000_000 + "-->"), "a tag or comment is longer than 1,048,576 bytes"),
    "truncated": (document()[:-10], r":2: this is not well-formed XML \(no element found\); correct the file"),
    "cut in a tag": (document()[:90], r"this is not well-formed XML \(unclosed token\)"),
    "empty": ("", r"a\.graphml:1: this is not well-formed XML \(no element found\)"),
    "no XML": ("a b\n", "this is not well-formed XML"),
    "zero byte": (document(EDGE + "\0"), r":2: this is not well-formed XML \(not well-formed"),
    "second document": (document() * 2, r"this is not well-formed XML \(junk after document element\)"),
    "attribute twice": (document('<edge source="a" source="b" target="c"/>'), r"XML \(duplicate attribute\)"),
    "not UTF-8": (document('<edge source="é" target="a"/>').encode("latin-1"), r"XML \(not well-formed"),
    "Latin-1": (
        document(before='<?xml version="1.0" encoding="ISO-8859-1"?>').encode("latin-1"),
        ":1: the encoding must be UTF-8; convert the file",
    ),
    "an unknown encoding": (document(before='<?xml version="1.0" encoding="x-none"?>'), "the encoding must be UTF-8"),
    "UTF-16": (document().encode("utf-16"), "the encoding must be UTF-8; convert the file"),
    "another vocabulary": ("<svg/>", "this is not GraphML, whose first element is graphml"),
    "another namespace": ('<graphml xmlns="urn:x"/>', "this is not GraphML, whose first element is graphml"),
    "no graph": (HEAD + "</graphml>", "there is no element graph in the file"),
    "two graphs": (
        f'{HEAD}<graph edgedefault="undirected"/><graph edgedefault="undirected"/></graphml>',
        "there are several graphs in the file; put each into a file of its own",
    ),
    "no default": (f"{HEAD}<graph/></graphml>", "edgedefault of the element graph must be directed or undirected"),
    "node without id": (document("<node/>"), ":2: a node needs an id; add it"),
    "directed": (
        document(default="directed"),
        "directed; read them as they are with the reading option directed=yes, or",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("options", [{}, {"on_bad": "drop"}])
def test_a_hostile_file_is_refused_in_one_line_without_harm(tmp_path, name, options):
    content, message = REFUSED[name]
    tracemalloc.start()
    start = time.monotonic()
    with pytest.raises(ReadError, match=message) as caught:
        load(content, tmp_path, options=options)
    assert time.monotonic() - start < 5
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * len(content) + 10**7
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    assert "SECRET" not in str(caught.value)


BAD_EDGES = {
    '<edge source="a"/>': ":3: an edge needs a source and a target; add them",
    '<edge source="" target="a"/>': ":3: an edge needs a source and a target",
    '<edge source="a" target="c" directed="yes"/>': ":3: the attribute directed of an edge must be true or false",
    '<edge source="a" target="c" directed="true"/>': ":3: an edge is directed; read it without directions",
    '<hyperedge><endpoint node="a"/></hyperedge>': ":3: an edge must have two ends, not be a hyperedge",
    '<edge source="a" target="SECRET"/>': ":3: a vertex is not in the domain; declare it",
    '<node id="d"><graph edgedefault="directed"><edge source="a" target="c"/></graph></node>': ":3: the graph of the "
    "file contains another graph; flatten it",
}


@pytest.mark.parametrize("element", BAD_EDGES)
def test_an_edge_that_cannot_be_read_is_refused_with_its_line_or_dropped(tmp_path, element):
    content = document(f"{EDGE}\n{element}\n")
    with pytest.raises(ReadError, match=BAD_EDGES[element]) as caught:
        load(content, tmp_path)
    assert "SECRET" not in str(caught.value)
    assert load(content, tmp_path, options={"on_bad": "drop"}).edges() == [("a", "b")]


def test_a_single_directed_edge_is_read_where_directions_do_not_matter(tmp_path):
    content = document('<edge source="b" target="a" directed="true"/>')
    assert load(content, tmp_path, options={"symmetrise": "yes"}).edges() == [("a", "b")]


def test_many_edges_are_packed_as_they_come(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.formats.graphml._PACK", 3)
    monkeypatch.setattr("hedgerow.formats.xml_parser._PIECE", 7)
    content = document((EDGE + "\n") * 7 + '<edge source="c" target="b"/>')
    assert load(content, tmp_path).edges() == [("a", "b"), ("b", "c")]
    with pytest.raises(ReadError, match=r"a\.graphml:9: a vertex is not in the domain"):
        load(content.replace('"c"', '"d"'), tmp_path)


@pytest.mark.parametrize("name", ["a.graphml", "a.edges", "a.csv"])
def test_broken_files_are_read_or_refused_in_one_line(tmp_path, name):
    """Bytes are changed, cut out and inserted at random; some of the files stay sound."""
    draw = random.Random(name)
    graph = Graph.from_edges([("a", "SECRET"), ("b", "c")], domain=Domain.declare(vertex=["a", "b", "c", "SECRET"]))
    codec = codec_of("graphs")
    sound = codec.write(
        graph, codec.format_name(None, ending_of(tmp_path / name)), {"source": "source", "target": "target"}
    )
    refused = 0
    for _ in range(500):
        content = bytearray(sound)
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(content) + 1)
            content[at : at + draw.randrange(6)] = draw.choice(
                [b"", b"<", b'"', b"&", b"\0", b"\xff", b"\n", b"<!", b" a "]
            )
        (tmp_path / name).write_bytes(content)
        try:
            read(tmp_path / name, kind="graphs", domain=draw.choice([DOMAIN, None]))
        except HedgerowError as error:
            refused += 1
            assert (error.exit_code, "SECRET" in str(error), "\n" in str(error)) == (2, False, False)  # noqa: PT017
    assert 0 < refused < 500


def test_the_command_line_refuses_a_hostile_file_with_code_2(tmp_path):
    (tmp_path / "a.graphml").write_text(REFUSED["billion laughs"][0])
    ran = run("describe a.graphml --kind graphs", tmp_path)
    assert ran.code == 2
    assert ran.err.startswith("hedgerow: a.graphml:1: a document type (DOCTYPE) is not read")
    assert ran.err.count("\n") == 1
