r"""How well the two parts of anatomised records can be linked again, from the published parts alone.

Within a group all links are equally likely to somebody who knows nothing else. But labels are exact, so the release
itself tells how labels and sensitive values go together: a label is beside the values of its position, its own one
among those of the other records, $1 / g$ each. An attacker learns $P(s \mid q)$ from that, and scores each link of a
vertex with label $q$ to a value $s$ by $\ln P(s \mid q) / P(s)$; a tree adds up the scores of all of its vertices [1]_.

Two limits say whether trees may be published, and any receiver can compute them:

- *by values*: $P(s \mid q)$ without what the other records of groups add, less four standard errors, is not above 0.8,
  nor above three times $P(s)$, for any label of ten or more vertices. Chance alone must be as unlikely as that, too: of
  thousands of rare values some are seen twice beside one label.
- *by trees*: in how many groups the own trees of values fit the labels better than those of another group do. It is one
  half if labels and values do not go together; the lower 99 % bound of the share is not above 0.6.

References
----------
.. [1] D. Kifer. "Attacks on privacy and deFinetti's theorem". SIGMOD 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np

from hedgerow.data import Axis
from hedgerow.kinds.records.data import NOTHING, Records
from hedgerow.kinds.records.equivalence_classes import bucket_numbers
from hedgerow.kinds.records.query_sources import ByTree, ByVertex, source_of
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.assignment import assign

#: limits: a posterior, how many times the prior, and the share of groups whose own trees fit better
POSTERIOR, LIFT, SHARE = 0.8, 3.0, 0.6
#: labels of fewer vertices say too little, and numbers are compared in so many classes of equal count
_LEAST, _CLASSES = 10, 10
#: standard errors of the limit by values, the chance of so many, and the chance to be wrong about any pair at all
_ERRORS, _CHANCE, _WRONG = 4.0, 3.17e-5, 0.01
#: the weight of the prior in what is learnt of a label
_PRIOR = 0.5
#: groups up to this size are linked by trying all ways
_TRIED = 6
_FOLDS = 10


class TypeLinks(NamedTuple):
    """The vertices of one type with all values that may be theirs: those of their position, one per record.

    `codes` has a row per value of a position, and a column per vertex; tree by tree, row `v` has the values of tree `v`
    of each group. `values` are their classes (buckets, or tenths of numbers); both are -1 where there is none.
    """

    type: int
    name: str
    labels: Integers
    label_names: tuple[str, ...]
    record: Integers
    position: Integers
    spot: Integers
    codes: Integers
    values: Integers

    @property
    def number(self) -> Integers:
        """How many values each position has."""
        return (self.values >= 0).sum(axis=0)


class Links(NamedTuple):
    """Both parts, with all links between them that groups leave open: the group of each record, and its size.

    `spots` numbers the positions of the vertices of each type; `types` are those with sensitive values.
    """

    group: Integers
    size: Integers
    spots: tuple[Integers, ...]
    types: tuple[TypeLinks, ...]


@dataclass(frozen=True)
class Relinking:
    """What the limits are about: the worst posterior and lift, each a lower bound, and whose; and the groups compared.

    `better` is the number of groups whose own trees fit better, of `compared`.
    """

    posterior: float = 0.0
    lift: float = 0.0
    attribute: str = ""
    label: str = ""
    better: float = 0.0
    compared: int = 0

    @property
    def share(self) -> float:
        """The lower 99 % bound of the share of groups whose own trees fit better.

        Examples
        --------
        >>> round(Relinking(better=70, compared=100).share, 2), Relinking().share
        (0.58, 0.0)
        """
        if not self.better:
            return 0.0
        from scipy.special import betaincinv  # noqa: PLC0415 - listing the methods does not need it

        return float(betaincinv(self.better, self.compared - self.better + 1, 0.01))

    @property
    def by_values(self) -> bool:
        """Whether a sensitive value follows a label too closely."""
        return self.posterior > POSTERIOR or self.lift > LIFT

    @property
    def by_trees(self) -> bool:
        """Whether trees fit the labels of their group too well."""
        return self.share > SHARE


def find_relinking(parts: Mapping[str, Records]) -> Relinking:
    """Find what the limits are about, from the two parts of a release tree by tree."""
    links = read_links(parts)
    posterior, lift, attribute, label = find_worst_values(links)
    better, compared = compare_trees(links)
    return Relinking(posterior, lift, attribute, label, better, compared)


def read_links(parts: Mapping[str, Records]) -> Links:
    """Read all links that the two parts leave open; labels and values need no original."""
    source = source_of(parts)
    if not isinstance(source, (ByTree, ByVertex)):
        msg = "links are read of the two parts of anatomised records"
        raise TypeError(msg)
    known = source.known if isinstance(source, ByTree) else source
    size = np.bincount(known.group)[known.group] if len(known) else known.group
    types: list[TypeLinks] = []
    spots: list[Integers] = []
    for number, kind in enumerate(known.schema.types):
        table = known.tables[number]
        record = known.record_of(number, np.arange(len(table)))
        position = table.labels[:, -1]
        spot = known.group[record] * (int(position.max(initial=0)) + 1) + position
        spots.append(spot)
        if kind.sensitive_axis is None:
            continue
        codes = source.codes[number] if isinstance(source, ByTree) else _list_values(source, number)
        axis = parts["sensitive"].domain.axis(kind.sensitive_axis)
        values = np.append(find_classes(axis, codes[codes >= 0]), NOTHING)[codes]
        own = table.labels[:, : len(kind.quasi)]
        types.append(
            TypeLinks(number, kind.sensitive_axis, own, kind.quasi_axes, record, position, spot, codes, values)
        )
    return Links(known.group, size, tuple(spots), tuple(types))


def _list_values(source: ByVertex, number: int) -> Integers:
    """List the values of the position of each vertex, one per row."""
    spot, code, times = (np.repeat(each, source.entries[number][2]) for each in source.entries[number])
    del times
    order = np.lexsort((code, spot))
    spot, code = spot[order], code[order]
    own = source.spot[number]
    counts = np.bincount(spot, minlength=int(own.max(initial=-1)) + 2)
    starts = np.cumsum(counts) - counts
    listed = np.full((int(counts.max(initial=0)), len(own)), NOTHING)
    for row in range(len(listed)):
        there = counts[own] > row
        listed[row, there] = code[starts[own[there]] + row]
    return listed


def find_classes(axis: Axis, codes: Integers) -> Integers:
    """The class of each value: its bucket; of many numbers, a tenth of those that are published.

    Examples
    --------
    >>> find_classes(Axis(tuple(range(20))), np.arange(20)).tolist()[:6]
    [0, 0, 1, 1, 2, 2]
    >>> find_classes(Axis(("A", "B")), np.arange(2)).tolist()
    [0, 1]
    """
    bucket = bucket_numbers(axis)
    if len(np.unique(bucket[codes])) <= _CLASSES:
        return bucket
    try:
        numbers = np.array([float(value) for value in axis.values])
    except ValueError:
        return bucket
    order = np.argsort(numbers)
    counts = np.bincount(codes, minlength=len(numbers))[order]
    middle = np.cumsum(counts) - counts / 2
    classes = np.empty(len(numbers), np.int64)
    classes[order] = np.minimum(_CLASSES - 1, _CLASSES * middle // max(1, int(counts.sum())))
    return classes


# By values: does a sensitive value follow a label?


def find_worst_values(links: Links) -> tuple[float, float, str, str]:
    """The highest posterior and lift of a value, as lower bounds, with the attribute and the label of the worst."""
    worst = (0.0, 0.0, "", "")
    pairs = sum(_count_pairs(each) for each in links.types)
    chance = min(_CHANCE, _WRONG / max(1, pairs))
    for each in links.types:
        for column, label in enumerate(each.label_names):
            posterior, lift = _bound_column(each, column, chance)
            if max(posterior / POSTERIOR, lift / LIFT) > max(worst[0] / POSTERIOR, worst[1] / LIFT):
                worst = (posterior, lift, each.name, label)
    return worst


def _count_pairs(each: TypeLinks) -> int:
    """How many pairs of a label and a value are tested."""
    values = len(np.unique(each.values[each.values >= 0]))
    return sum(int((np.bincount(column) >= _LEAST).sum()) for column in each.labels.T) * values


def _bound_column(each: TypeLinks, column: int, chance: float) -> tuple[float, float]:
    """The highest posterior and lift of a value for the labels of a column, as lower bounds."""
    from scipy.special import gammainc  # noqa: PLC0415 - listing the methods does not need it

    number = each.number
    given = number > 0
    label, g, values = each.labels[given, column], number[given], each.values[:, given]
    if not len(label):
        return 0.0, 0.0
    # vertices with one label at one position have the same values beside them: these count once for chance
    at = np.unique(each.spot[given] * (int(label.max()) + 1) + label, return_inverse=True)[1]
    times = np.bincount(at)[at]
    width = int(values.max()) + 1
    vertices = np.bincount(label)
    prior = _sum_values(values, np.zeros_like(label), 1 / g, width)[1] / len(label)
    keys, occurrences = _sum_values(values, label, np.ones(len(label)), width, sparse=True)
    _, alone = _sum_values(values, label, 1 / times, width, sparse=True)
    of, value = np.divmod(keys, width)
    size = np.bincount(label, g) / np.maximum(1, vertices)
    spread = np.bincount(label, times * g) / np.maximum(1, vertices) ** 2
    drawn = np.bincount(label, g / times)
    own = prior[value]
    estimate = own * (1 - size[of]) + occurrences / vertices[of]
    bound = estimate - _ERRORS * np.sqrt(own * (1 - own) * spread[of])
    sure = (vertices[of] >= _LEAST) & (gammainc(alone, own * drawn[of]) < chance)
    return float(bound[sure].max(initial=0)), float((bound[sure] / own[sure]).max(initial=0))


def _sum_values(
    values: Integers, label: Integers, weight: Floats, width: int, *, sparse: bool = False
) -> tuple[Integers, Floats]:
    """Add the weights of vertices by label and value: all of them, or those that occur."""
    row, vertex = np.nonzero(values >= 0)
    keys = label[vertex] * width + values[row, vertex]
    if not sparse:
        return np.arange(width), np.bincount(keys, weight[vertex], minlength=width).astype(np.float64)
    names, place = np.unique(keys, return_inverse=True)
    return names, np.bincount(place, weight[vertex], minlength=len(names)).astype(np.float64)


# What is learnt from the release, and how well links fit it.


class Learnt(NamedTuple):
    """How labels and values of a type go together, in some records: logarithms of lifts for pairs that occur."""

    width: int
    keys: tuple[Integers, ...]
    scores: tuple[Floats, ...]
    none: tuple[Floats, ...]
    seen: Flags


def learn(each: TypeLinks, among: Flags) -> Learnt:
    """Learn how labels and values go together from some records: each value of a position is each vertex's by 1/g."""
    chosen = among[each.record] & (each.number > 0)
    values, weight = each.values[:, chosen], 1 / each.number[chosen]
    width = int(each.values.max(initial=0)) + 1
    prior = _sum_values(values, np.zeros(int(chosen.sum()), np.int64), weight, width)[1] / max(1, int(chosen.sum()))
    keys: list[Integers] = []
    scores: list[Floats] = []
    none: list[Floats] = []
    for column in each.labels.T:
        label = column[chosen]
        pairs, sums = _sum_values(values, label, weight, width, sparse=True)
        total = np.bincount(label, minlength=int(column.max(initial=0)) + 1)
        of, value = np.divmod(pairs, width)
        keys.append(np.append(pairs, -1))
        own = (sums + _PRIOR * prior[value]) / ((total[of] + _PRIOR) * prior[value])
        scores.append(np.log(np.append(own, 1.0)))
        none.append(np.log(_PRIOR / (total + _PRIOR)))
    return Learnt(width, tuple(keys), tuple(scores), tuple(none), prior > 0)


def score_values(learnt: Learnt, labels: Integers, values: Integers) -> Floats:
    """Score the values of vertices by their labels: 0 where there is no value, or none like it was learnt."""
    total = np.zeros(values.shape)
    for column, keys, scores, none in zip(labels.T, learnt.keys, learnt.scores, learnt.none, strict=True):
        asked = column * learnt.width + values
        place = np.asarray(np.searchsorted(keys[:-1], asked), np.int64)
        total += np.where(keys[place] == asked, scores[place], none[column])
    return np.where((values >= 0) & learnt.seen[values], total, 0.0)


def score_trees(links: Links, among: Flags, records: Flags, values: Mapping[int, Integers] | None = None) -> Floats:
    """Score each tree of values of a group for each record, with what is learnt among some records.

    Parameters
    ----------
    among
        The records that are learnt from.
    records
        The records that are scored; others have 0.
    values
        Other values of the vertices than their own, by type.
    """
    most = int(links.size.max(initial=0))
    total = np.zeros((len(links.group), most))
    for number, each in enumerate(links.types):
        rows = np.flatnonzero(records[each.record])
        own = (each.values if values is None else values[number])[:, rows]
        scores = score_values(learn(each, among), each.labels[rows], own)
        for version, row in enumerate(scores):
            total[:, version] += np.bincount(each.record[rows], row, minlength=len(total))
    return total


def best_links(scores: Floats) -> Integers:
    """Link rows and columns of each square so that the scores add up to the most.

    Examples
    --------
    >>> best_links(np.array([[[0.0, 2.0], [0.0, 1.0]]])).tolist()
    [[1, 0]]
    """
    size = int(scores.shape[-1])
    if size > _TRIED:
        ways = [assign(square, maximise=True)[1] for square in scores]
        return np.array(ways, np.int64).reshape(len(scores), size)
    best = np.full(len(scores), -np.inf)
    links = np.tile(np.arange(size), (len(scores), 1))
    rows = np.arange(size)
    for way in permutations(range(size)):
        own = scores[:, rows, list(way)].sum(axis=1)
        links[own > best] = way
        best = np.maximum(best, own)
    return links


def _fit(scores: Floats) -> Floats:
    """How well the trees of each group fit: over all ways to link them; of large groups, by the best way."""
    size = int(scores.shape[-1])
    rows = np.arange(size)
    if size > _TRIED:
        return scores[np.arange(len(scores))[:, None], rows, best_links(scores)].sum(axis=1)
    total = np.full(len(scores), -np.inf)
    for way in permutations(range(size)):
        total = np.logaddexp(total, scores[:, rows, list(way)].sum(axis=1))
    return total


def squares(links: Links, size: int, chosen: Flags) -> Integers:
    """The records of the groups of one size, a row per group; of those groups that are chosen.

    Examples
    --------
    >>> links = Links(np.array([1, 0, 1, 0]), np.array([2, 2, 2, 2]), (), ())
    >>> squares(links, 2, np.ones(4, bool)).tolist()
    [[1, 3], [0, 2]]
    """
    records = np.flatnonzero((links.size == size) & chosen)
    order = np.argsort(links.group[records], kind="stable")
    return records[order].reshape(-1, size)


# By trees: do the trees of a group fit its labels better than those of another group?


def compare_trees(links: Links) -> tuple[float, int]:
    """In how many groups the own trees fit better than those of another group, and how many were compared.

    What goes together is learnt from neither of the two groups. Trees are compared at the positions that both groups
    have; a group where both fit as well counts one half.
    """
    better, compared = 0.0, 0
    fold, partner = _pair_groups(links)
    other = {number: _values_of(each, links, partner) for number, each in enumerate(links.types)}
    own = {number: np.where(other[number] >= 0, each.values, NOTHING) for number, each in enumerate(links.types)}
    other = {number: np.where(own[number] >= 0, values, NOTHING) for number, values in other.items()}
    for each in np.unique(fold):
        inside = fold[links.group] == each
        scored = inside & (partner[links.group] >= 0)
        mine, theirs = (score_trees(links, ~inside, scored, values) for values in (own, other))
        for size in np.unique(links.size[scored]).tolist():
            rows = squares(links, size, scored)
            ahead = _fit(mine[rows][:, :, :size]) - _fit(theirs[rows][:, :, :size])
            better += float((ahead > 0).sum()) + float((ahead == 0).sum()) / 2
            compared += len(rows)
    return better, compared


def _pair_groups(links: Links) -> tuple[Integers, Integers]:
    """Put groups into folds, and give each another one of its fold and size, and of about as many vertices; or -1."""
    groups = int(links.group.max(initial=-1)) + 1
    vertices = np.zeros(groups)
    for each in links.types:
        vertices += np.bincount(links.group[each.record], minlength=groups)
    size = np.zeros(groups, np.int64)
    size[links.group] = links.size
    order = np.lexsort((vertices, size))
    fold = np.zeros(groups, np.int64)
    fold[order] = np.arange(groups) // 2 % _FOLDS
    partner = np.full(groups, -1)
    for key in np.unique(fold * (int(size.max(initial=0)) + 1) + size).tolist():
        inside = order[(fold * (int(size.max(initial=0)) + 1) + size)[order] == key]
        if len(inside) > 1:
            partner[inside] = np.roll(inside, 1)
    return fold, partner


def _values_of(each: TypeLinks, links: Links, partner: Integers) -> Integers:
    """The values of the partner of each vertex's group at the same position; -1 where it has no such position."""
    group = links.group[each.record]
    width = int(partner.shape[0]) + 1
    spots, first = np.unique(each.position * width + group, return_index=True)
    asked = each.position * width + partner[group]
    place = np.minimum(np.searchsorted(spots, asked), max(0, len(spots) - 1))
    there = (spots[place] == asked) & (partner[group] >= 0) if len(spots) else np.zeros(0, np.bool_)
    return np.where(there, each.values[:, first[place]], NOTHING)
