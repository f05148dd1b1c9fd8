"""Node-link JSON: one object with the nodes and the edges of a graph, as networkx and d3 write it.

The document as a whole must be JSON; each node and edge in it is read alone. Of an edge its ends are read, and the one
attribute that is declared to be its weight; attributes may hold anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Never

import msgspec
import numpy as np

from hedgerow.data.encoding import text_of
from hedgerow.errors import ReadError
from hedgerow.formats.dataframes import to_series
from hedgerow.formats.edge_table import EdgeColumns, EdgeTable, OutputEdges, refuse_edges
from hedgerow.formats.long_table import Delimiters, ReadRequest
from hedgerow.numerics.arrays import Integers

MORE = "the edge has attributes; name that of the weight with --columns weight=NAME, or ignore all with weights=ignore"
_SHAPE = '{"directed": false, "nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}'
_PLACE = re.compile(r"\(byte (\d+)\)")
#: a number in JSON, and the most bytes of a weight
_NUMBER, _LONGEST = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"), 400
_NOTHING = msgspec.Raw(b"")


class _Document(msgspec.Struct):
    """A file; what it says of the graph as a whole is not read."""

    directed: bool | None = None
    multigraph: bool = False
    nodes: list[msgspec.Raw] = []
    edges: msgspec.Raw = _NOTHING
    links: msgspec.Raw = _NOTHING


class _Node(msgspec.Struct):
    id: str | int


_DOCUMENT = msgspec.json.Decoder(_Document)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_NODE = msgspec.json.Decoder(_Node)
_EDGE = msgspec.json.Decoder(dict[str, msgspec.Raw])
_END: msgspec.json.Decoder[str | int] = msgspec.json.Decoder(str | int)
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def read(where: str, content: bytes, request: ReadRequest, most: int) -> EdgeTable:
    """Read the nodes and edges of the graph of a file."""
    del most
    document, edges, line = _parse(where, content)
    read_names = {request.columns[role] for role in (*request.required, *request.optional)}
    if document.multigraph:
        read_names.add("key")  # it tells the edges between two vertices apart
    rows: dict[str, list[Any]] = {role: [] for role in (*request.required, *request.optional)}
    lines: list[int] = []
    further: list[bool] = []
    for number, raw in enumerate(edges):
        attributes = _attributes(raw)
        ends = None if attributes is None else _ends(attributes, request)
        if attributes is None or ends is None:
            names = " and ".join(repr(request.columns[role][:40]) for role in ("source", "target"))
            what = f"an edge must be a JSON object whose {names} are texts or whole numbers; correct it"
            refuse_edges(where, int(line[number]), what, request)
            continue
        rows["source"].append(ends[0])
        rows["target"].append(ends[1])
        if "weight" in rows:
            rows["weight"].append(_weight(attributes.get(request.columns["weight"])))
        lines.append(int(line[number]))
        further.append(not attributes.keys() <= read_names)
    columns = {role: to_series(cells)[0] for role, cells in rows.items()}
    marks = {"further": np.array(further, np.bool_)}
    table = EdgeColumns(columns, np.array(lines, np.int64), marks).to_table(where, request)
    vertices = _vertices(where, document, request)
    return EdgeTable(table, vertices=vertices, directed=document.directed, marks=marks, more=MORE)


def write(edges: OutputEdges, columns: Mapping[str, str]) -> bytes:
    """Write all vertices in their order, then one edge per line."""
    directed = "true" if edges.directed else "false"
    nodes = b",\n".join(b'{"id": %b}' % msgspec.json.encode(value) for value in edges.vertices)
    source, target = (msgspec.json.encode(columns[role]) for role in ("source", "target"))
    delimiters = Delimiters(b"{%b: " % source, b", %b: " % target, b"},\n")
    weight = b"" if edges.weights is None else b", %b: " % msgspec.json.encode(columns["weight"])
    lines = edges.to_lines(msgspec.json.encode, delimiters, weight) if len(edges.first) else b""
    head = f'{{"directed": {directed}, "multigraph": false, "graph": {{}}, "nodes": [\n'
    return head.encode() + nodes + b'\n], "edges": [\n' + lines.removesuffix(b",\n") + b"\n]}\n"


def _parse(where: str, content: bytes) -> tuple[_Document, list[msgspec.Raw], Integers]:
    """Take a file apart: the document, its edges as they are written, and the line of each."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        document = _DOCUMENT.decode(content)
        given = [raw for raw in (document.edges, document.links) if bytes(raw)]
        if len(given) != 1:
            msg = f'{where} must have its edges in one list, either "edges" or "links": {_SHAPE}'
            raise ReadError(msg)
        edges = _LIST.decode(given[0])
    except RecursionError:
        msg = f"{where}: its lists and objects are nested too deep; flatten it"
        raise ReadError(msg) from None
    except _UNREADABLE as error:
        _fail(where, content, error)
    return document, edges, _lines(content, bytes(given[0]), edges)


def _fail(where: str, content: bytes, error: Exception) -> Never:
    """Refuse a file; the library's messages may quote a name in it."""
    place = _PLACE.search(str(error))
    if place is None or isinstance(error, msgspec.ValidationError):
        msg = f"{where} must be one JSON object such as {_SHAPE}"
        raise ReadError(msg) from None
    line = content.count(b"\n", 0, int(place.group(1))) + 1
    msg = f"{where}:{line}: this is not JSON; correct the file"
    raise ReadError(msg) from None


def _lines(content: bytes, listed: bytes, edges: Sequence[msgspec.Raw]) -> Integers:
    """Return the line in which each edge begins."""
    at = max(0, content.find(listed)) + 1
    starts = np.zeros(len(edges), np.int64)
    for number, raw in enumerate(edges):
        text = bytes(raw)
        at = content.find(text, at)
        starts[number] = at
        at += len(text)
    breaks = np.flatnonzero(np.frombuffer(content, np.uint8) == b"\n"[0])
    return np.searchsorted(breaks, starts) + 1


def _attributes(raw: msgspec.Raw) -> dict[str, msgspec.Raw] | None:
    """Read one edge as an object, whose values are not read; None if it is none, or has two values under one name."""
    try:
        attributes = _EDGE.decode(raw)
    except _UNREADABLE:
        return None
    text = bytes(raw)
    if text.count(b":") == len(attributes):
        return attributes
    try:
        pairs = json.loads(text, object_pairs_hook=list, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return attributes if len(pairs) == len(attributes) else None


def _ends(attributes: Mapping[str, msgspec.Raw], request: ReadRequest) -> tuple[str | int, str | int] | None:
    """Read the two ends of an edge; None if one is no text or whole number."""
    try:
        source, target = (_END.decode(attributes[request.columns[role]]) for role in ("source", "target"))
    except (KeyError, *_UNREADABLE):
        return None
    return (source, target) if text_of(source) and text_of(target) else None


def _weight(raw: msgspec.Raw | None) -> str | None:
    """Return the digits of a number, so that they are read exactly; a text may hold them, too."""
    text = b"" if raw is None else bytes(raw).strip()
    if text[:1] == b'"':
        text = text[1:-1]
    return text.decode() if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None


def _vertices(where: str, document: _Document, request: ReadRequest) -> list[str]:
    """Read the identifiers of nodes."""
    vertices: list[str] = []
    for number, raw in enumerate(document.nodes, start=1):
        try:
            text = text_of(_NODE.decode(raw).id)
        except _UNREADABLE:
            text = None
        if text:
            vertices.append(text)
        elif not request.drop_bad:
            msg = f'{where}: node number {number} must be an object such as {{"id": "ann"}}; correct it'
            raise ReadError(msg)
    return vertices
