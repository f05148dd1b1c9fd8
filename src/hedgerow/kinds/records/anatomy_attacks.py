"""Attacks on anatomised nested records: what is learnt where the promise is silent; for the owner only.

Labels are exact, so that anyone who knows those of a person finds the record. Success is a sensitive value of that
person, learnt in one of four ways:

- *re-linking*: how labels and values go together is learnt from the release itself, and the likeliest links are taken
  (see `relinking`);
- *missing vertices, by value*: rules and l-diversity are kept by leaving vertices out, so that a vertex that is not
  published is likelier to have a value that is limited;
- *missing vertices, by equal values* (minimality): where each record of a group lacks a vertex below one position,
  their values were probably equal;
- *two releases*: the value of a person is in both of its groups, and few values are.

The owner knows whose records these are, as far as labels tell: a vertex is traced if its labels, with those above it,
are once in the one record of the original that fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hedgerow.kinds.records.anatomy import SENSITIVE, TREES, form_of
from hedgerow.kinds.records.data import NOTHING, Records, VertexTable
from hedgerow.kinds.records.equivalence_classes import bucket_numbers
from hedgerow.kinds.records.relinking import (
    Links,
    TypeLinks,
    best_links,
    learn,
    read_links,
    score_trees,
    score_values,
    squares,
)
from hedgerow.kinds.records.rules import Rule
from hedgerow.kinds.records.tree_attacks import Fitting, number_rows, occurs_once
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.score import Score, exact_score

#: records of random groups that are traced
TRACED = 1_000
#: values that are looked for among missing vertices
_WATCHED = 12
_CHANCE, _SHUFFLED = "equally likely links", "sensitive values shuffled"
_SMALL = 1e-9


class Trace(NamedTuple):
    """Published records of random groups, with the records of the original that fit, and what is known of vertices.

    `origin` is the one record of the original that fits each published one, or -1. By type, `vertex` is the vertex of
    the original that each published one is, or -1; `once` marks the vertices of the original that can be told from
    all others of their record.
    """

    record: Integers
    fits: tuple[Integers, ...]
    origin: Integers
    vertex: tuple[Integers, ...]
    once: tuple[Flags, ...]


def world_of(parts: Mapping[str, Records], links: Links, original: Records) -> Records:
    """Link the two parts in one of the ways that groups allow, to count what is published; links mean nothing."""
    quasi = parts["quasi"]
    order = np.argsort(links.group, kind="stable")
    rank = np.empty(len(order), np.int64)
    sizes = np.bincount(links.group)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    codes = {each.type: each.codes[rank[each.record], np.arange(len(each.record))] for each in links.types if len(rank)}
    tables = [
        VertexTable(table.parent, table.labels[:, : len(kind.quasi)], codes.get(number, np.full(len(table), NOTHING)))
        for number, (kind, table) in enumerate(zip(original.schema.types, quasi.tables, strict=True))
    ]
    return replace(original, tables=tuple(tables))


def trace_groups(original: Records, world: Records, links: Links, rng: np.random.Generator) -> Trace:
    """Trace the records of random groups by their labels and their shape."""
    groups = rng.permutation(int(links.group.max(initial=-1)) + 1)
    sizes = np.bincount(links.group, minlength=len(groups))
    chosen = groups[np.cumsum(sizes[groups]) <= TRACED]
    record = np.flatnonzero(np.isin(links.group, chosen))
    before, after = without_values(original), without_values(world)
    fitting = Fitting(before, after)
    fits = tuple(fitting.find(each) for each in record.tolist())
    origin = np.full(len(world), -1)
    single = [len(each) == 1 for each in fits]
    origin[record[single]] = [int(each[0]) for each in fits if len(each) == 1]
    vertex, once = _match_vertices(before, after, origin)
    return Trace(record, fits, origin, vertex, once)


def without_values(data: Records) -> Records:
    """The same records without their sensitive values."""
    tables = [VertexTable(table.parent, table.labels, np.full(len(table), NOTHING)) for table in data.tables]
    return replace(data, tables=tuple(tables))


def _match_vertices(
    before: Records, after: Records, origin: Integers
) -> tuple[tuple[Integers, ...], tuple[Flags, ...]]:
    """Match vertices by their labels and those above them, where these are once in their record."""
    paths: list[Integers] = []
    vertices: list[Integers] = []
    once: list[Flags] = []
    for number, above in enumerate(before.schema.parents):
        tables = before.tables[number], after.tables[number]
        labels = np.concatenate([table.labels for table in tables])
        if above < 0:
            start = np.zeros(len(labels), np.int64)
        else:
            start = paths[above][np.concatenate([tables[0].parent, tables[1].parent + len(before.tables[above])])]
        path = number_rows(start, labels)
        paths.append(path)
        owner, whole = before.records_of(number), int(path.max(initial=0)) + 1
        lone = occurs_once(owner, path[: len(owner)])
        keys = owner * whole + path[: len(owner)]
        order = np.argsort(keys, kind="stable")
        own = origin[after.records_of(number)]
        asked = own * whole + path[len(owner) :]
        place = np.minimum(np.searchsorted(keys[order], asked), max(0, len(keys) - 1))
        match = order[place] if len(order) else np.full(len(asked), -1)
        known = (own >= 0) & (keys[match] == asked) & lone[match] if len(order) else np.zeros(len(asked), np.bool_)
        vertices.append(np.where(known, match, -1))
        once.append(lone)
    return tuple(vertices), tuple(once)


def measure_anatomy_attacks(
    original: Records,
    parts: Mapping[str, Records],
    rng: np.random.Generator,
    *,
    rules: Sequence[Rule] = (),
    again: Mapping[str, Records] | None = None,
) -> list[Score]:
    """Attack an anatomised release, with the codes of the original; each attack has a baseline and a control.

    Parameters
    ----------
    rules
        The rules that the release keeps.
    again
        Another release of the same records by the same method.
    """
    links = read_links(parts)
    if not len(links.group):
        return []
    world = world_of(parts, links, original)
    trace = trace_groups(original, world, links, rng)
    scores = [
        *_measure_links(original, links, trace, rng, by_tree=form_of(parts[SENSITIVE]) == TREES),
        *_measure_missing(original, trace, rules, rng),
        *_measure_equal(original, world, links, trace, rng),
    ]
    if again is not None:
        other = read_links(again)
        traced = trace_groups(original, world_of(again, other, original), other, rng)
        scores += _measure_intersection(original, (links, trace), (other, traced), rng)
    return scores


# Re-linking, from the release alone.


class Guesses(NamedTuple):
    """Whether each guess is right, and how likely that is if all links are."""

    right: Flags
    chance: Floats


def _measure_links(
    original: Records, links: Links, trace: Trace, rng: np.random.Generator, *, by_tree: bool
) -> list[Score]:
    shuffled = shuffle_links(links, rng)
    if by_tree:
        truth = find_true_trees(original, links, trace)
        guesses = guess_trees(links, truth, rng)
        anyhow = guess_trees(shuffled, _deal(links.size, truth >= 0, rng), rng)
        return _score_guesses("re-linking attack, share of trees linked rightly", guesses, anyhow)
    scores: list[Score] = []
    chart = "re-linking attack: sensitive values guessed rightly"
    for each, other in zip(links.types, shuffled.types, strict=True):
        codes = _true_codes(original, each, trace)
        guesses = guess_values(each, codes, rng)
        # values that were shuffled may be equal at a position: there it is the place in the list that is guessed
        places = np.where(other.codes >= 0, np.arange(len(other.codes))[:, None], NOTHING)
        dealt = _deal(other.number, codes >= 0, rng)
        anyhow = guess_values(other._replace(codes=places), dealt, rng)
        name = f"re-linking attack, share of values of {each.name} guessed rightly"
        scores += _score_guesses(name, guesses, anyhow, chart=chart, at=each.name)
    return scores


def _score_guesses(name: str, guesses: Guesses, anyhow: Guesses, *, chart: str = "", at: str = "") -> list[Score]:
    if not len(guesses.right):
        return []
    controls = {_CHANCE: float(guesses.chance.mean())}
    controls |= {_SHUFFLED: float(anyhow.right.mean())} if len(anyhow.right) else {}
    return [_score(name, guesses.right, controls, chart=chart, at=at)]


def _score(name: str, right: Flags, controls: Mapping[str, float], *, chart: str = "", at: str = "") -> Score:
    """Score the share of guesses that are right; there is no interval: those of one release depend on each other."""
    return exact_score(name, float(right.mean()), controls, better="lower", chart=chart, at=at)


def shuffle_links(links: Links, rng: np.random.Generator) -> Links:
    """Shuffle the sensitive values of each type among all positions: labels say nothing about them any more."""
    types: list[TypeLinks] = []
    for each in links.types:
        _, first, place = np.unique(each.spot, return_index=True, return_inverse=True)
        codes, values = each.codes[:, first], each.values[:, first]
        given = codes >= 0
        order = rng.permutation(int(given.sum()))
        codes[given], values[given] = codes[given][order], values[given][order]
        types.append(each._replace(codes=codes[:, place], values=values[:, place]))
    return links._replace(types=tuple(types))


def _deal(sizes: Integers, wanted: Flags, rng: np.random.Generator) -> Integers:
    """One of the values of each, at random: the truth where values are shuffled; -1 for those not wanted."""
    return np.where(wanted & (sizes > 0), (rng.random(len(sizes)) * sizes).astype(np.int64), -1)


def _true_codes(original: Records, each: TypeLinks, trace: Trace) -> Integers:
    """The sensitive value of each published vertex that is traced; -1 for others."""
    vertex = trace.vertex[each.type]
    codes = np.append(original.tables[each.type].sensitive, NOTHING)
    return codes[vertex]


def find_true_trees(original: Records, links: Links, trace: Trace) -> Integers:
    """The tree of values of each record that is traced: the one that has all of its known values; -1 for others."""
    most = int(links.size.max(initial=0))
    wrong = np.zeros((most, len(links.group)))
    known = np.zeros(len(links.group))
    for each in links.types:
        codes = _true_codes(original, each, trace)
        given = codes >= 0
        known += np.bincount(each.record[given], minlength=len(known))
        for version in range(most):
            differs = given & (each.codes[version] != codes)
            wrong[version] += np.bincount(each.record[differs], minlength=len(known))
    fitting = (wrong == 0) & (np.arange(most)[:, None] < links.size)
    sure = (known > 0) & (fitting.sum(axis=0) == 1)
    return np.where(sure, fitting.argmax(axis=0), -1)


def guess_trees(links: Links, truth: Integers, rng: np.random.Generator) -> Guesses:
    """Link all trees of each group in the likeliest way, and see which of those that are known are right."""
    every = np.ones(len(links.group), np.bool_)
    scores = score_trees(links, every, every)
    scores += _SMALL * rng.random(scores.shape)  # equal scores are equally likely
    guess = np.full(len(links.group), -1)
    for size in np.unique(links.size).tolist():
        rows = squares(links, size, every)
        guess[rows] = best_links(scores[rows][:, :, :size])
    known = truth >= 0
    return Guesses(guess[known] == truth[known], 1 / links.size[known])


def guess_values(each: TypeLinks, truth: Integers, rng: np.random.Generator) -> Guesses:
    """Link the values of each position in the likeliest way, and see which of those that are known are right."""
    number = each.number
    scores = score_values(
        learn(each, np.ones(int(each.record.max(initial=-1)) + 1, np.bool_)), each.labels, each.values
    )
    scores += _SMALL * rng.random(scores.shape)
    guess = np.full(len(number), NOTHING)
    for size in np.unique(number[number > 0]).tolist():
        vertices = np.flatnonzero(number == size)
        rows = vertices[np.argsort(each.spot[vertices], kind="stable")].reshape(-1, size)
        links = best_links(np.moveaxis(scores[:size, rows], 0, -1))
        guess[rows] = each.codes[links, rows]
    known = (truth >= 0) & (number > 0)
    alike = (each.codes[:, known] == truth[known]).sum(axis=0)
    return Guesses(guess[known] == truth[known], alike / number[known])


# What is missing.


class Missing(NamedTuple):
    """Vertices of records that are traced, each once in its record, and which of them are not published."""

    vertex: Integers
    missing: Flags


def find_missing(original: Records, trace: Trace, number: int) -> Missing:
    """Find which vertices of a type are missing from published records."""
    traced = np.zeros(len(original), np.bool_)
    traced[trace.origin[trace.origin >= 0]] = True
    shown = np.zeros(len(original.tables[number]), np.bool_)
    shown[trace.vertex[number][trace.vertex[number] >= 0]] = True
    given = original.tables[number].sensitive >= 0
    vertex = np.flatnonzero(traced[original.records_of(number)] & trace.once[number] & given)
    return Missing(vertex, ~shown[vertex])


def _measure_missing(
    original: Records, trace: Trace, rules: Sequence[Rule], rng: np.random.Generator
) -> Iterator[Score]:
    """Score how likely a vertex that is not published has a value that rules limit, or else the most frequent one."""
    chart = "missing vertices: chance of a sensitive value where a vertex is not published"
    for name, number, counted in _watch(original, rules):
        gaps = find_missing(original, trace, number)
        if not gaps.missing.any():
            continue
        codes = original.tables[number].sensitive
        hit = counted[codes[gaps.vertex]]
        prior = float(counted[codes[codes >= 0]].mean())
        controls = {"any vertex": prior, _SHUFFLED: float(rng.permutation(hit)[gaps.missing].mean())}
        title = f"missing vertices, chance of {name}"
        yield _score(title, hit[gaps.missing], controls, chart=chart, at=name)


def _watch(original: Records, rules: Sequence[Rule]) -> list[tuple[str, int, Flags]]:
    """The values that are looked for: those of rules, or else the most frequent one of each attribute."""
    watched: dict[str, tuple[str, int, Flags]] = {}
    for number, kind in enumerate(original.schema.types):
        if kind.sensitive_axis is None:
            continue
        axis = original.domain.axis(kind.sensitive_axis)
        bucket = bucket_numbers(axis)
        codes = original.tables[number].sensitive
        limited = [each.counted for rule in rules if rule.attribute == kind.sensitive_axis for each in rule.ruled(axis)]
        if not rules and (codes >= 0).any():
            most = int(np.bincount(bucket[codes[codes >= 0]]).argmax())
            limited = [np.equal(bucket, most)]
        for counted in limited:
            names = ", ".join(str(axis.values[code]) for code in np.flatnonzero(counted).tolist()[:3])
            more = ", ..." if counted.sum() > 3 else ""  # noqa: PLR2004 - a few say which
            name = f"{kind.sensitive_axis} = {names}{more}"
            if counted[codes[codes >= 0]].any():
                watched[name] = (name, number, counted)
    return list(watched.values())[:_WATCHED]


def _measure_equal(
    original: Records, world: Records, links: Links, trace: Trace, rng: np.random.Generator
) -> list[Score]:
    """Score how often two missing vertices have equal values, where each record of a group lacks one at a position."""
    right: list[Flags] = []
    anyhow: list[Flags] = []
    prior: list[Floats] = []
    for each in links.types:
        above = original.schema.parents[each.type]
        if above < 0:
            continue
        vertex, at = _find_lone_gaps(original, world, links, trace, each.type)
        bucket = bucket_numbers(original.domain.axis(each.name))[original.tables[each.type].sensitive]
        given = original.tables[each.type].sensitive >= 0
        one, other = _list_pairs(at)
        right.append(bucket[vertex[one]] == bucket[vertex[other]])
        shuffled = bucket.copy()
        shuffled[given] = rng.permutation(bucket[given])
        anyhow.append(shuffled[vertex[one]] == shuffled[vertex[other]])
        shares = np.bincount(bucket[given]) / max(1, int(given.sum()))
        prior.append(np.full(len(one), float((shares**2).sum())))
    guessed = np.concatenate(right) if right else np.zeros(0, np.bool_)
    scores = [exact_score("missing vertices of equal values (minimality), guesses", len(guessed), {})]
    if not len(guessed):
        return scores
    controls = {"any two vertices": float(np.concatenate(prior).mean())}
    controls[_SHUFFLED] = float(np.concatenate(anyhow).mean())
    name = "missing vertices of equal values (minimality), share of guesses that are right"
    return [*scores, _score(name, guessed, controls)]


def _find_lone_gaps(
    original: Records, world: Records, links: Links, trace: Trace, number: int
) -> tuple[Integers, Integers]:
    """Find missing vertices, one of each record of a group, below one position; and number these positions."""
    above = original.schema.parents[number]
    table = original.tables[number]
    published = np.full(len(original.tables[above]), -1)
    seen = trace.vertex[above] >= 0
    published[trace.vertex[above][seen]] = np.flatnonzero(seen)
    # where siblings cannot be told apart, it is not known how many are missing
    unclear = np.bincount(table.parent[~trace.once[number]], minlength=len(published)) > 0
    vertex, missing = find_missing(original, trace, number)
    parent = published[table.parent[vertex]]
    vertex, parent = vertex[missing & (parent >= 0)], parent[missing & (parent >= 0)]
    lone = occurs_once(parent, np.zeros_like(parent)) & ~unclear[table.parent[vertex]] if len(parent) else parent >= 0
    vertex, parent = vertex[lone], parent[lone]
    spot, size = links.spots[above], links.size[world.records_of(above)]
    full = np.bincount(spot[parent], minlength=1)[spot[parent]] == size[parent]
    return vertex[full], spot[parent[full]]


def _list_pairs(at: Integers) -> tuple[Integers, Integers]:
    """List all pairs of rows with one number."""
    order = np.argsort(at, kind="stable")
    ends = np.searchsorted(at[order], at[order], side="right")
    later = ends - np.arange(len(at)) - 1
    one = np.repeat(np.arange(len(at)), later)
    step = np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
    return order[one], order[one + 1 + step]


# Two releases about the same people.


def _measure_intersection(
    original: Records, first: tuple[Links, Trace], second: tuple[Links, Trace], rng: np.random.Generator
) -> list[Score]:
    """Score the share of values that are the only ones that both groups of a person have at the vertex."""
    certain: list[Flags] = []
    alone: list[Flags] = []
    anyhow: list[Flags] = []
    for one, other in zip(first[0].types, second[0].types, strict=True):
        true, left, right = _pair_releases(original, one, first[1], second[1])
        mine, theirs = one.codes[:, left], other.codes[:, right]
        certain.append(count_common(mine, theirs) == 1)
        alone.append(count_common(mine, mine) == 1)
        strange = theirs[:, rng.permutation(len(right))]
        anyhow.append((count_common(mine, strange) == 1) & (strange == true).any(axis=0))
    shares = [np.concatenate(each) if each else np.zeros(0, np.bool_) for each in (certain, alone, anyhow)]
    if not len(shares[0]):
        return []
    name = "two releases intersected, share of sensitive values that are certain and right"
    controls = {"one release": float(shares[1].mean()), "groups of other people": float(shares[2].mean())}
    return [_score(name, shares[0], controls)]


def _pair_releases(original: Records, each: TypeLinks, one: Trace, other: Trace) -> tuple[Integers, Integers, Integers]:
    """The sensitive values of vertices of the original that both releases publish, and their rows in the two."""
    codes = original.tables[each.type].sensitive
    rows = np.full((2, len(codes)), -1)
    for row, trace in zip(rows, (one, other), strict=True):
        seen = trace.vertex[each.type] >= 0
        row[trace.vertex[each.type][seen]] = np.flatnonzero(seen)
    both = np.flatnonzero((rows >= 0).all(axis=0) & (codes >= 0))
    return codes[both], rows[0, both], rows[1, both]


def count_common(one: Integers, other: Integers) -> Integers:
    """Count the different values that two columns have in common, column by column.

    Examples
    --------
    >>> count_common(np.array([[1, 4], [2, 4], [-1, 5]]), np.array([[2, 4], [3, 5], [-1, 4]])).tolist()
    [1, 2]
    """
    common = np.zeros(one.shape[1], np.int64)
    for row in range(len(one)):
        new = (one[row] >= 0) & ~(one[:row] == one[row]).any(axis=0)
        common += new & (other == one[row]).any(axis=0)
    return common
