"""affinity-weights: paths and lengths stay, arcs are what the definition says, and planted bugs are caught."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import warnings

import numpy as np
import pytest
from anonymous_arcs import anonymous_by_definition, network, random_network
from project import VECTORS

from hedgerow import Domain, Graph, progress
from hedgerow.errors import HedgerowError, InternalError, NotSatisfied, ParameterError
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity, count_anonymous
from hedgerow.kinds.graphs.methods import affinity_weights
from hedgerow.kinds.graphs.methods.affinity_weights import AffinityWeights, EdgeSweep, Reach, goal_of
from hedgerow.kinds.graphs.methods.anonymity_windows import Interval
from hedgerow.kinds.graphs.methods.arc_rows import ArcRows
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.numerics.short_decimals import DIGITS, count_digits
from hedgerow.testing import changed

VECTOR = json.loads((VECTORS / "affinity-weights.json").read_text())
#: a share that any arc reaches
ANY = "1/1000000"
pytestmark = pytest.mark.filterwarnings("ignore:mu is at least", "ignore:k = ", "ignore:moved weights show")


def simple_paths(data, weights, source, target):
    """The length of every path from one vertex to another."""
    onward = {}
    for start, end, weight in zip(data.first.tolist(), data.second.tolist(), weights.tolist(), strict=True):
        onward.setdefault(start, []).append((end, weight))
        if not data.directed:
            onward.setdefault(end, []).append((start, weight))
    lengths, open_paths = {}, [((source,), 0.0)]
    while open_paths:
        path, length = open_paths.pop()
        if path[-1] == target:
            lengths[path] = length
            continue
        open_paths += [((*path, end), length + w) for end, w in onward.get(path[-1], []) if end not in path]
    return lengths


def shortest(lengths):
    least = min(lengths.values())
    return {path for path, length in lengths.items() if length <= least + 1e-8}, least


def check(data, promise, seed=1, **settings):
    """Publish, and check everything that the method is for by going through all paths; return the release."""
    release = AffinityWeights(**settings).publish(data, promise, seed=seed)
    out = release.data
    assert (out.first.tolist(), out.second.tolist()) == (data.first.tolist(), data.second.tolist())
    assert out.paths is None
    for source, target in data.paths.listed.tolist() if data.paths else ():
        before, d = shortest(simple_paths(data, data.weights, source, target))
        after, now = shortest(simple_paths(out, out.weights, source, target))
        assert before & after, "a shortest path is lost"
        assert len(before) > 1 or before == after, "a shortest path has a rival that it had not"
        assert abs(now - d) <= settings.get("tau", 0.2) * d + 1e-7, "a length changed by too much"
    flags = anonymous_by_definition(out, promise)
    each = 1 if data.directed else 2
    stands = np.tile(out.weights == data.weights, each)
    notes = dict(release.evidence.notes)
    assert notes["arcs of the network"] == len(flags)
    assert notes["arcs that stand with their exact weight"] == np.count_nonzero(stands)
    bare = np.count_nonzero(stands & ~np.array(flags))
    assert notes["arcs that stand with their exact weight and are not anonymous"] == bare
    assert f"{sum(flags)} of {len(flags)} arcs" in release.verdict.checked
    return release


def with_pairs(data, seed, most=5):
    """Paths to keep between some pairs that have one."""
    draw = np.random.default_rng(seed)
    size = data.domain.size("vertex")
    pairs = np.array(list(itertools.permutations(range(size), 2)))
    apart = FeasibleIntervals.unreachable(data.first, data.second, size, pairs, directed=data.directed)
    pairs = pairs[~apart]
    chosen = draw.choice(len(pairs), min(most, len(pairs)), replace=False)
    return data.keeping(pairs[chosen].tolist())


PROMISES = [
    {"mu": "0.5", "k": 2},
    {"mu": "0.5", "k": 3},
    {"mu": 1, "k": 3, "small_degree": False},
    {"mu": 1, "k": 3, "neighbourhood": "in"},
    {"mu": 1, "k": 2, "neighbourhood": "both"},
    {"mu": "0.2", "k": 3, "relative": True},
]
SETTINGS = [
    {},
    {"choice": "closest", "objective": "arc"},
    {"strict": False, "sweeps": 2, "order": "random"},
    {"force": True, "order": "inverse", "tau": 0.05},
    {"grain": 0.5, "tau": 1.0},
    {"tau": 0.0},
]


def check_many(seeds):
    moved = 0
    for seed in seeds:
        directed, ties = seed // 6 % 2 == 0, seed // 72 % 2 == 0
        data = with_pairs(random_network(seed, directed=directed, ties=ties, vertices=6), seed)
        promise = MuWeightedKAnonymity(**PROMISES[seed % 6], share=ANY)
        with contextlib.suppress(NotSatisfied):
            out = check(data, promise, seed, **SETTINGS[seed // 12 % 6]).data
            moved += int(np.count_nonzero(out.weights != data.weights))
    return moved


def test_no_path_and_no_length_is_ever_lost():
    assert check_many(range(216)) > 100


@pytest.mark.slow
def test_no_path_and_no_length_is_ever_lost_on_thousands_of_networks():
    assert check_many(range(1000, 5000)) > 2_000


@pytest.mark.parametrize("seed", range(12))
def test_a_released_share_is_not_below_the_one_of_the_original(seed):
    """One move may cost others; by its row, no move does, where all arcs of it are compared with each other alone."""
    data = with_pairs(random_network(seed, directed=True), seed)
    promise = MuWeightedKAnonymity(mu="0.5", k=2, share=ANY, small_degree=False)
    before, arcs = count_anonymous(data, promise)
    with contextlib.suppress(NotSatisfied):
        assert count_anonymous(check(data, promise).data, promise)[0] >= before
        assert arcs == len(data)


# ---- vectors


AGENTS = network([(0, n) for n in range(1, 5)], [40, 10, 48, 43])


def test_figure_5_1_is_made_anonymous_with_its_path():
    """Agent 2 leads to D: 10 + 90 before; every agent is anonymous afterwards, and the way through it is kept."""
    data = network([(0, 1), (0, 2), (0, 3), (0, 4), (2, 5)], [40, 10, 48, 43, 90]).keeping([(0, 5)])
    promise = MuWeightedKAnonymity(mu=10, k=3, share="4/5", small_degree=False)
    release = check(data, promise, choice="closest", tau=0.3)
    assert release.data.weights.tolist() == [40, 33, 48, 43, 90]
    with pytest.raises(NotSatisfied, match=r"made 3 of 5 arcs anonymous \(60.0%\), and 0.8 of them is declared"):
        check(data, promise, tau=0.2)  # 100 may become 120 at most, and 10 would have to become 33


class FixedReach:
    """Bounds that are given."""

    def __init__(self, *bounds):
        self.bounds = Interval(*bounds)

    def know(self, *, above, below):
        return False


def move_first(weights, bounds, promise, monkeypatch, seed=1, **settings):
    """The weight that the first arc of a star gets."""
    star = network([(0, n) for n in range(1, len(weights) + 1)], weights)
    first, second = star.first.astype(np.int64), star.second.astype(np.int64)
    nothing = np.zeros((0, 2), np.int64)
    feasible = FeasibleIntervals.of(first, second, star.weights, len(weights) + 1, nothing, directed=True)
    rows = ArcRows(first, second, feasible.weights, len(weights) + 1, goal_of(promise, directed=True))
    monkeypatch.setattr(affinity_weights, "Reach", lambda *_: FixedReach(*bounds))
    EdgeSweep(AffinityWeights(**settings), feasible, rows, np.random.default_rng(seed)).visit(0)
    return float(feasible.weights[0])


WINDOW = VECTOR["window rule"]
WINDOW_PROMISE = MuWeightedKAnonymity(mu=WINDOW["mu"], k=WINDOW["k"], share=1, small_degree=False)
STAR = [WINDOW["weight"], *WINDOW["others"]]


@pytest.mark.parametrize(("bounds", "chosen"), WINDOW["chosen"])
@pytest.mark.parametrize("objective", ["arc", "row"])
def test_the_closest_weight_of_the_window_rule(bounds, chosen, objective, monkeypatch):
    settings = {"choice": "closest", "objective": objective}
    assert move_first(STAR, bounds, WINDOW_PROMISE, monkeypatch, **settings) == (chosen or WINDOW["weight"])


def test_without_a_window_the_most_arcs_are_approached(monkeypatch):
    approach = WINDOW["approach"]
    moved = move_first(STAR, approach["bounds"], WINDOW_PROMISE, monkeypatch, strict=False)
    assert moved == approach["weight"]
    # the way to 20 and 21 is as good as none: the open end is never taken
    assert move_first(STAR, (11, 19), WINDOW_PROMISE, monkeypatch, strict=False) == 12
    assert move_first(STAR, (11, 19.5), WINDOW_PROMISE, monkeypatch, strict=False) == 19


def test_weights_are_drawn_uniformly_in_the_nearest_window(monkeypatch):
    drawn = [move_first(STAR, (0, 40), WINDOW_PROMISE, monkeypatch, seed) for seed in range(600)]
    assert 5 <= min(drawn) < 5.05
    assert 5.95 < max(drawn) <= 6
    counts = np.histogram(drawn, 6, (5, 6))[0]
    assert np.sum((counts - 100) ** 2 / 100) < 38  # chi-square of 5 degrees: 4e-7 to be beyond
    assert 20 <= move_first(STAR, (7, 40), WINDOW_PROMISE, monkeypatch) <= 21


def test_weights_are_drawn_on_a_grain_where_there_is_one(monkeypatch):
    drawn = [move_first(STAR, (0, 40), WINDOW_PROMISE, monkeypatch, seed, grain=0.2) for seed in range(100)]
    assert set(drawn) == {5.0, 5.2, 5.4, 5.6, 5.8, 6.0}
    beside = move_first(STAR, (5.7, 5.9), WINDOW_PROMISE, monkeypatch, grain=0.5)
    assert 5.7 < beside < 5.9
    assert move_first(STAR, (0, 40), WINDOW_PROMISE, monkeypatch, grain=0.4, choice="closest") == 6.0
    assert move_first(STAR, (0, 5.9), WINDOW_PROMISE, monkeypatch, grain=0.4, choice="closest") == 5.6


def test_an_empty_interval_moves_nothing(monkeypatch):
    for bounds in [(12, 12), (13, 12), (11.9, 12.1)]:
        assert move_first(STAR, bounds, WINDOW_PROMISE, monkeypatch) == 12


def test_a_move_that_costs_its_row_as_much_is_not_made(monkeypatch):
    """9 is one of three alike with 8.2 and 10; where 10 may go, there are enough already: the row gains nothing."""
    three = MuWeightedKAnonymity(mu=1, k=3, share=1, small_degree=False)
    assert 20 <= move_first([12, 5, 20, 21, 6], (7, 40), three, monkeypatch) <= 21
    row = [10, 9, 8.2, 20, 20.2, 20.5]
    assert move_first(row, (9.7, 40), three, monkeypatch) == 10
    assert 19.5 <= move_first(row, (9.7, 40), three, monkeypatch, objective="arc") <= 21
    # by its own arc alone, the nearest window; by its row, the one in which most others gain
    lists = [12, 8, 8.5, 9, 20, 21]
    assert 8 <= move_first(lists, (0, 40), three, monkeypatch, objective="arc") <= 9.5
    assert 20 <= move_first(lists, (0, 40), three, monkeypatch, objective="row") <= 21


# ---- what is searched for


def test_anonymous_arcs_are_skipped_before_any_path_is_searched(monkeypatch):
    data = network([(0, 1), (0, 2), (1, 0), (1, 2)], [1, 1, 2, 2]).keeping([(0, 2), (1, 0)])

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(FeasibleIntervals, "rise", refuse)
    monkeypatch.setattr(FeasibleIntervals, "fall", refuse)
    release = AffinityWeights().publish(data, MuWeightedKAnonymity(mu=0.5, k=2, share=1))
    assert release.data.weights.tolist() == [1, 1, 2, 2]
    # and a window above the weight takes no search downwards
    monkeypatch.setattr(FeasibleIntervals, "rise", lambda *_: math.inf)
    upwards = network([(0, n) for n in range(1, 5)], [1, 9, 9.5, 10])
    release = AffinityWeights().publish(upwards, MuWeightedKAnonymity(mu=0.5, k=3, share="1/4", small_degree=False))
    assert 9 <= release.data.weights[0] <= 10


def test_a_move_before_any_search_is_not_counted_twice():
    """Distances were computed with the new weight, and then changed by the move once more."""
    arcs = [(1, 3), (2, 0), (2, 1), (2, 4), (3, 4), (4, 3)]
    data = network(arcs, [3.5, 0.5, 4, 2, 2.5, 5.5])
    pairs = np.array([[2, 0], [2, 3], [2, 1], [1, 3], [1, 4]])
    for in_table in (True, False):
        feasible = FeasibleIntervals.of(
            data.first, data.second, data.weights, 5, pairs, directed=True, in_table=in_table
        )
        feasible.move(3, 3.0)
        assert feasible.fall(5) == 1.0


def test_what_is_anonymous_as_it_is_comes_back_unchanged():
    data = network([(0, 1), (0, 2), (1, 0), (1, 2)], [1, 1.25, 2, 2.5], directed=True)
    promise = MuWeightedKAnonymity(mu=0.5, k=2, share=1)
    assert AffinityWeights().publish(data, promise).data.weights.tolist() == [1, 1.25, 2, 2.5]
    forced = AffinityWeights(force=True).publish(data, promise).data.weights
    assert np.all(forced != data.weights)


def test_the_order_of_edges():
    data = network([(0, 1), (1, 2), (2, 3), (3, 4)], [1, 1, 1, 1]).keeping([(1, 3), (0, 3), (1, 4)])
    first, second = data.first.astype(np.int64), data.second.astype(np.int64)
    feasible = FeasibleIntervals.of(first, second, data.weights, 5, data.paths.listed, directed=True)
    assert feasible.visits.tolist() == [1, 3, 3, 1]
    coins = np.random.default_rng(1)

    def order(name):
        return EdgeSweep(AffinityWeights(order=name), feasible, None, coins).order_edges().tolist()

    assert order("freq") == [1, 2, 0, 3]
    assert order("inverse") == [0, 3, 1, 2]
    assert sorted(order("random")) == [0, 1, 2, 3]


def test_sweeps_go_on_with_what_is_not_anonymous():
    shares = {}
    for sweeps in (1, 3):
        counts = []
        for seed in range(12):
            data = with_pairs(random_network(seed, directed=True, ties=False), seed)
            promise = MuWeightedKAnonymity(mu="0.5", k=3, share=ANY)
            with contextlib.suppress(NotSatisfied):
                counts.append(count_anonymous(check(data, promise, sweeps=sweeps).data, promise)[0])
        shares[sweeps] = sum(counts)
    assert shares[3] > shares[1] > 0


@pytest.mark.parametrize("seed", range(18))
def test_rows_that_follow_the_moves_are_those_from_scratch(seed):
    assert_rows_follow(seed)


def assert_rows_follow(seed):
    data = random_network(seed, directed=seed // 6 % 2 == 0)
    promise = MuWeightedKAnonymity(**PROMISES[seed % 6], share=ANY)
    first, second = data.first.astype(np.int64), data.second.astype(np.int64)
    size, goal = data.domain.size("vertex"), goal_of(promise, directed=data.directed)
    weights = data.weights.copy()
    rows = ArcRows(first, second, weights, size, goal)
    draw = np.random.default_rng(seed)
    for _ in range(20):
        edge, new = int(draw.integers(len(data))), float(draw.integers(1, 12) / 2)
        before = float(weights[edge])
        expected = rows.worth(edge, new)
        weights[edge] = new
        rows.moved(edge, before)
        flags = np.array(anonymous_by_definition(data.weighted(weights.copy()), promise))
        by_edge = flags.reshape(-1, len(data)).sum(axis=0)
        assert expected == by_edge[edge]
        assert rows.count_by_edge().tolist() == by_edge.tolist()
        assert ArcRows(first, second, weights, size, goal).count_by_edge().tolist() == by_edge.tolist()


LINE = network([(0, 1), (1, 2), (3, 4)], [1, 2, 3], directed=False)


def test_pairs_are_listed_named_and_drawn():
    data = with_pairs(random_network(4, directed=True), 4).keeping(between=[0, 1, 2])
    promise = MuWeightedKAnonymity(mu=0.5, k=2, share=ANY)
    with progress.counting() as few:
        AffinityWeights().publish(data, promise)
    with progress.counting() as many:
        AffinityWeights(pairs=1.0).publish(data, promise)
    vertices = data.domain.size("vertex")
    assert sum(few.values()) == 6
    assert sum(many.values()) == vertices * (vertices - 1)


# ---- digits


TRADE = Graph.from_edges(
    [(0, 1), (0, 2), (0, 3), (0, 4)], weights=[40, 10, 48, 43], directed=True, domain=Domain.declare(vertex=range(5))
)


def test_new_weights_have_seven_digits_or_as_many_as_the_others():
    promise = MuWeightedKAnonymity(mu=10, k=3, share=ANY)
    for seed in range(20):
        release = AffinityWeights().publish(TRADE, promise, seed=seed)
        assert 1 < count_digits(release.data.weights) <= DIGITS
    long = TRADE.weighted(TRADE.weights / 3)
    moved = [AffinityWeights().publish(long, promise, seed=seed).data.weights[1] for seed in range(20)]
    assert min(count_digits(np.array([weight])) for weight in moved) > DIGITS


@pytest.mark.parametrize(
    ("data", "settings", "grain"),
    [
        (TRADE, {}, "1"),
        (TRADE.weighted(TRADE.weights * 100), {}, "100"),
        (TRADE.weighted(np.array([4.1, 1.0, 4.8, 4.3])), {}, "0.1"),
        (TRADE, {"grain": 1.0}, None),
        (TRADE, {"choice": "closest"}, None),
        (TRADE.weighted(TRADE.weights / 3), {}, None),
        (TRADE.weighted(np.array([40.00001, 10.00001, 48.0, 43.0])), {}, None),
    ],
)
def test_the_owner_is_warned_if_moved_weights_show_by_their_digits(data, settings, grain):
    promise = MuWeightedKAnonymity(mu=int(data.weights.max() / 4) or 1, k=3, share=ANY)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = AffinityWeights(**settings).publish(data, promise, seed=1)
    assert np.any(release.data.weights != data.weights)
    said = [str(each.message) for each in caught if "moved weights show" in str(each.message)]
    assert len(said) == (grain is not None)
    if grain is not None:
        assert f"multiples of {grain}, and new ones" in said[0]
        assert f"--set grain={grain})" in said[0]


# ---- what is refused, and planted bugs


def test_below_the_declared_share_nothing_is_published():
    promise = MuWeightedKAnonymity(mu=1, k=3, share=1, small_degree=False)
    with pytest.raises(NotSatisfied, match=r"made 0 of 6 arcs anonymous .* a smaller share or k, a larger mu, fewer"):
        AffinityWeights().publish(LINE, promise)


def test_weights_are_needed_and_settings_are_checked():
    with pytest.raises(ParameterError, match="affinity-weights needs weights"):
        AffinityWeights().publish(LINE.without_weights(), MuWeightedKAnonymity(mu=1, k=2, share=1))
    for wrong in [{"tau": -0.1}, {"order": "descending"}, {"sweeps": 0}, {"grain": -1.0}, {"pairs": 1.1}]:
        with pytest.raises(ParameterError, match=f"AffinityWeights.{next(iter(wrong))} must be"):
            AffinityWeights(**wrong)


def complain(check_again):
    """Whether a planted bug is noticed."""
    try:
        check_again()
    except (AssertionError, HedgerowError):
        return True
    return False


BUGS = [
    (Reach, "know", "rise - tolerance if rise > tolerance else 0.0", "2 * rise + 1"),
    (Reach, "know", "fall - tolerance if fall > tolerance else 0.0", "self._weight"),
    (Reach, "__init__", "first * (1 + tau)", "first * (1 + 3 * tau)"),
    (Reach, "__init__", "first * (1 - tau)", "first * (1 - 3 * tau)"),
    (ArcRows, "moved", 'edges[np.argsort(self.weights[edges], kind="stable")]', "edges"),
    (ArcRows, "moved", "for _ in range(self.arcs_per_edge):", "for _ in range(0):"),
    (ArcRows, "_is_anonymous", "- (near - 1) - own", "- (near - 1)"),
    (ArcRows, "_find_anonymous", "- near - self.twinned", "- near"),
]


@pytest.mark.parametrize(("owner", "name", "old", "new"), BUGS)
def test_a_planted_bug_of_the_method_is_caught(owner, name, old, new):
    def check_again():
        for seed in range(24):
            assert_rows_follow(seed)
        check_many(range(120))

    with changed(owner, name, old, new):
        assert complain(check_again)


def test_the_checks_at_the_end_notice_lost_paths_and_lengths():
    data = network([(0, 1), (1, 2), (0, 2)], [1, 1, 3]).keeping([(0, 2)])
    first, second = data.first.astype(np.int64), data.second.astype(np.int64)
    # edges are 0-1, 0-2, 1-2
    for edge, weight, message in [(2, 1.5, "0 shortest paths and 1 length"), (1, 1.5, "1 shortest paths and 0 length")]:
        feasible = FeasibleIntervals.of(first, second, data.weights, 3, data.paths.listed, directed=True)
        feasible.move(edge, weight)
        with pytest.raises(InternalError, match=message):
            affinity_weights.require_kept(feasible, 0.2)


def test_an_empty_network_is_published():
    empty = Graph.from_edges([], weights=[], domain=Domain.declare(vertex=range(3)))
    assert len(AffinityWeights(pairs=0.5).publish(empty, MuWeightedKAnonymity(mu=1, k=2, share=1)).data) == 0
