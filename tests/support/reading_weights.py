"""The cases of the reading law for weights and directions: every format, and every object that holds edges.

A unit is an edge with all lines it is listed in, since two weights of one edge are nobody else's: here every unit has a
pair of vertices of its own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from functools import partial
from operator import methodcaller, or_
from pathlib import Path
from typing import Any

import polars as pl
from reading_graphs import matrix
from reading_law import Case
from reading_units import ITEMS, OBJECTS, TEXTS, pandas_table, parquet_file, polars_table, quoted, strange, text_file

from hedgerow import Domain, Graph

__all__ = ["WEIGHT_CASES"]

#: the vertices of each unit
PAIRS = [("a", "1"), ("b", "94110"), ("01", "-1"), ("1", "b"), ("94110", "a")]
SPACED = [("a", "1"), ("b", "tea "), ("01", "x,y"), ("1", 'q"q'), ("94110", "a")]
TAME = ["1", "2.5", "0.1", "3e-2", "10"]
WILD = [*TAME, *TEXTS, "0", "-0.5", "inf", "-inf", "nan", "1e400", "1e-400", "5.", "0x1", " 2", "2 ", "1_0", "٣"]
CELLS = [1.0, 2.5, 0.1, 10, "2.5", 0, -1, "", *OBJECTS]
LOOSE = {"loops": "drop", "on_unknown": "drop"}
DIRECTED = {**LOOSE, "directed": "yes"}


def listed(graph: Graph) -> Iterable[Any]:
    weights = graph.require_weights().tolist()
    return [(*ends, weight) for ends, weight in zip(graph.edges(), weights, strict=True)]


def entries(
    pairs: list[tuple[str, str]], tame: list[Any], wild: list[Any]
) -> Callable[[random.Random, int], list[tuple[Any, Any, Any]]]:
    """The lines of one edge: its ends in either order, and mostly one weight."""

    def make(chance: random.Random, number: int) -> list[tuple[Any, Any, Any]]:
        pool = tame if chance.random() < 0.6 else wild
        weight = chance.choice(pool)
        lines: list[tuple[Any, Any, Any]] = []
        for _ in range(chance.randint(1, 3)):
            ends = pairs[number] if chance.random() < 0.6 else pairs[number][::-1]
            lines.append((*ends, weight if chance.random() < 0.7 else chance.choice(pool)))
        return lines

    return make


def field_unit(chance: random.Random, number: int) -> list[bytes]:
    """Lines of an edge list, with or without a weight, or more."""
    rows: list[bytes] = []
    for first, second, weight in entries(PAIRS, TAME, WILD)(chance, number):
        tail = chance.choice([[weight], [weight], [weight], [], [weight, "x"], [weight, "7", "%"]])
        line = chance.choice([" ", "\t", "  "]).join([first, second, *tail]).encode()
        rows.append(line if chance.random() < 0.9 else strange(chance, line))
    return rows


def csv_unit(chance: random.Random, number: int) -> list[bytes]:
    rows: list[bytes] = []
    for cells in entries(SPACED, TAME, WILD)(chance, number):
        tame = chance.random() < 0.8
        line = ",".join([*(quoted(chance, cell, tame) for cell in cells), chance.choice(["", "z"])]).encode()
        rows.append(line if tame else strange(chance, line))
    return rows


def rows_of(tame: list[Any], wild: list[Any]) -> Callable[[random.Random, int], list[dict[str, Any]]]:
    make = entries(SPACED, tame, wild)
    return lambda chance, number: [
        {"source": first, "target": second, "cost": weight, "more": "z"}
        for first, second, weight in make(chance, number)
    ]


DATA = [
    *('<data key="d1">{}</data>', '<data key="d1">{}</data>', '<data key="d1">{}</data><data key="d2">x</data>'),
    *("", '<data key="d2">{}</data>', '<data key="d1">{}</data><data key="d1">{}</data>', '<data key="d1"/>'),
    '<data key="d1"><x/>{}</data>',
    '<data key="d1"><!-- {} -->{}</data>',
]


def element_unit(chance: random.Random, number: int) -> list[str]:
    rows: list[str] = []
    for first, second, weight in entries(PAIRS, TAME, [text for text in WILD if not set(text) & set("<&\0\x1b")])(
        chance, number
    ):
        own = chance.choice(["", "", "", ' directed="true"', ' directed="false"', ' directed="x"'])
        data = chance.choice(DATA).replace("{}", weight)
        rows.append(f'<edge source="{first}" target="{second}"{own}>{data}</edge>')
    return rows


def graphml_file(default: str, key: str = "") -> Callable[[list[str], Path], Path]:
    def build(rows: list[str], folder: Path) -> Path:
        keys = f'<key id="d1" for="edge" attr.name="cost">{key}</key><key id="d2" for="edge" attr.name="more"/>'
        head = f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}<graph edgedefault="{default}">\n'
        (folder / "a.graphml").write_text(head + "\n".join(rows) + "\n</graph></graphml>")
        return folder / "a.graphml"

    return build


#: elements of a list of edges; each is well-formed, since a file that is not cannot be read at all
LINKS = [
    *('{"source": "a"}', "{}", "[]", "7", "null", '"ab"', '["a", "1"]', '{"source": ["a"], "target": "1"}'),
    *('{"source": "a", "target": null}', '{"source": true, "target": "1"}', '{"source": 1.5, "target": "1"}'),
    *('{"source": "", "target": "1"}', '{"source": "a", "source": "b", "target": "1"}'),
    *('{"source": "a", "target": 99999999999999999999}', '{"source": "a\\u0000", "target": "1"}'),
    '{"source": "a", "target": "1", "x": ' + "[" * 50 + "]" * 50 + "}",
]


def link_unit(chance: random.Random, number: int) -> list[str]:
    if chance.random() < 0.15:
        return [chance.choice(LINKS)]
    rows: list[str] = []
    for first, second, weight in entries(SPACED, TAME, WILD)(chance, number):
        spelled = chance.choice([weight, json.dumps(weight)]) if weight in TAME else json.dumps(weight)
        tail = chance.choice(["", f', "cost": {spelled}', f', "cost": {spelled}', f', "cost": {spelled}, "x": [":"]'])
        rows.append(f'{{"source": {json.dumps(first)}, "target": {json.dumps(second)}{tail}}}')
    return rows


def json_file(head: str) -> Callable[[list[str], Path], Path]:
    def build(rows: list[str], folder: Path) -> Path:
        (folder / "a.json").write_text(f'{{{head} "links": [\n' + ",\n".join(rows) + "]}")
        return folder / "a.json"

    return build


def networkx_graph(kind: str) -> Callable[[list[Any], Path], Any]:
    def build(rows: list[Any], _: Path) -> Any:
        import networkx as nx

        graph = getattr(nx, kind)()
        graph.add_edges_from((first, second, {"cost": weight, "x": 1}) for first, second, weight in rows)
        return graph

    return build


def cell_unit(chance: random.Random, number: int) -> list[tuple[int, int, float]]:
    """Both cells of a pair, or one of them; with one weight, or two."""
    low, high = number, number + 1 + chance.randrange(3)
    weight = chance.choice([1.0, 2.5, 0.1, 1e300, -1.0, float("nan"), float("inf")])
    other = weight if chance.random() < 0.8 else 7.0
    sides = [(low, high, weight), (high, low, other)]
    return sides[: chance.choice([1, 2, 2, 2])]


def loose_unit(chance: random.Random, number: int) -> list[Any]:
    """Lists of three, or what may be in their place."""
    edges: list[Any] = list(entries(SPACED, TAME, CELLS)(chance, number))
    ends = SPACED[number]
    odd = [None, 7, ends[:1], {*ends}, {*ends, 2.5}, ends, (*ends, 2.5, "x"), [*ends, [2.5]], [ends[0], [ends[1]], 2.5]]
    return [chance.choice(odd)] if chance.random() < 0.1 else edges


_case = partial(
    Case, "graphs", columns={"weight": "cost"}, listed=listed, join=or_, domain=Domain.declare(vertex=ITEMS)
)
_NAMES = ["source", "target", "cost", "more"]
FLOATS = [1.0, 2.5, 0.1, 3e-2, 10.0], [1.0, 0.0, -1.0, float("nan"), float("inf"), None, 5e-324]
NUMBERED = {"columns": {"weight": "3"}}


def cases(options: dict[str, str], *, directed: bool) -> dict[str, Case]:
    """The cases with directions, or without."""
    numbers = polars_table(_NAMES, cost=pl.Float64)
    default = "directed" if directed else "undirected"
    loose = options if directed else {**options, "symmetrise": "yes"}
    return {
        "edge list": _case(field_unit, text_file("a.edges"), options, **NUMBERED),
        "CSV": _case(csv_unit, text_file("a.csv", b"source,target,cost,more\n"), options),
        "polars texts": _case(rows_of(TAME, WILD), polars_table(_NAMES), options),
        "polars numbers": _case(rows_of(*FLOATS), numbers, options),
        "pandas": _case(
            rows_of(CELLS[:5], [cell for cell in CELLS if cell != "\ud800"]), pandas_table(_NAMES), options
        ),
        "Parquet": _case(rows_of(*FLOATS), parquet_file(numbers), options),
        "GraphML": _case(element_unit, graphml_file(default), options),
        "GraphML with a default": _case(element_unit, graphml_file(default, "<default>7</default>"), loose),
        "JSON": _case(link_unit, json_file(f'"directed": {json.dumps(directed)},'), options),
        "networkx": _case(
            entries(SPACED, CELLS[:5], CELLS), networkx_graph("MultiDiGraph" if directed else "MultiGraph"), options
        ),
        "sparse matrix": _case(cell_unit, matrix, options),
        "plain lists": _case(loose_unit, lambda rows, _: rows, options, **NUMBERED),
    }


_unweighted = partial(_case, columns={}, listed=methodcaller("edges"))
WEIGHT_CASES: dict[str, Case] = {
    "JSON": _unweighted(link_unit, json_file("")),
    "JSON, loosely": _unweighted(link_unit, json_file('"directed": true,'), {**DIRECTED, "weights": "ignore"}),
    "edge list, directed": _unweighted(field_unit, text_file("a.edges"), DIRECTED),
    "sparse matrix, directed": _unweighted(cell_unit, matrix, DIRECTED),
    **{f"{name}, weighted": case for name, case in cases(LOOSE, directed=False).items()},
    **{f"{name}, weighted and directed": case for name, case in cases(DIRECTED, directed=True).items()},
}
