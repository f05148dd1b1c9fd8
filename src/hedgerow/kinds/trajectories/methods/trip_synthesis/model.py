"""What trip synthesis fits to noisy answers: tables of pairs, and how places and times follow each other.

Only noisy and public values are used here: answers, the axes of the domain, and classes of lengths, distances and gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hedgerow.data.axis import Axis
from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.projections import project_to_simplex
from hedgerow.numerics.proportional_fitting import fit_margins, ratio, scale_rows
from hedgerow.numerics.rounding import on_count_grid, on_grid
from hedgerow.numerics.shrinkage import shrink_by_size, shrink_cells
from hedgerow.numerics.visit_classes import BACK, NEW, SEEN, STAY, STEP_POSITIONS


class Noisy(NamedTuple):
    """Noisy answers, the scale of their noise in the same units, and what they cost."""

    values: Floats
    scale: float
    spend: float


@dataclass(frozen=True, eq=False)
class CrossTables:
    """Noisy tables that couple times with places, and the blocks and groups that they are about."""

    start: Noisy
    end: Noisy
    first_block: Integers
    last_block: Integers
    first_group: Integers
    last_group: Integers


class TripModel(NamedTuple):
    """What is known of whole records: fitted tables, noisy tables that name two of them, and public classes.

    `lengths` are records by length, `times` and `ends` by pairs of times and of places. `gaps` and `closeness` are the
    classes of all pairs. `gap` is the least time between two visits.
    """

    lengths: Floats
    times: Floats
    ends: Floats
    lengths_and_gaps: Noisy
    lengths_and_closeness: Noisy
    cross: CrossTables
    gaps: Integers
    closeness: Integers
    gap: int


# ---- public facts: classes of lengths, the closeness of places, and groups of items

#: visits of a record that are not inner ones: the first and the last
ENDS = 2
#: the largest length of each class
_LONGEST = (4, 8, 16, 32, 64)


def length_classes(longest: int) -> Integers:
    """The class of each length 0, 1, ... `longest`: -1 up to two visits, then 3-4, 5-8, 9-16, ...

    Examples
    --------
    >>> length_classes(10).tolist()
    [-1, -1, -1, 0, 0, 1, 1, 1, 1, 2, 2]
    """
    length = np.arange(longest + 1)
    return np.where(length <= ENDS, -1, np.searchsorted(_LONGEST, length))


def most_inner_visits(longest: int) -> Integers:
    """The largest number of inner visits of a record of each class of lengths.

    Examples
    --------
    >>> most_inner_visits(8).tolist()
    [2, 6]
    """
    classes = int(length_classes(longest)[-1]) + 1
    return np.minimum(_LONGEST[:classes], longest) - ENDS


#: where the closeness of places comes from
CLOSENESS = ("auto", "coordinates", "declared", "none")
#: classes of distances, the quantile of distances at which they begin, and the weight of an empty item in a group
_CLASSES, _NEAREST, _LITTLE = 10, 0.002, 1e-9


@dataclass(frozen=True, eq=False)
class Closeness:
    """How close places are, from the domain alone.

    `classes` has the class of every pair of places; class 0 is the same place. `order` puts close places next to each
    other; None if nothing is known about places.
    """

    classes: Integers
    order: Integers | None

    @classmethod
    def of(cls, axis: Axis, source: str) -> Closeness:
        """Take coordinates, declared paths or nothing; `auto` takes the first of these that the domain has."""
        points = np.array(axis.coordinates, np.float64).reshape(-1, 2)
        if source == "coordinates" and not len(points):
            msg = "the places have no coordinates; declare them, or take closeness=auto"
            raise DomainError(msg)
        if source == "declared" and not axis.paths:
            msg = "the places have no declared paths; declare them, or take closeness=auto"
            raise DomainError(msg)
        if len(points) and source in {"auto", "coordinates"}:
            points = points * np.array([np.cos(np.radians(points[:, 1].mean())), 1.0])
            return cls(closeness_by_coordinates(points), _morton_order(points))
        if axis.paths and source in {"auto", "declared"}:
            order = sorted(range(len(axis)), key=lambda place: axis.paths[place])
            return cls(closeness_by_paths(axis.paths), np.array(order, np.int64))
        return cls(_same_or_not(len(axis)), None)

    def ordered(self, popularity: Floats) -> Integers:
        """The order of places: close ones next to each other, or by falling popularity if nothing is known."""
        return np.argsort(-on_grid(popularity), kind="stable") if self.order is None else self.order


def closeness_by_coordinates(points: Floats, classes: int = _CLASSES) -> Integers:
    """The class of the distance of every pair of points: 0 for a place itself, then on a logarithmic scale.

    Examples
    --------
    >>> closeness_by_coordinates(np.array([[0.0, 0], [1, 0], [2, 0], [4, 0], [8, 0]]))[0].tolist()
    [0, 1, 4, 7, 9]
    """
    east, north = (points[:, axis][:, None] - points[:, axis] for axis in (0, 1))
    distance = on_grid(np.hypot(east, north))
    pairs = distance[np.triu_indices(len(points), 1)]
    if not pairs.any():
        return _same_or_not(len(points))
    nearest = float(np.quantile(pairs, _NEAREST)) or float(pairs[pairs > 0].min())
    bounds = on_grid(np.geomspace(nearest, float(pairs.max()), classes - 1)[:-1])
    return np.where(np.eye(len(points), dtype=np.bool_), 0, 1 + np.searchsorted(bounds, distance))


def closeness_by_paths(paths: tuple[tuple[str, ...], ...]) -> Integers:
    """The class of every pair of places by the depth of their lowest common group, the deepest first.

    Examples
    --------
    >>> closeness_by_paths((("north", "a"), ("north", "a"), ("north", "b"), ("south",)))[0].tolist()
    [0, 1, 2, 3]
    """
    shared = np.zeros((len(paths), len(paths)), np.int64)
    for depth in range(1, 1 + max(map(len, paths))):
        numbers: dict[tuple[str, ...], int] = {}
        # a path that ends above this depth shares nothing at it
        group = [numbers.setdefault(path[:depth], len(numbers)) if len(path) >= depth else -1 for path in paths]
        number = np.array(group, np.int64)
        shared += (number[:, None] == number) & (number >= 0)
    np.fill_diagonal(shared, -1)
    depths = np.unique(shared[shared >= 0])
    return np.where(shared < 0, 0, len(depths) - np.searchsorted(depths, shared))


def _same_or_not(places: int) -> Integers:
    """Two classes of pairs: a place itself, and any other place."""
    return 1 - np.eye(places, dtype=np.int64)


def _morton_order(points: Floats) -> Integers:
    """Order points along the Z-order curve of their ranks; points at one place keep their order."""
    code = np.zeros(len(points), np.int64)
    for axis in (0, 1):
        rank = np.unique(points[:, axis], return_inverse=True)[1].reshape(-1)
        for bit in range(int(rank.max(initial=0)).bit_length()):
            code |= (rank >> bit & 1) << (2 * bit + axis)
    return np.argsort(code, kind="stable")


def group_by_weight(weight: Floats, order: Integers, most: int) -> Integers:
    """Cut items, in an order, into at most `most` groups of about equal weight; a heavy item is a group by itself.

    Examples
    --------
    >>> group_by_weight(np.array([8.0, 1, 1, 1, 1, 4]), np.arange(6), 4).tolist()
    [0, 1, 1, 1, 1, 2]
    """
    items = len(weight)
    if most >= items:
        return np.arange(items)
    total = float(weight.sum())
    mass = weight[order] + _LITTLE * total if total > 0 else np.ones(items)
    upto = np.cumsum(mass)
    at = np.minimum(np.floor(on_count_grid(most * (upto - mass / 2) / upto[-1])), most - 1)
    groups = np.empty(items, np.int64)
    groups[order] = np.unique(at, return_inverse=True)[1].reshape(-1)
    return groups


# ---- margins: first and last places, and inner visits by class of lengths


def inner_visits(lengths: Floats) -> Floats:
    """How many inner visits the records of each class have, given the number of records of length 1, 2, ..."""
    return _by_class(lengths, np.arange(1, len(lengths) + 1) - ENDS)


def count_departures(lengths: Floats, first: Floats, inner: Floats) -> Floats:
    """Steps by where, or when, they start, in records of three visits and more; the steps of a record weigh 1 together.

    Parameters
    ----------
    lengths
        How many records have 1, 2, ... visits.
    first, inner
        All records by their first state, and inner visits by class of lengths and state. With last states instead of
        first ones, the result is where steps end.
    """
    length = np.arange(1, len(lengths) + 1)
    each = np.where(length > ENDS, lengths / np.maximum(1, length - 1), 0.0)
    visits, weighed = inner_visits(lengths), _by_class(each, length - ENDS)
    number = float(lengths.sum())
    part = np.divide(weighed, visits, out=np.zeros_like(visits), where=visits > 0)
    return first * (float(each.sum()) / number if number > 0 else 0.0) + part @ inner


def _by_class(lengths: Floats, weight: Integers) -> Floats:
    """Add up the weighted numbers of records of each length by class of lengths."""
    classes = length_classes(len(lengths))[1:]
    kept = classes >= 0
    return np.bincount(classes[kept], (lengths * weight)[kept], int(classes[-1]) + 1).astype(np.float64)


class PlaceMargins(NamedTuple):
    """How many records start and end at each place, and inner visits by class of length and place."""

    popularity: Floats
    first: Floats
    last: Floats
    inner: Floats


def place_margins(first: Noisy, last: Noisy, inner: list[Noisy], number: float, visits: Floats) -> PlaceMargins:
    """Shrink the margins of places towards their common popularity.

    `number` records have a first and a last place; `visits` are the inner visits of each class of lengths.
    """
    answers = [first, last, *inner]
    totals = np.array([number, number, *visits])
    weight = totals / np.array([answer.scale for answer in answers]) ** 2
    pooled = weight @ np.array([answer.values for answer in answers])
    places = len(first.values)
    popularity = simplex(pooled / (weight @ totals), 1.0) if totals.any() else np.full(places, 1 / places)
    fitted = [shrunk_margin(answer, popularity, total) for answer, total in zip(answers, totals, strict=True)]
    return PlaceMargins(popularity, fitted[0], fitted[1], np.array(fitted[2:]).reshape(-1, places))


def time_margins(inner: list[Noisy], popular: Floats, visits: Floats) -> Floats:
    """Shrink inner visits by time towards the popularity of first and last times, one row per class of lengths."""
    popularity = popular * ratio(1.0, popular.sum())
    return np.array([shrunk_margin(noisy, popularity, total) for noisy, total in zip(inner, visits, strict=True)])


def shrunk_margin(answer: Noisy, popularity: Floats, total: float) -> Floats:
    """Shrink one margin towards a popularity, with a given total."""
    return simplex(shrink_by_size(answer.values, total * popularity, answer.scale).values, total)


# ---- tables of pairs: proportional fitting to margins and classes, then single cells as far as the noise allows

#: rounds of proportional fitting: to coarse tables, to blocks of times, after single cells were corrected
_ROUNDS, _BLOCK_ROUNDS, _CELL_ROUNDS = 30, 8, 3
#: what keeps every pair of times possible, as a part of the mean
_LITTLE_TIME = 1e-3
#: how much of the model of transitions may be the fitted table of first and last places
_LIKE_ENDS = (0.9, 0.5, 0.1)


def fit_times(
    first: Floats,
    last: Floats,
    gaps: Noisy,
    classes: Integers,
    ask_blocks: Callable[[Floats], tuple[Integers, Noisy]],
    *,
    single: float | None = None,
) -> Floats:
    """Fit how many records start and end at each pair of times: to margins, classes of gaps, and blocks of times.

    `ask_blocks` cuts times of these weights into blocks, and asks for the pairs of blocks. Where times increase
    strictly, `single` records have one visit, and these are the records that start and end at the same time. Where
    noisy first times are later than all noisy last times, no pair agrees with both, and the first times are kept.
    """
    number, times = float(first.sum()), len(first)
    little = _LITTLE_TIME * number / times
    # the constant keeps a way from each time to a later one
    model = np.triu(np.outer(first + little, last + little)) * ratio(1.0, number)
    by_first = scale_rows(model, first)
    totals = simplex(gaps.values, number)
    if single is not None and len(totals) > 1:
        totals = np.append(single, simplex(gaps.values[1:], number - single))
    model = fit_classes(model, classes, totals, first, last)
    block, noisy = ask_blocks(first + last)
    pair = block[:, None] * (int(block.max()) + 1) + block
    target = shrink_cells(noisy.values, _sums(model, pair, len(noisy.values)), noisy.scale).values
    target *= ratio(number, target.sum())
    for _ in range(_BLOCK_ROUNDS):
        model = model * ratio(target, _sums(model, pair, len(target)))[pair]
        model = fit_margins(model, first, last, rounds=1)
    if single is not None:
        # blocks of times do not know that only records of one visit take no time
        model = fit_classes(model, np.minimum(classes, 1), np.array([single, number - single]), first, last)
    return on_grid(model if model.any() else by_first)


def fit_ends(margins: PlaceMargins, closeness: Floats, classes: Integers, cells: Noisy) -> Floats:
    """Fit how many records start and end at each pair of places: a gravity model, corrected by single cells."""
    number = float(margins.first.sum())
    model = np.outer(margins.first, margins.last) * ratio(1.0, number)
    return fit_pairs(model, margins.first, margins.last, simplex(closeness, number), classes, cells)


def fit_steps(
    rows: Floats, columns: Floats, ends: Floats, closeness: Floats, classes: Integers, cells: Noisy
) -> Floats:
    """Fit the transitions between places.

    The model is the table of first and last places, mixed with independence. Round trips end where they start, so that
    their ends say nothing about their steps: the mixture is the one that is closest to the noisy transitions.
    """
    number = float(rows.sum())
    independent = np.outer(rows, columns) * ratio(1.0, number)
    alike = number * ends * ratio(1.0, ends.sum())
    totals, noisy = simplex(closeness, number), cells.values.reshape(ends.shape)
    models = [
        fit_classes(part * alike + (1 - part) * independent, classes, totals, rows, columns) for part in _LIKE_ENDS
    ]
    best = min(models, key=lambda model: float(on_grid(np.sum((noisy - model) ** 2))))
    return correct_cells(best, rows, columns, cells)


def fit_pairs(model: Floats, rows: Floats, columns: Floats, totals: Floats, classes: Integers, cells: Noisy) -> Floats:
    """Fit a table of pairs to its margins and classes, then correct single cells as far as the noise allows."""
    return correct_cells(fit_classes(model, classes, totals, rows, columns), rows, columns, cells)


def fit_classes(
    table: Floats, classes: Integers, totals: Floats, rows: Floats, columns: Floats, *, rounds: int = _ROUNDS
) -> Floats:
    """Iterative proportional fitting to the totals of classes of cells, and to row and column sums.

    Noisy sums may exclude each other, so that nothing is left: then the table stays as it was.
    """
    fitted = table
    for _ in range(rounds):
        now = _sums(fitted, classes, len(totals))
        fitted = fit_margins(fitted * ratio(totals, now)[classes], rows, columns, rounds=1)
    return fitted if fitted.any() else table


def correct_cells(model: Floats, rows: Floats, columns: Floats, cells: Noisy) -> Floats:
    """Correct single cells of a model as far as the noise allows.

    A cell that is taken as answered keeps its answer; scaling it to the margins as well would inflate it.
    """
    number = float(rows.sum())
    shrunk = shrink_by_size(cells.values.reshape(model.shape), model, cells.scale)
    known = np.where(shrunk.known, shrunk.values, 0.0)
    left = max(0.0, number - float(known.sum()))
    row_rest, column_rest = (
        np.maximum(0.0, margin - known.sum(axis=axis)) for margin, axis in ((rows, 1), (columns, 0))
    )
    rest = np.where(shrunk.known, 0.0, shrunk.values)
    row_rest, column_rest = (margin * ratio(left, margin.sum()) for margin in (row_rest, column_rest))
    table = known + fit_margins(rest, row_rest, column_rest, rounds=_CELL_ROUNDS)
    return on_grid(table * ratio(number, table.sum()) if table.any() else model)


def _sums(table: Floats, cells: Integers, number: int) -> Floats:
    """The sum of each class of cells."""
    return np.bincount(cells.ravel(), table.ravel(), number).astype(np.float64)


# ---- kernels: how places and times follow each other

#: the largest chance to stay in the look-ahead
_MOST_STAY_AHEAD = 0.95
#: how many steps the general chance to stay weighs at each place, and new steps by general popularity
_STAY_STEPS, _NEW_STEPS = 3.0, 1.0
#: what keeps every later time reachable
_LITTLE_GOAL, _TINY = 1e-3, 1e-6


class Kernels(NamedTuple):
    """How places and times follow each other, and the least time between two visits."""

    places: PlaceKernel
    times: Floats
    gap: int


class PlaceKernel(NamedTuple):
    """Transitions between places.

    `types` are the chances of each type of step, by its number; `new` are those of a new place, one row per place;
    `stay` is the factor of the chance to stay at each place; `ahead` is one step without regard to the past.
    """

    types: Floats
    new: Floats
    stay: Floats
    ahead: Floats


def place_kernel(step_types: Floats, steps: Floats) -> PlaceKernel:
    """Estimate transitions from the noisy types of steps and the fitted steps between places."""
    impossible = np.zeros((STEP_POSITIONS, 4), np.bool_)
    impossible[0, BACK] = impossible[:2, SEEN] = True
    counts = np.where(impossible, 0.0, np.maximum(0.0, step_types))
    types, overall = chances_of_types(counts), chances_of_types(counts.sum(axis=0, keepdims=True))[0]
    kept = np.diag(steps)
    moves = steps - np.diag(kept)
    out, into = moves.sum(axis=1), moves.sum(axis=0)
    popular = into / into.sum() if into.any() else np.full(len(into), 1 / len(into))
    new = moves + _NEW_STEPS * popular
    np.fill_diagonal(new, 0.0)
    new = new * ratio(1.0, new.sum(axis=1))[:, None]
    general = float(ratio(overall[STAY], overall[STAY] + overall[NEW]))
    stay = np.ones(len(kept))
    if general > 0:
        stay = (kept + _STAY_STEPS * general) / (kept + out + _STAY_STEPS) / general
    # one goes back to where one came from
    back = new.T * popular
    back = back * ratio(1.0, back.sum(axis=1))[:, None]
    staying = np.minimum(_MOST_STAY_AHEAD, overall[STAY] * stay)[:, None]
    returning = float(ratio(overall[BACK] + overall[SEEN], overall[BACK] + overall[SEEN] + overall[NEW]))
    ahead = (1 - staying) * (returning * back + (1 - returning) * new)
    ahead[np.diag_indices_from(ahead)] += staying[:, 0]
    return PlaceKernel(on_grid(types), on_grid(new), on_grid(stay), on_grid(ahead))


def fresh_part(step_types: Floats) -> float:
    """The part of the steps that stay or go to a new place."""
    kinds = np.maximum(0.0, step_types).sum(axis=0)
    return float(ratio(kinds[STAY] + kinds[NEW], kinds.sum()))


def chances_of_types(counts: Floats) -> Floats:
    """Scale each row of counts of types to 1; a row without any is a new place."""
    rows = counts * ratio(1.0, counts.sum(axis=1))[:, None]
    rows[~counts.any(axis=1), NEW] = 1.0
    return rows


def time_kernel(
    departures: Floats, block: Integers, gaps: Noisy, classes: Integers, popular: Floats, gap: int
) -> Floats:
    """Estimate the chance of each next time, given the time: by block of times and class of gaps.

    Within a class of gaps, later times are as likely as visits are (`popular`). `gap` is the least time between visits.
    """
    number, blocks, kinds = float(departures.sum()), int(block.max()) + 1, int(classes.max()) + 1
    noisy = gaps.values.reshape(blocks, kinds)
    by_gap = simplex(noisy.sum(axis=0), number) * ratio(1.0, number)
    model = np.outer(np.bincount(block, departures, blocks), by_gap)
    weight = shrink_by_size(noisy, model, gaps.scale).values + _TINY
    # the constants keep a way from every time to every later one
    visits = popular + max(_LITTLE_GOAL * popular.mean(), _TINY)
    times = len(visits)
    later = np.triu(np.ones((times, times)), gap) * visits
    cell = np.arange(times)[:, None] * kinds + classes
    within = np.bincount(cell.ravel(), later.ravel(), times * kinds)
    kernel = weight[block[:, None], classes] * later * ratio(1.0, within)[cell]
    return on_grid(kernel * ratio(1.0, kernel.sum(axis=1))[:, None])


# ---- shrinkage of noisy answers


def simplex(noisy: Floats, total: float) -> Floats:
    """Return the closest numbers that are not negative and have this total; zeros if it is not positive.

    Examples
    --------
    >>> simplex(np.array([5.0, 3, 0, -4]), 4).tolist()
    [3.0, 1.0, 0.0, 0.0]
    """
    if total <= 0:
        return np.zeros_like(noisy)
    return project_to_simplex(noisy[None, :], np.array([float(total)]))[0]
