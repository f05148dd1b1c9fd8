"""How well labels tell sensitive values: by a count of every vertex without itself."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from hedgerow import Domain
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.measures import describe, find_dependencies
from hedgerow.kinds.records.schema import RecordSchema, VertexType

SCHEMA = RecordSchema((VertexType("book", None, ("title", "shop"), "price"),))
DOMAIN = Domain.declare(**{"book.title": list("abcd"), "book.shop": ["x", "y"], "book.price": [1, 2, 3]})


def books(rows):
    return Records.from_trees([("book", row[:2], row[2], []) for row in rows], SCHEMA, DOMAIN)


def guess(rows, column):
    """The share of rows whose price is more frequent among the others of the label than any other price."""
    right = 0
    for place, row in enumerate(rows):
        others = [each[2] for n, each in enumerate(rows) if n != place and each[column] == row[column]]
        counts = Counter(others)
        own = counts.pop(row[2], 0)
        right += own > 0 and own >= max(counts.values(), default=0)
    return right / len(rows)


@pytest.mark.parametrize("seed", range(20))
def test_each_vertex_is_guessed_from_the_others(seed):
    draw = random.Random(seed)
    rows = [[draw.choice("abcd"), draw.choice("xy"), draw.choice([1, 2, 3])] for _ in range(draw.randrange(1, 12))]
    guessed = {each.label: each.guessed for each in find_dependencies(books(rows))}
    assert guessed == {"book.title": guess(rows, 0), "book.shop": guess(rows, 1)}


def test_the_owner_is_told():
    facts = describe(books([["a", "x", 1], ["a", "x", 1], ["b", "x", 2], ["b", "y", 2]]))
    assert facts["book.price guessed from book.title"] == "100% (without it 0%)"
    assert not list(find_dependencies(books([["a", "x", None]])))
