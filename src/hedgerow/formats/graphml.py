"""GraphML: nodes and edges of one graph.

Only identifiers of nodes and ends of edges are read; data, keys and ports are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import DomainError
from hedgerow.formats.edge_table import EdgeColumns, EdgeTable, OutputEdges, refuse_edges
from hedgerow.formats.long_table import Delimiters, ReadRequest
from hedgerow.formats.xml_parser import BETWEEN, Attributes, XmlParser, escape, has_only_characters

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_NAMESPACE}">\n<graph edgedefault="undirected">\n'
_FOOT = b"</graph>\n</graphml>\n"
#: how deep elements may be nested
_DEEPEST = 100
#: how many edges are collected before they are packed into columns
_PACK = 1 << 16
#: elements at these depths: the document, its graph, and the nodes and edges of the graph
_DOCUMENT, _GRAPH, _CONTENT = range(3)
_DIRECTIONS = {"true": True, "1": True, "false": False, "0": False}


def read(where: str, content: bytes, request: ReadRequest, most: int) -> EdgeTable:
    """Read the nodes and edges of the graph of a file."""
    del most
    reader = _Reader(where, request)
    reader.parse(content)
    return reader.edges()


def check(values: Sequence[Value]) -> None:
    """Refuse vertices with characters that XML does not have."""
    for value in values:
        if isinstance(value, str) and not has_only_characters(value):
            msg = "vertices with control characters cannot be written to GraphML; use CSV or Parquet"
            raise DomainError(msg)


def write(edges: OutputEdges, columns: Mapping[str, str]) -> bytes:
    """Write all vertices in their order, then one element per edge."""
    del columns
    check(edges.vertices)
    nodes = b"".join(b'<node id="%s"/>\n' % _text(value) for value in edges.vertices)
    lines = edges.to_lines(_text, Delimiters(b'<edge source="', b'" target="', b'"/>\n'))
    return _HEAD.encode() + nodes + lines + _FOOT


def _text(value: Value) -> bytes:
    return escape(str(value)).encode()


class _Reader:
    """The state of a parser: how deep it is, and what was read so far."""

    def __init__(self, where: str, request: ReadRequest) -> None:
        self._where, self._request = where, request
        self._parser = XmlParser(where, start=self._start, end=self._end)
        self._depth, self._graphs, self._prefix = 0, 0, ""
        self._directed = False
        self._nodes: list[str] = []
        self._sources: list[str] = []
        self._targets: list[str] = []
        self._lines: list[int] = []
        self._one_way: list[bool] = []
        self._packed: list[EdgeColumns] = []

    def parse(self, content: bytes) -> None:
        """Parse a whole file."""
        self._parser.parse(content)
        if not self._graphs:
            self._parser.fail("there is no element graph in the file; give the right format with --format")

    def edges(self) -> EdgeTable:
        """Return the edges, and the identifiers of nodes."""
        self._pack()
        edges = EdgeColumns.join(self._packed)
        table = edges.to_table(self._where, self._request)
        return EdgeTable(table, vertices=self._nodes, directed=self._directed, one_way=edges.marked)

    def _pack(self) -> None:
        """Pack the edges read so far into columns: lists take ten times as much memory."""
        source, target = (pl.Series(column, dtype=pl.String) for column in (self._sources, self._targets))
        line, one_way = np.array(self._lines, np.int64), np.array(self._one_way, np.bool_)
        self._packed.append(EdgeColumns(source, target, line, one_way))
        for column in (self._sources, self._targets, self._lines, self._one_way):
            column.clear()

    def _start(self, name: str, attributes: Attributes) -> None:
        depth = self._depth
        self._depth = depth + 1
        if depth == _DOCUMENT:
            self._start_document(name)
        elif depth > _DEEPEST:
            self._parser.fail(f"elements are nested more than {_DEEPEST} deep")
        elif not name.startswith(self._prefix):
            return  # an element of another vocabulary
        elif depth == _GRAPH and name == self._prefix + "graph":
            self._start_graph(attributes)
        elif depth == _CONTENT:
            self._start_content(name.removeprefix(self._prefix), attributes)
        elif depth > _CONTENT and name == self._prefix + "graph":
            self._refuse("the graph of the file contains another graph; flatten it")

    def _start_document(self, name: str) -> None:
        namespace, _, local = name.rpartition(BETWEEN)
        if local != "graphml" or not (not namespace or namespace.startswith(_NAMESPACE)):
            self._parser.fail("this is not GraphML, whose first element is graphml; give the format with --format")
        self._prefix = name.removesuffix(local)

    def _start_graph(self, attributes: Attributes) -> None:
        self._graphs += 1
        default = attributes.get("edgedefault", "")
        if self._graphs > 1:
            self._parser.fail("there are several graphs in the file; put each into a file of its own")
        if default not in {"directed", "undirected"}:
            self._parser.fail("edgedefault of the element graph must be directed or undirected; correct it")
        self._directed = default == "directed"

    def _start_content(self, name: str, attributes: Attributes) -> None:
        """Read a node or an edge; whatever else a graph may contain says nothing about edges."""
        if name == "edge":
            self._read_edge(attributes)
        elif name == "node":
            self._read_node(attributes)
        elif name == "hyperedge":
            self._refuse("an edge must have two ends, not be a hyperedge; replace it")

    def _read_edge(self, attributes: Attributes) -> None:
        source, target = attributes.get("source"), attributes.get("target")
        one_way = _DIRECTIONS.get(attributes.get("directed", "false"))
        if not source or not target:
            self._refuse("an edge needs a source and a target; add them")
        elif one_way is None:
            self._refuse("the attribute directed of an edge must be true or false; correct it")
        else:
            self._sources.append(source)
            self._targets.append(target)
            self._lines.append(self._parser.line)
            self._one_way.append(one_way)
            if len(self._lines) == _PACK:
                self._pack()

    def _read_node(self, attributes: Attributes) -> None:
        if not attributes.get("id"):
            self._parser.fail("a node needs an id; add it")
        self._nodes.append(attributes["id"])

    def _end(self, name: str) -> None:
        del name
        self._depth -= 1

    def _refuse(self, what: str) -> None:
        refuse_edges(self._where, self._parser.line, what, self._request)
