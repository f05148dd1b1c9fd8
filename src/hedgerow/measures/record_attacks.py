"""Attacks on published nested records as scores, beside what an attacker knows anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.records import Records, VertexTable
from hedgerow.measures.record_origins import trace_records
from hedgerow.measures.scoring import compared_score, exact_score
from hedgerow.measures.tree_attacks import (
    attack_homogeneity,
    attack_known_value,
    attack_missing_vertices,
    attack_some_vertex,
)
from hedgerow.privacy.tree_orbits import bucket_numbers
from hedgerow.score import Score

__all__ = ["measure_attacks", "shuffle_values"]

Integers: TypeAlias = NDArray[np.int64]

#: records of classes that are traced for the attack on missing vertices
_TRACED = 1_000
_SHUFFLED = "sensitive values shuffled"


def measure_attacks(original: Records, releases: Mapping[str, Records], rng: np.random.Generator) -> list[Score]:
    """Attack a release, which has the empty name; nothing if it has no records.

    The attacker knows the labels and the shape of a person's record. Beside each attack stand the same attack on the
    controls, on the original (without a release, nobody holds it: this is what publishing it as it is would disclose),
    and on the release with its sensitive values shuffled among all vertices of a type, which is what equal values by
    chance disclose. See `tree_attacks` for what the attacker does.
    """
    released = releases[""]
    if not len(released):
        return []
    attacked = {name: data for name, data in releases.items() if len(data)}
    attacked |= {_SHUFFLED: shuffle_values(released, rng), "original as it is": original}
    return [
        *_homogeneity(attacked),
        *_some_vertex(attacked, _largest_share(original)),
        _known_value(attacked),
        *_missing_vertices(original, released, rng),
    ]


def _homogeneity(attacked: Mapping[str, Records]) -> list[Score]:
    attacks = {name: attack_homogeneity(data) for name, data in attacked.items()}
    chart = "homogeneity attack: sensitive values that all records of a class share"
    parts = {
        "classes": {name: each.classes for name, each in attacks.items()},
        "records": {name: each.records for name, each in attacks.items()},
        "positions": {name: each.positions for name, each in attacks.items()},
    }
    return [
        compared_score(
            f"homogeneity attack, share of {at} with such a value", values, better="lower", chart=chart, at=at
        )
        for at, values in parts.items()
    ]


def _some_vertex(attacked: Mapping[str, Records], prior: float) -> list[Score]:
    attacks = {name: attack_some_vertex(data) for name, data in attacked.items()}
    chart = "some-vertex disclosure: a value that a person has somewhere"
    worst = {name: each.worst for name, each in attacks.items()} | {"most frequent value of the original": prior}
    certain = {name: each.certain for name, each in attacks.items()}
    values = {name: each.values for name, each in attacks.items()}
    return [
        compared_score(
            "some-vertex disclosure, worst confidence", worst, better="lower", chart=chart, at="worst confidence"
        ),
        compared_score(
            "some-vertex disclosure, share of classes with a certain value",
            certain,
            better="lower",
            chart=chart,
            at="classes where it is certain",
        ),
        compared_score("some-vertex disclosure, certain values per class", values, better="lower"),
    ]


def _known_value(attacked: Mapping[str, Records]) -> Score:
    values = {name: attack_known_value(data) for name, data in attacked.items()}
    name = "linkage by one known sensitive value, share of values that single out a record"
    return compared_score(name, values, better="lower")


def _missing_vertices(original: Records, released: Records, rng: np.random.Generator) -> list[Score]:
    """Attack the classes whose records can be traced; the prior is how often two people have equal values anyway."""
    origins = trace_records(original, released, rng, most=_TRACED)
    if not origins.traced.any():
        return []
    attack = attack_missing_vertices(original, released.only(origins.traced), origins.origin)
    guesses = [exact_score("missing-vertex inference, guesses", attack.guesses, {})]
    if not attack.guesses:
        return guesses
    name, prior = "missing-vertex inference, share of guesses that are right", {"prior": attack.prior}
    return [*guesses, exact_score(name, attack.confidence, prior, better="lower")]


def shuffle_values(data: Records, rng: np.random.Generator) -> Records:
    """Shuffle the sensitive values of each type among the vertices that have one."""
    tables: list[VertexTable] = []
    for table in data.tables:
        sensitive = table.sensitive.copy()
        given = np.flatnonzero(sensitive >= 0)
        sensitive[given] = rng.permutation(sensitive[given])
        tables.append(VertexTable(table.parent, table.labels, sensitive))
    return replace(data, tables=tuple(tables))


def _largest_share(data: Records) -> float:
    """The largest share of records that have the same sensitive value, or bucket, somewhere."""
    largest = 0.0
    for number, kind in enumerate(data.schema.types):
        codes = data.tables[number].sensitive
        given = codes >= 0
        if kind.sensitive_axis is None or not given.any():
            continue
        bucket = bucket_numbers(data.domain.axis(kind.sensitive_axis))
        width = int(bucket.max()) + 1
        pairs = np.unique(data.records_of(number)[given] * width + bucket[codes[given]])
        largest = max(largest, float(np.bincount(pairs % width).max()) / len(data))
    return largest
