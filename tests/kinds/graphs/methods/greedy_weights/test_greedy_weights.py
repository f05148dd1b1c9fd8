"""greedy-weights: every path that must stay stays; categories, ties, what is reported, and planted bugs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exact_intervals import Network, random_network, simple_paths

from hedgerow import Distortion, Domain, Graph, find_method, progress
from hedgerow.errors import DomainError, NotSatisfied, ParameterError
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.kinds.graphs.data import KeptPaths
from hedgerow.kinds.graphs.methods import feasible_interval, kept_pairs
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.samples.roads import crossings, roads
from hedgerow.testing import check_publisher, mutant

GreedyWeights = find_method("greedy-weights")
SETTINGS = [{}, {"two_sided": True}, {"turn": True, "least": 0.9}, {"ties": "allow", "least": 0.999}]


def publish(graph, seed=1, method=GreedyWeights, **settings):
    return method(**settings).publish(graph, Distortion(), seed=seed)


def shortest(network, weights):
    """The shortest paths of each pair, among all simple ones: those within a billionth of the shortest."""
    best = []
    for pair in network.pairs:
        paths = simple_paths(network, *pair)
        lengths = np.array([sum(weights[edge] for edge in path) for path in paths])
        best.append([tuple(paths[at]) for at in np.flatnonzero(lengths <= lengths.min() + 1e-9)])
    return best


def check_paths(seeds, method=GreedyWeights, **settings):
    """Of pairs with one shortest path it stays the only one; otherwise a shortest path stays one."""
    moved = 0
    for seed in seeds:
        network = random_network(seed)
        after = publish(network.graph(), seed, method, **settings).data.weights.tolist()
        moved += sum(new != old for new, old in zip(after, network.weights, strict=True))
        for before, now in zip(shortest(network, network.weights), shortest(network, after), strict=True):
            if len(before) == 1 and settings.get("ties") != "allow":
                assert now == before
            else:
                assert set(before) & set(now)
    return moved


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_no_path_changes(settings):
    """With directions or none, ties, equal weights, often not connected: all simple paths are looked at."""
    assert check_paths(range(100), **settings) > 300


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_no_path_changes_in_thousands_of_networks(settings):
    assert check_paths(range(10_000, 12_500), **settings) > 7_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("step = min(fraction * bound, most)", "step = most = 1.5 * bound"),
        ("np.flatnonzero(visits == 0)", "np.flatnonzero(visits <= 1)"),
        ("intervals.rise(edge) if way", "weight if way"),
        ("else intervals.fall(edge)", "else weight"),
    ],
)
def test_mutants_are_caught(old, new):
    """By the check of all paths before publication, and by the test above if that check is gone."""
    broken = mutant(GreedyWeights, old, new)
    with pytest.raises(NotSatisfied, match="of the shortest paths that must stay; nothing was released"):
        check_paths(range(100), broken)
    with pytest.raises(AssertionError):
        check_paths(range(100), mutant(broken, "        if lost:", "        if False:"))


def random_graph(seed, size=14, part=0.35, pairs=30):
    draw = np.random.default_rng(seed)
    first, second = np.triu_indices(size, 1)
    edges = draw.random(len(first)) < part
    weights = draw.uniform(1, 10, int(edges.sum()))
    graph = Graph.from_columns(
        source=first[edges], target=second[edges], weights=weights, domain=Domain.declare(vertex=range(size))
    )
    ends = np.stack((first, second), axis=1)[draw.permutation(len(first))[:pairs]]
    apart = FeasibleIntervals.unreachable(graph.first, graph.second, size, ends, directed=False)
    return replace(graph, paths=KeptPaths(listed=ends[~apart]))


def intervals_of(graph):
    size = graph.domain.size("vertex")
    return FeasibleIntervals.of(
        graph.first, graph.second, graph.weights, size, graph.paths.listed, directed=graph.directed
    )


def test_weights_on_no_path_rise_without_any_change_of_lengths():
    """Proposition 4.2.2, for the edges that are only raised."""
    for seed in range(40):
        graph = random_graph(seed, pairs=6)
        intervals = intervals_of(graph)
        free = intervals.visits == 0
        raised = np.where(free, graph.weights * 3, graph.weights)
        intervals.move_all(raised)
        assert not len(intervals.broken())
        assert np.array_equal(intervals.lengths, intervals.first_lengths)
        after = publish(graph, seed).data.weights
        assert np.all(after[free] > graph.weights[free])
        assert np.all(after[free] <= 2 * graph.weights[free])


def test_a_single_pair_has_edges_on_all_paths_only():
    """Proposition 4.2.3: they fall, by up to half, and the path stays."""
    graph = random_graph(3, pairs=1)
    on_path = intervals_of(graph).visits == 1
    after = publish(graph).data.weights
    assert np.all((after < graph.weights) == on_path)
    assert np.all(after[on_path] > graph.weights[on_path] / 2)


def test_two_sided_draws_need_bounds_one_after_the_other():
    """Two weights that fall on one rival path add up: bounds that were computed once lose paths, current ones none."""
    at_once = fell = 0
    for seed in range(30):
        graph = random_graph(seed)
        intervals = intervals_of(graph)
        free = np.flatnonzero(intervals.visits == 0)
        lowered = graph.weights.copy()
        for edge in free:
            lowered[edge] -= 0.9 * min(intervals.fall(int(edge)), lowered[edge])
        intervals.move_all(lowered)
        at_once += len(intervals.broken())
        after = publish(graph, seed, two_sided=True).data.weights
        fell += int((after[free] < graph.weights[free]).sum())
        intervals.move_all(after)
        assert not len(intervals.broken())
    assert at_once > 10
    assert fell > 50


@pytest.mark.parametrize("ties", ["unique", "allow"])
def test_equal_weights_are_stuck_where_paths_are_tied(ties):
    square = Network(4, [(0, 1), (0, 3), (1, 2), (2, 3)], [1, 1, 1, 1], [(0, 2), (0, 1), (0, 3), (2, 3)], False)
    release = publish(square.graph(), ties=ties)
    assert release.evidence.notes == (("weights published as they were", 1),)
    assert publish(square.graph(), ties=ties, turn=True).evidence.notes == (("weights published as they were", 0),)


def test_pairs_are_those_named_and_a_share_of_all():
    graph = graph_of([(0, 1), (1, 2), (3, 4)], 6)
    named = graph.keeping([(2, 0), (0, 2)], between=[0, 1, 4])
    chosen = kept_pairs.choose_pairs(named, 0, np.random.default_rng(1))
    assert (chosen.pairs.tolist(), chosen.unreachable) == ([[0, 1], [0, 2]], 2)
    everything = kept_pairs.choose_pairs(graph, 1, np.random.default_rng(1))
    assert (everything.pairs.tolist(), everything.unreachable) == ([[0, 1], [0, 2], [1, 2], [3, 4]], 11)
    directed = Graph.from_edges([(0, 1), (1, 2)], directed=True, domain=Domain.declare(vertex=range(3)))
    both = kept_pairs.choose_pairs(directed, 1, np.random.default_rng(1))
    assert (both.pairs.tolist(), both.unreachable) == ([[0, 1], [0, 2], [1, 2]], 3)
    large = replace(random_graph(1, size=60), paths=None)
    assert len(kept_pairs.choose_pairs(large, 0.25, np.random.default_rng(1)).pairs) == round(0.25 * 1770)


def test_a_listed_pair_without_a_path_is_named_by_its_number():
    graph = Graph.from_edges([(0, 1)], weights=[1], domain=Domain.declare(vertex=range(3))).keeping([(0, 1), (2, 0)])
    with pytest.raises(DomainError, match="pair number 2 of those whose paths must stay has no path between its ends"):
        publish(graph)


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(kept_pairs, "_MOST", 50)
    with pytest.raises(ParameterError, match="at most 50 pairs can keep their paths"):
        publish(random_graph(1), share=1.0)


def test_the_owner_is_told_what_the_statement_does_not_say():
    graph = Network(5, [(0, 1), (1, 2), (0, 2)], [1, 2, 4], [], False).graph()
    with progress.counting() as counts:
        release = publish(replace(graph, paths=KeptPaths(between=np.arange(4))))
    assert counts == {
        "shortest paths kept": 3,
        "kept paths of a single edge": 2,
        "pairs without a path, left out": 3,
    }
    assert [label for label, _ in release.evidence.notes] == ["weights published as they were"]
    assert release.data.paths is None


def test_progress_counts_the_edges_on_some_paths():
    stages = []
    with progress.listening(lambda *told: stages.append(told)):
        publish(random_graph(1), two_sided=True)
    partial = [told for told in stages if told[0] == "moving weights on kept paths"]
    assert partial[0][1] == 0
    assert partial[0][2] > 10
    assert any(told[0] == "moving weights on no kept path" for told in stages)


def test_without_pairs_every_weight_rises():
    graph = random_graph(5)
    weights = publish(replace(graph, paths=None)).data.weights
    assert np.all((weights > graph.weights) & (weights < 2 * graph.weights))


@pytest.mark.parametrize("settings", [{"share": 0.5}, {"share": 0.5, "two_sided": True, "ties": "allow"}], ids=str)
def test_it_conforms_with_pairs_to_keep(settings):
    check_publisher(GreedyWeights(**settings), Distortion())


@pytest.mark.parametrize("directed", [False, True])
def test_a_larger_network_by_searches_as_by_a_table(directed, monkeypatch):
    """Both give the same weights, but for rounding."""
    graph = random_graph(7, size=40, part=0.15, pairs=60)
    if directed:
        graph = Graph.from_columns(
            source=np.concatenate((graph.first, graph.second[::2])),
            target=np.concatenate((graph.second, graph.first[::2])),
            weights=np.concatenate((graph.weights, graph.weights[::2] * 1.1)),
            directed=True,
            domain=graph.domain,
        )
    by_table = publish(graph, share=0.1)
    monkeypatch.setattr(feasible_interval, "_MOST_IN_TABLE", 0)
    by_search = publish(graph, share=0.1)
    assert by_search.data.weights == pytest.approx(by_table.data.weights, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "value"), [("share", 1.5), ("fall", 1.0), ("rise", 0), ("least", 1), ("ties", "none")]
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"GreedyWeights.{name} must be"):
        GreedyWeights(**{name: value})


def test_weights_stay_above_nothing():
    """Also where a weight is far below what is told apart from 0."""
    edges = [(0, 1), (1, 2), (2, 3), (0, 3)]
    graph = Graph.from_edges(edges, weights=[1e-12, 1.0, 1e9, 1e-200], domain=Domain.declare(vertex=range(4)))
    for seed in range(20):
        weights = publish(graph, seed, share=1.0, two_sided=True, turn=True).data.weights
        assert np.all(weights > 0)


def test_changed_weights_have_few_digits():
    """The last bits of a whole number times a factor would tell that it is whole."""
    made = roads()
    place = {name: code for code, name in enumerate(crossings())}
    ends = np.array([(place[one], place[other]) for one, other, _ in made])
    domain = Domain.declare(vertex=crossings())
    weights = np.array([np.ceil(seconds) for *_, seconds in made])
    graph = Graph.from_columns(source=ends[:, 0], target=ends[:, 1], weights=weights, domain=domain)
    after = publish(graph, share=0.01).data.weights
    changed = after[after != graph.weights]
    assert len(changed) > 300
    # a few have more digits, where seven would lose a path
    assert sum(float(f"{weight:.7g}") == weight for weight in changed) > 0.95 * len(changed)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_an_edge_far_too_heavy_for_any_path_does_not_matter(settings):
    """Whoever writes a huge weight for a road that is closed must not lose the paths of all others."""
    for seed in range(60):
        network = random_network(seed)
        graph = network.graph()
        most = graph.domain.size("vertex")
        domain = Domain.declare(vertex=range(most + 1))
        ends = np.append(graph.first, most - 1), np.append(graph.second, most)
        weights = np.append(graph.weights, 1e12)
        wide = Graph.from_columns(
            source=ends[0], target=ends[1], weights=weights, domain=domain, directed=graph.directed
        )
        after = publish(replace(wide, paths=graph.paths), seed, **settings).data
        closed = np.flatnonzero(wide.weights == 1e12)
        new = np.delete(after.weights, closed).tolist()
        for before, now in zip(shortest(network, network.weights), shortest(network, new), strict=True):
            assert set(before) & set(now)


def test_paths_of_very_different_lengths_are_refused_and_not_lost():
    """Of a path of 1 beside one of 1e12, sums do not tell whether it is the shortest."""
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d"), ("d", "e")]
    domain = Domain.declare(vertex=list("abcde"))
    graph = Graph.from_edges(edges, weights=[1, 1, 2.5, 1, 2.2, 999999999999], domain=domain)
    near = graph.keeping([("a", "c"), ("a", "d"), ("b", "d")])
    for seed in range(10):
        after = publish(near, seed, least=0.9).data
        weights = dict(zip(after.edges(), after.weights, strict=True))
        assert weights["a", "b"] + weights["b", "c"] < weights["a", "c"]
        assert weights["b", "c"] + weights["c", "d"] < weights["b", "d"]
    far = graph.keeping([("a", "c"), ("a", "d"), ("a", "e")])
    with pytest.raises(DomainError, match="so different that sums do not tell the shortest"):
        publish(far)
