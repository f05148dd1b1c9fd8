"""The cases of the reading law for graphs: every format, and every object that holds edges."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from functools import partial
from operator import methodcaller, or_
from pathlib import Path
from typing import Any

import polars as pl
from reading_law import Case
from reading_units import (
    ITEMS,
    NUMBERS,
    OBJECTS,
    TEXTS,
    Pool,
    csv_unit,
    one_line,
    pandas_table,
    parquet_file,
    polars_table,
    row_unit,
    text_file,
)

from hedgerow import Domain

__all__ = ["GRAPH_CASES"]

ENDS = ["unit", "source", "target"]
LOOSE = {"loops": "drop", "on_unknown": "drop", "weights": "ignore"}
IGNORED = {"weights": "ignore"}
WORDS = Pool(ITEMS, TEXTS)
#: elements of a GraphML file; each is well-formed, since a file that is not cannot be read at all
ELEMENTS = [
    *('<edge source="a"/>', '<edge target="a"/>', "<edge/>", '<edge source="" target="a"/>'),
    *('<edge source="a" target="b" directed="true"/>', '<edge source="a" target="b" directed="TRUE"/>'),
    *('<edge source="a" target="nobody"/>', '<edge source=" a" target="b"/>', '<edge source="a" target="a"/>'),
    *(
        '<edge source="&#97;" target="&quot;"/>',
        '<edge source="a&#10;" target="b"/>',
        '<edge source="1.0" target="1"/>',
    ),
    '<edge source="a" target="b"><data key="w">0.5</data></edge>',
    '<edge source="a" target="1"><graph edgedefault="directed"><edge source="b" target="1"/></graph></edge>',
    '<hyperedge><endpoint node="a"/><endpoint node="b"/></hyperedge>',
    '<other xmlns="urn:other"><edge source="a" target="01"/></other>',
    '<data key="k"><edge source="a" target="01"/></data>',
    *("<!-- edge -->", "<?edge source='a'?>", "<![CDATA[<edge source='a' target='b'/>]]>", "a b", "&lt;edge/&gt;"),
    *('<node id="a"/>', '<node id="nobody"/>', '<edge source="é" target="a"/>'),
]
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">\n'


def pair_unit(tame: list[Any], wild: list[Any]) -> Callable[[random.Random, int], list[Any]]:
    """Pairs of vertices, and what may be in a list instead of them."""

    def unit(chance: random.Random, number: int) -> list[Any]:
        del number
        good = chance.random() < 0.6
        if not good and chance.random() < 0.3:
            return [chance.choice([None, 7, "ab", (), ("a",), ["a", "b", "a"], {"a", "b"}, [["a", "b"]]])]
        pool = tame if good else wild
        return [(chance.choice(pool), chance.choice(pool)) for _ in range(chance.randint(1, 2))]

    return unit


def element_unit(chance: random.Random, number: int) -> list[str]:
    """Elements that are edges, or may be in their place."""
    del number
    if chance.random() < 0.5:
        return [chance.choice(ELEMENTS)]
    names = ["a", "b", "01", "1", "94110", "tea ", "x,y", "q&quot;q", "-1"]
    return [f'<edge source="{chance.choice(names)}" target="{chance.choice(names)}"/>']


def graphml_file(rows: list[str], folder: Path) -> Path:
    path = folder / "a.graphml"
    path.write_text(GRAPHML + "\n".join(rows) + "\n</graph></graphml>")
    return path


def cell_unit(chance: random.Random, number: int) -> list[tuple[int, int, float]]:
    """Cells of an adjacency matrix: a pair per unit, which may be set twice, to 0, or on one side only."""
    low, high = number, number + 1 + chance.randrange(3)
    values = [*[1.0] * 6, 2.5, -1.0, 0.0, float("nan"), float("inf")]
    both = [(low, high), (high, low)]
    sides = chance.choice([both, both, both, [(low, high)], [(high, low)], [(low, low)]])
    value = chance.choice(values)
    return [(*side, value) for side in sides * chance.choice([1, 1, 1, 2])]


def matrix(rows: list[tuple[int, int, float]], _: Path) -> Any:
    from scipy.sparse import coo_matrix

    row, column, value = zip(*rows, strict=True) if rows else ((), (), ())
    return coo_matrix((value, (row, column)), shape=(9, 9))


def networkx_graph(rows: list[Any], _: Path) -> Any:
    import networkx as nx

    graph = nx.MultiGraph()
    graph.add_edges_from(rows)
    return graph


#: objects that can be nodes; networkx looks them up, so that 1, 1.0 and True would be one of them
NODES = ["", "\ud800", "a\0", b"a", ("a", 1), 94110, 10**30, 10**5000, 1.5, float("inf"), dt.date(2024, 5, 1)]
_case = partial(Case, "graphs", listed=methodcaller("edges"), join=or_, domain=Domain.declare(vertex=ITEMS))
_numbers = partial(_case, domain=Domain.declare(vertex=NUMBERS))
EDGE_LINES = one_line(b"a b", b"b a", b"1 94110", b"01\t1", b" a  01 ", b"\xef\xbb\xbfa -1")
WHOLE = row_unit(lambda number: number, source=Pool(NUMBERS, [*NUMBERS, None]), target=Pool(NUMBERS, [*NUMBERS, 7]))
CELLS = OBJECTS[5:] + OBJECTS[:4]  # pandas does not take a lone surrogate
MIXED = row_unit(lambda number: number, source=Pool(["a", 1, "01"], CELLS), target=Pool(["b", "1", 94110], CELLS))

GRAPH_CASES: dict[str, Case] = {
    "edge list": _case(EDGE_LINES, text_file("a.edges")),
    "edge list, loosely": _case(EDGE_LINES, text_file("a.txt", b"x\n"), {**LOOSE, "skip_lines": "1"}),
    "edge list of numbers": _numbers(one_line(b"1 94110", b"1 0", b"2\t0", b"0 2"), text_file("a.edgelist")),
    "CSV of edges": _case(csv_unit(WORDS, WORDS), text_file("a.csv", b"unit,source,target\n"), IGNORED),
    "CSV of edges, loosely": _case(csv_unit(WORDS, WORDS), text_file("a.csv", b"unit,source,target\n"), LOOSE),
    "polars edges": _case(row_unit(str, source=WORDS, target=WORDS), polars_table(ENDS), IGNORED),
    "polars edges of numbers": _numbers(WHOLE, polars_table(ENDS, **dict.fromkeys(ENDS, pl.Int64)), LOOSE),
    "pandas edges": _case(MIXED, pandas_table(ENDS), LOOSE),
    "Parquet edges": _numbers(WHOLE, parquet_file(polars_table(ENDS, **dict.fromkeys(ENDS, pl.Int64))), IGNORED),
    "GraphML": _case(element_unit, graphml_file),
    "GraphML, loosely": _case(element_unit, graphml_file, {**LOOSE, "symmetrise": "yes"}),
    "plain pairs": _case(pair_unit([*ITEMS, 1, 94110], OBJECTS), lambda rows, _: rows),
    "plain pairs of numbers": _numbers(pair_unit([*NUMBERS, "1"], [*NUMBERS, 7, 1.5]), lambda rows, _: rows, LOOSE),
    "networkx": _case(lambda chance, _: [(chance.choice([*ITEMS, 1, *NODES]), chance.choice(ITEMS))], networkx_graph),
    "sparse matrix": _case(cell_unit, matrix),
    "sparse matrix, loosely": _case(cell_unit, matrix, {**LOOSE, "symmetrise": "yes"}),
}
