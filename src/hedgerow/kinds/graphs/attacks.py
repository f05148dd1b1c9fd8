"""All attacks on a release of a weighted network, with baselines and a control; for the owner only.

An outsider has the release, and what it says about its method. Against methods that keep paths, the outsider also knows
between which vertices they were kept. Every guess of weights is compared with the original beside three figures that
need no attack: the release as it is, the middle of its weights for every edge, and the same guesses for other edges
(control). What a second release of the same data adds is tried where it can be made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow import progress
from hedgerow.errors import HedgerowError, ParameterError
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity, find_anonymous
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.weight_bounds import (
    Bounds,
    ReadPaths,
    all_kept_pairs,
    bound_by_category,
    bound_by_paths,
    read_paths,
)
from hedgerow.kinds.graphs.weight_measures import rows_of
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.short_decimals import DIGITS
from hedgerow.privacy import Guarantee
from hedgerow.score import ATTACK, Score, exact_score

#: the names of attacks, by which methods say what undoes them
FACTORS, PATHS, EXACT = "factor interval", "path inequalities", "exact weights"
#: charts: shares of weights, and figures that are listed only
RECOVERED_5, RECOVERED_10, RECOVERED_25 = (f"weights that attacks recover within {share} %" for share in (5, 10, 25))
_WITHIN = {0.05: RECOVERED_5, 0.1: RECOVERED_10, 0.25: RECOVERED_25}
_READ, _GUESS, _OTHERS = "release as it is", "guess of the median", "weights of others (control)"
#: deviations that an interval of a Gaussian factor reaches to either side: 95 %
_REACH = 2.0
#: a number of at most so many digits was typed or counted; of those that methods publish, one in a hundred is so short
_FEW, _NEAR_WHOLE = DIGITS - 2, 1e-6
#: whole numbers of more digits are among those that methods publish, too
_MOST_WHOLE = 10.0 ** (DIGITS - 4)
#: edges whose weights are bounded; the largest network and number of pairs for which they are, and that is published
#: a second time by methods that keep paths
_TARGETS, _MOST_EDGES, _MOST_PAIRS = 40, 20_000, 20_000
#: relative error up to which a number is exact
_EXACTLY = 1e-9

#: publishes the same data by the same recipe again
Again = Callable[[], Graph]


def attack(
    original: Graph,
    released: Graph,
    *,
    undone_by: tuple[str, ...],
    parameters: Mapping[str, Any],
    rng: np.random.Generator,
    known: int | None = None,
    guarantee: Guarantee | None = None,
    again: Again | None = None,
) -> list[Score]:
    """Attack a release of a weighted network in all ways that are known for it.

    Parameters
    ----------
    undone_by
        Which attacks undo its method, as the method says; all that are possible, if it says none.
    parameters
        The parameters of the method, as the release says.
    known
        Not used: no attack needs known weights.
    guarantee
        The promise of the release.
    again
        Publishes the same data by the same recipe again; no second release if None.
    """
    del known
    truth = _truth(original, released)
    second = _publish_again(again, released) if _is_small(released) or FACTORS in undone_by else None
    guesses: dict[str, tuple[Graph, Floats]] = {}
    scores: list[Score] = []
    if FACTORS in undone_by or (not undone_by and "sigma" in parameters):
        deviation = effective_deviation(parameters, directed=released.directed)
        guesses[FACTORS] = released, shrink_factor(released.require_weights(), deviation)
        scores += _score_interval(factor_interval(released.require_weights(), deviation), truth, rng)
        if second is not None:
            guesses["mean of two releases"] = released, average_releases([released, second])
    if PATHS in undone_by and _is_small(released):
        scores += _attack_paths(original, released, second, parameters, rng)
    flags = guess_exact(released, second, guarantee, parameters, whole=_are_whole(truth))
    scores += _score_exact(truth, released, flags, rng)
    if _are_whole(truth):
        for name, (release, guess) in {"": (released, released.require_weights()), **guesses}.items():
            guesses[f"{name}, rounded" if name else "rounding to whole numbers"] = (
                release,
                np.maximum(1, np.rint(guess)),
            )
    for name, (release, guess) in guesses.items():
        scores += _score_guess(name, guess, release.require_weights(), truth, rng)
    return scores


def _truth(original: Graph, released: Graph) -> Floats:
    if released.weights is None:
        msg = "there are no attacks on networks without weights; hedgerow evaluate infers their edges"
        raise ParameterError(msg)
    same = original.domain.values("vertex") == released.domain.values("vertex")
    same = same and np.array_equal(original.first, released.first) and np.array_equal(original.second, released.second)
    if not same:
        msg = "the edges of the data are not those of the release; give the data it was made from, read as for publish"
        raise ParameterError(msg)
    return original.require_weights()


def _is_small(released: Graph) -> bool:
    return len(released) <= _MOST_EDGES


def _publish_again(again: Again | None, released: Graph) -> Graph | None:
    """Make a second release; None if that fails, as without the key of a network that grows, or if it is the first."""
    if again is None:
        return None
    progress.tell("publishing a second time, to attack both")
    try:
        second = again()
    except HedgerowError:
        return None
    drawn_anew = second.weights is not None and not np.array_equal(second.weights, released.require_weights())
    return second if len(second) == len(released) and drawn_anew else None


# Weights that were multiplied by a Gaussian factor.


def effective_deviation(parameters: Mapping[str, Any], *, directed: bool) -> float:
    """The deviation of the factor of a weight: of one draw, or of the mean of two for an edge without direction.

    Examples
    --------
    >>> round(effective_deviation({"sigma": 0.2}, directed=False), 4)
    0.1414
    """
    sigma = float(parameters.get("sigma", 0.1))
    if directed:
        return sigma
    drawn = sigma * np.sqrt(2) if parameters.get("calibrated", False) else sigma
    return float(drawn if parameters.get("owner", "both") == "one" else drawn / np.sqrt(2))


def factor_interval(released: Floats, deviation: float) -> Bounds:
    """The interval that has the original weight with a probability of 95 %.

    Examples
    --------
    >>> low, high = factor_interval(np.array([12.0]), 0.1)
    >>> low.tolist(), high.tolist()
    ([10.0], [15.0])
    """
    below = 1 - _REACH * deviation
    high = released / below if below > 0 else np.full(len(released), np.inf)
    return Bounds(released / (1 + _REACH * deviation), high)


def shrink_factor(released: Floats, deviation: float) -> Floats:
    """The multiple of a released weight that errs least: the mean of (c f - 1)^2 is least at c = E f / E f^2."""
    return released / (1 + deviation**2)


def average_releases(releases: Sequence[Graph]) -> Floats:
    """The mean of several releases of the same weights, which undoes noise that is drawn afresh.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1)], weights=[2.0], domain=Domain.declare(vertex=range(2)))
    >>> average_releases([graph, graph.weighted(np.array([3.0]))]).tolist()
    [2.5]
    """
    return np.mean([each.require_weights() for each in releases], axis=0)


def _score_interval(bounds: Bounds, truth: Floats, rng: np.random.Generator) -> list[Score]:
    covered = {"": bounds.hold(truth).mean(), _OTHERS: bounds.hold(truth[rng.permutation(len(truth))]).mean()}
    return [
        exact_score(
            f"{ATTACK}{FACTORS}: intervals that have the weight", float(covered[""]), {_OTHERS: float(covered[_OTHERS])}
        ),
        exact_score(
            f"{ATTACK}{FACTORS}: half width of the interval, relative to its middle",
            float(np.median(bounds.half_widths())),
            {},
            better="higher",
        ),
    ]


# Weights of a network whose paths were kept.


def _attack_paths(
    original: Graph, released: Graph, second: Graph | None, parameters: Mapping[str, Any], rng: np.random.Generator
) -> list[Score]:
    """Bound weights by kept paths, in one release and in two."""
    pairs = all_kept_pairs(original)
    if not len(pairs) or len(pairs) > _MOST_PAIRS:
        return []
    truth = original.require_weights()
    targets = np.sort(rng.choice(len(truth), min(_TARGETS, len(truth)), replace=False))
    others = truth[rng.permutation(len(truth))]
    releases = {PATHS: [released]} | ({} if second is None else {f"{PATHS} of two releases": [released, second]})
    scores: list[Score] = []
    for name, each in releases.items():
        box, paths = bound_by_releases(each, pairs, parameters, whole=_are_whole(truth))
        bounds = bound_by_paths(released, paths, box, targets)
        bounds = (bounds.whole() if _are_whole(truth) else bounds).at(targets)
        scores += score_bounds(name, bounds, box.at(targets), truth[targets], others[targets])
        guess = bounds.middles(released.require_weights()[targets])
        scores += _score_guess(name, guess, released.require_weights()[targets], truth[targets], rng)
    return scores


def bound_by_releases(
    releases: Sequence[Graph], pairs: Integers, parameters: Mapping[str, Any], *, whole: bool = False
) -> tuple[Bounds, ReadPaths]:
    """What releases of the same data bound each weight to, edge by edge, and the paths that all of them kept.

    An edge that stands with one weight in several releases was not changed in any of them; nor was one with a whole
    number of up to three digits, where weights are whole numbers: of new ones with seven digits, hardly any is whole.

    Parameters
    ----------
    whole
        Whether it is known that weights are whole numbers, such as counts.
    """
    paths = read_paths(releases[0], pairs)
    box = bound_by_category(releases[0], paths, parameters)
    for each in releases[1:]:
        box = box.both(bound_by_category(each, read_paths(each, pairs), parameters))
    weights = releases[0].require_weights()
    stands = np.full(len(weights), len(releases) > 1)
    for each in releases[1:]:
        stands &= each.require_weights() == weights
    if whole:
        stands |= (weights == np.rint(weights)) & (weights < _MOST_WHOLE)
    box = Bounds(np.where(stands, weights, box.low), np.where(stands, weights, box.high))
    return (box.whole() if whole else box), paths


def score_bounds(name: str, bounds: Bounds, box: Bounds, truth: Floats, others: Floats) -> list[Score]:
    """How many weights are bounded to within some share, how many bounds hold, and by the box alone."""
    alone = "edge by edge"
    scores = [
        exact_score(
            f"{ATTACK}{name}: bounds that hold",
            float(bounds.hold(truth).mean()),
            {_OTHERS: float(bounds.hold(others).mean())},
        ),
        exact_score(
            f"{ATTACK}{name}: median half width of bounds, relative to their middle",
            float(np.median(bounds.half_widths())),
            {alone: float(np.median(box.half_widths()))},
            better="higher",
        ),
    ]
    for share in _WITHIN:
        values = [float((each.half_widths() <= share).mean()) for each in (bounds, box)]
        title = f"{ATTACK}{name}: weights bounded to within {100 * share:g} %"
        scores.append(exact_score(title, values[0], {alone: values[1]}, better="lower"))
    return scores


# Weights that stand as they were.


def stand_out(weights: Floats, digits: int = _FEW) -> Flags:
    """Which numbers have few digits: those that were typed, counted or read, since methods publish seven.

    Examples
    --------
    >>> stand_out(np.array([3.0, 0.052632, 2.718282, 1234.5])).tolist()
    [True, True, False, True]
    """
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(weights)))
    scaled = weights * scale
    return np.abs(scaled - np.rint(scaled)) <= _NEAR_WHOLE


def stand_at_distance(graph: Graph, distance: float) -> Flags:
    """Which edges differ in weight by this distance from another edge that leaves a vertex of theirs.

    A method that moves weights no farther than it must leaves them there.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> edges, weights = [(0, 1), (0, 2), (0, 3)], [10, 13, 15]
    >>> graph = Graph.from_edges(edges, weights=weights, domain=Domain.declare(vertex=range(4)), directed=True)
    >>> stand_at_distance(graph, 3.0).tolist()
    [True, True, False]
    """
    weights = graph.require_weights()
    rows, edges = rows_of(graph)
    # one number per arc that sorts by vertex, then by weight: vertices are farther apart than weights
    apart = 2 * (float(weights.max(initial=0)) + distance)
    keys = rows * apart + weights[edges]
    ordered, slack = np.sort(keys), _NEAR_WHOLE * distance
    near = np.zeros(len(keys), np.bool_)
    for sign in (-1, 1):
        wanted = keys + sign * distance
        near |= np.searchsorted(ordered, wanted - slack) < np.searchsorted(ordered, wanted + slack, side="right")
    flags = np.zeros(len(weights), np.bool_)
    flags[edges[near]] = True
    return flags


def guess_exact(
    released: Graph,
    second: Graph | None,
    guarantee: Guarantee | None,
    parameters: Mapping[str, Any],
    *,
    whole: bool = False,
) -> dict[str, Flags]:
    """Guess which weights stand as they were: by their digits, by a second release, by what was promised.

    Few digits tell weights that had few among new ones with seven, and many digits those that had more. Where it is
    known that weights are whole numbers, those that are not were moved.
    """
    weights = released.require_weights()
    guesses: dict[str, Flags] = {"few digits": stand_out(weights), "many digits": ~stand_out(weights, DIGITS)}
    if whole:
        guesses["whole numbers"] = weights == np.rint(weights)
    if second is not None:
        guesses["equal in two releases"] = second.require_weights() == weights
    parts = () if guarantee is None else guarantee.parts()
    for promise in parts:
        if isinstance(promise, MuWeightedKAnonymity):
            guesses["not anonymous"] = ~find_anonymous(released, promise)[: len(weights)]
            if parameters.get("choice") == "closest":
                guesses["not at the end of a window"] = ~stand_at_distance(released, float(promise.mu))
    return guesses


def _score_exact(truth: Floats, released: Graph, guesses: Mapping[str, Flags], rng: np.random.Generator) -> list[Score]:
    stand = np.abs(released.require_weights() - truth) <= _EXACTLY * truth
    others = stand[rng.permutation(len(stand))]
    scores: list[Score] = []
    for name, flags in guesses.items():
        title = f"{ATTACK}{EXACT}, {name}"
        share = {"weights that stand": float(stand.mean())}
        recovered = float((stand & flags).mean())
        scores.append(exact_score(f"{title}: weights recovered exactly", recovered, share, better="lower"))
        if flags.any():
            right = float(stand[flags].mean())
            controls = {"any edge": float(stand.mean()), _OTHERS: float(others[flags].mean())}
            scores.append(exact_score(f"{title}: guesses that are right", right, controls, better="lower"))
    return scores


def _are_whole(weights: Floats) -> bool:
    """Whether all weights are whole numbers; whoever knows what is counted knows that they are."""
    return bool(np.all(weights == np.rint(weights)) and len(weights))


# How much of the original a guess has, and how much of it can be had without the attack.


def _score_guess(name: str, guess: Floats, read: Floats, truth: Floats, rng: np.random.Generator) -> list[Score]:
    ways = {
        "": guess,
        _READ: read,
        _GUESS: np.full(len(truth), np.median(read)),
        _OTHERS: guess[rng.permutation(len(guess))],
    }
    errors = {way: np.abs(each - truth) / truth for way, each in ways.items()}
    scores: list[Score] = []
    for share, chart in _WITHIN.items():
        shares = {way: float((each <= share * (1 + _EXACTLY)).mean()) for way, each in errors.items()}
        value = shares.pop("")
        title = f"{ATTACK}{name}: weights within {100 * share:g} %"
        scores.append(exact_score(title, value, shares, better="lower", chart=chart, at=name))
    roots = {way: float(np.sqrt((each**2).mean())) for way, each in errors.items()}
    value = roots.pop("")
    scores.append(exact_score(f"{ATTACK}{name}: relative root mean square error", value, roots, better="higher"))
    exact = {way: float((each <= _EXACTLY).mean()) for way, each in errors.items()}
    value = exact.pop("")
    scores.append(exact_score(f"{ATTACK}{name}: weights recovered exactly", value, exact, better="lower"))
    return scores
