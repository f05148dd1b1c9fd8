"""GraphML: nodes and edges of one graph.

Identifiers of nodes, ends and directions of edges, and the one value of edges that is declared to be their weight are
read; other values, and ports, are not.
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

MORE = (
    "the edge has data besides its two ends; name that of the weight with --columns weight=NAME, or ignore all with "
    "weights=ignore"
)
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_NAMESPACE}">\n'
_KEY = '<key id="weight" for="edge" attr.name="%s" attr.type="double"/>\n'
_GRAPH_HEAD = '<graph edgedefault="%s">\n'
_FOOT = b"</graph>\n</graphml>\n"
#: how deep elements may be nested
_DEEPEST = 100
#: how many edges are collected before they are packed into columns, and the longest weight in characters
_PACK, _LONGEST = 1 << 16, 400
#: elements at these depths: the document, its graph, the nodes and edges of the graph, and their data
_DOCUMENT, _GRAPH, _CONTENT, _DATA = range(4)
_DIRECTIONS = {"true": "one_way", "1": "one_way", "false": "unordered", "0": "unordered"}
#: what stands for a weight that is no plain text
_NO_NUMBER = "?"


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
    check(edges.vertices)
    head = _HEAD
    if edges.weights is not None:
        check([columns["weight"]])
        head += _KEY % escape(columns["weight"])
    head += _GRAPH_HEAD % ("directed" if edges.directed else "undirected")
    nodes = b"".join(b'<node id="%s"/>\n' % _text(value) for value in edges.vertices)
    end = b'"/>\n' if edges.weights is None else b"</data></edge>\n"
    lines = edges.to_lines(_text, Delimiters(b'<edge source="', b'" target="', end), b'"><data key="weight">')
    return head.encode() + nodes + lines + _FOOT


def _text(value: Value) -> bytes:
    return escape(str(value)).encode()


class _Keys:
    """The keys of a file: which of them is the weight of edges, and its default."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._default_of: str | None = None
        self._named: list[str] = []
        self._identified: list[str] = []
        self._defaults: dict[str, str] = {}

    def start(self, attributes: Attributes) -> None:
        """Take a key; only those of edges matter."""
        identity = attributes.get("id", "")
        self._default_of = identity if attributes.get("for", "all") in {"edge", "all"} else None
        if self._default_of is None:
            return
        if self._name is not None and attributes.get("attr.name") == self._name:
            self._named.append(identity)
        elif identity == self._name:
            self._identified.append(identity)

    def add_default(self, text: str) -> None:
        """Take the default of the key that was last taken, or a part of it."""
        if self._default_of is not None:
            self._defaults[self._default_of] = self._defaults.get(self._default_of, "") + text

    def weights(self) -> list[str]:
        """Return the identifiers of the keys with the name that is asked for: better one."""
        return self._named or self._identified

    def default(self, key: str | None) -> str | None:
        """Return the default of a key."""
        return None if key is None else self._defaults.get(key)

    def has_further_defaults(self, key: str | None) -> bool:
        """Whether every edge has a value of another key."""
        return bool(self._defaults.keys() - {key})


class _Reader:
    """The state of a parser: how deep it is, and what was read so far."""

    def __init__(self, where: str, request: ReadRequest) -> None:
        self._where, self._request = where, request
        self._parser = XmlParser(where, start=self._start, end=self._end, text=self._text)
        self._depth, self._graphs, self._prefix = 0, 0, ""
        self._directed = False
        self._weighted = "weight" in request.optional
        self._keys = _Keys(request.columns["weight"] if self._weighted else None)
        self._weight_key: str | None = None
        #: which element below the document the parser is in, and whether in an edge that is read or in its weight
        self._part, self._in_edge, self._in_weight = "", False, False
        self._nodes: list[str] = []
        self._texts: dict[str, list[str | None]] = {"source": [], "target": []}
        if self._weighted:
            self._texts["weight"] = []
        self._lines: list[int] = []
        self._marks: dict[str, list[bool]] = {"further": [], "one_way": [], "unordered": []}
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
        return EdgeTable(table, vertices=self._nodes, directed=self._directed, marks=edges.marks, more=MORE)

    def _pack(self) -> None:
        """Pack the edges read so far into columns: lists take ten times as much memory."""
        columns = {role: pl.Series(texts, dtype=pl.String) for role, texts in self._texts.items()}
        marks = {name: np.array(mark, np.bool_) for name, mark in self._marks.items()}
        self._packed.append(EdgeColumns(columns, np.array(self._lines, np.int64), marks))
        for column in (*self._texts.values(), *self._marks.values(), self._lines):
            column.clear()

    def _start(self, name: str, attributes: Attributes) -> None:
        depth = self._depth
        self._depth = depth + 1
        if self._in_weight:
            self._add_to_weight(_NO_NUMBER)  # an element within it
        if depth == _DOCUMENT:
            self._start_document(name)
        elif depth > _DEEPEST:
            self._parser.fail(f"elements are nested more than {_DEEPEST} deep")
        elif name.startswith(self._prefix):  # otherwise it is an element of another vocabulary
            self._start_own(depth, name.removeprefix(self._prefix), attributes)

    def _start_own(self, depth: int, name: str, attributes: Attributes) -> None:
        if depth == _GRAPH:
            self._start_part(name, attributes)
        elif depth == _CONTENT:
            self._start_content(name, attributes)
        elif depth > _CONTENT and name == "graph":
            self._refuse("the graph of the file contains another graph; flatten it")
        elif depth == _DATA and name == "data" and self._in_edge:
            self._start_data(attributes)

    def _start_document(self, name: str) -> None:
        namespace, _, local = name.rpartition(BETWEEN)
        if local != "graphml" or not (not namespace or namespace.startswith(_NAMESPACE)):
            self._parser.fail("this is not GraphML, whose first element is graphml; give the format with --format")
        self._prefix = name.removesuffix(local)

    def _start_part(self, name: str, attributes: Attributes) -> None:
        self._part = name
        if name == "graph":
            self._start_graph(attributes)
        elif name == "key" and self._graphs:
            self._parser.fail("the keys of a file come before its graph; move them")
        elif name == "key":
            self._keys.start(attributes)

    def _start_graph(self, attributes: Attributes) -> None:
        self._graphs += 1
        default = attributes.get("edgedefault", "")
        if self._graphs > 1:
            self._parser.fail("there are several graphs in the file; put each into a file of its own")
        if default not in {"directed", "undirected"}:
            self._parser.fail("edgedefault of the element graph must be directed or undirected; correct it")
        self._directed = default == "directed"
        if self._weighted:
            self._find_weight()

    def _find_weight(self) -> None:
        keys, name = self._keys.weights(), self._request.columns["weight"]
        if not keys:
            self._parser.fail(f"there is no key of edges with the name {name[:40]!r} before the graph")
        if len(keys) > 1:
            self._parser.fail(f"there are two keys of edges with the name {name[:40]!r}; give the id of one")
        self._weight_key = keys[0]

    def _start_content(self, name: str, attributes: Attributes) -> None:
        """Read a node or an edge; whatever else a graph may contain says nothing about edges."""
        if self._part == "key" and name == "default":
            self._part = "default"
            self._keys.add_default("")
        elif self._part != "graph":
            return
        elif name == "edge":
            self._read_edge(attributes)
        elif name == "node":
            self._read_node(attributes)
        elif name == "hyperedge":
            self._refuse("an edge must have two ends, not be a hyperedge; replace it")

    def _read_edge(self, attributes: Attributes) -> None:
        source, target = attributes.get("source"), attributes.get("target")
        declared = attributes.get("directed")
        if not source or not target:
            self._refuse("an edge needs a source and a target; add them")
        elif declared is not None and declared not in _DIRECTIONS:
            self._refuse("the attribute directed of an edge must be true or false; correct it")
        else:
            if len(self._lines) == _PACK:
                self._pack()
            self._in_edge = True
            self._texts["source"].append(source)
            self._texts["target"].append(target)
            if self._weighted:
                self._texts["weight"].append(None)
            self._lines.append(self._parser.line)
            self._marks["further"].append(self._keys.has_further_defaults(self._weight_key))
            for name in ("one_way", "unordered"):
                self._marks[name].append(declared is not None and _DIRECTIONS[declared] == name)

    def _start_data(self, attributes: Attributes) -> None:
        """Read the weight of the edge that was last read; that there is other data is marked."""
        if self._weight_key is None or attributes.get("key") != self._weight_key:
            self._marks["further"][-1] = True
            return
        again = self._texts["weight"][-1] is not None
        self._in_weight = True
        self._add_to_weight(_NO_NUMBER if again else "")

    def _add_to_weight(self, text: str) -> None:
        weight = (self._texts["weight"][-1] or "") + text
        self._texts["weight"][-1] = weight if len(weight) <= _LONGEST else _NO_NUMBER

    def _text(self, text: str) -> None:
        if self._in_weight:
            self._add_to_weight(text)
        elif self._part == "default":
            self._keys.add_default(text[:_LONGEST])

    def _read_node(self, attributes: Attributes) -> None:
        if not attributes.get("id"):
            self._parser.fail("a node needs an id; add it")
        self._nodes.append(attributes["id"])

    def _end(self, name: str) -> None:
        del name
        self._depth -= 1
        if self._in_weight and self._depth == _DATA:
            self._in_weight = False
            self._texts["weight"][-1] = (self._texts["weight"][-1] or "").strip()
        elif self._depth == _CONTENT:
            self._end_edge()
            self._part = "key" if self._part == "default" else self._part

    def _end_edge(self) -> None:
        if self._in_edge and self._weighted and self._texts["weight"][-1] is None:
            self._texts["weight"][-1] = self._keys.default(self._weight_key)
        self._in_edge = False

    def _refuse(self, what: str) -> None:
        refuse_edges(self._where, self._parser.line, what, self._request)
