"""mu-weighted k-anonymity: the checker against the definition word by word, and planted bugs of the checker."""

from __future__ import annotations

import itertools
import json
import os
import re
import time
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from anonymous_arcs import anonymous_by_definition, network, random_network
from project import VECTORS

from hedgerow import Domain, Graph
from hedgerow.audit.verification import verify_data
from hedgerow.errors import NotSatisfied, ParameterError
from hedgerow.kinds.graphs import criterion
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity, count_anonymous, find_anonymous
from hedgerow.privacy.parsing import from_plain
from hedgerow.testing import changed

VECTOR = json.loads((VECTORS / "affinity-weights.json").read_text())
#: sums and differences of these are not what they are on paper, in double precision
ALPHABET = (0.1, 0.4, 0.7)


def all_networks(alphabet, *, directed):
    """Every network on three vertices (four without directions), with every choice of weights."""
    size = 3 if directed else 4
    cells = list(itertools.permutations(range(size), 2) if directed else itertools.combinations(range(size), 2))
    domain = Domain.declare(vertex=range(size))
    for choice in itertools.product((None, *alphabet), repeat=len(cells)):
        arcs = [cell for cell, weight in zip(cells, choice, strict=True) if weight]
        if arcs:
            yield Graph.from_edges(arcs, weights=[w for w in choice if w], directed=directed, domain=domain)


def differences(networks, promises):
    """How many networks are judged otherwise than by the definition, and how many there are."""
    wrong = checked = 0
    for data, promise in itertools.product(networks, promises):
        checked += 1
        wrong += criterion.find_anonymous(data, promise).tolist() != anonymous_by_definition(data, promise)
    return wrong, checked


def promises(ks, neighbourhoods=("out", "in", "both"), **more):
    return [
        MuWeightedKAnonymity(mu="0.3", k=k, share=1, neighbourhood=beside, small_degree=small, **more)
        for k in ks
        for beside in neighbourhoods
        for small in (True, False)
    ]


@pytest.mark.parametrize("directed", [True, False])
def test_small_networks_are_judged_by_the_definition(directed):
    """With two weights; with three in the slow set."""
    wrong, checked = differences(all_networks(ALPHABET[:2], directed=directed), promises((2, 3), ("out", "both")))
    assert (wrong, checked) == (0, 728 * 8)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [True, False])
def test_all_small_networks_are_judged_by_the_definition(directed):
    wrong, checked = differences(all_networks(ALPHABET, directed=directed), promises((1, 2, 3, 4, 5)))
    assert (wrong, checked) == (0, 4095 * 30)


@pytest.mark.parametrize("relative", [False, True])
def test_random_networks_are_judged_by_the_definition(relative):
    made = [random_network(seed, directed=seed % 2 == 0, ties=seed % 3 > 0) for seed in range(50)]
    wrong, checked = differences(made, promises((2, 3, 4), ("out", "in"), relative=relative))
    assert (wrong, checked) == (0, 50 * 12)


# ---- vectors


@pytest.mark.parametrize("case", VECTOR["figure 5.1"]["anonymous"])
def test_the_agents_of_figure_5_1(case):
    weights, k, flags = case
    agents = network([(0, n) for n in range(1, 5)], weights)
    assert find_anonymous(agents, MuWeightedKAnonymity(mu=10, k=k, share=1, small_degree=False)).tolist() == flags


def printed_test(weights, mu, k):
    """Theorem 5.2.1 as printed: an arc that is exactly mu away counts as far."""
    return [sum(abs(w - other) - mu >= 0 for other in weights) <= len(weights) - k for w in weights]


def test_at_equality_weights_are_near_and_the_printed_theorem_says_otherwise():
    pair = network([(0, 1), (0, 2)], [10, 20])
    assert find_anonymous(pair, MuWeightedKAnonymity(mu=10, k=2, share=1)).tolist() == [True, True]
    assert printed_test([10, 20], 10, 2) == [False, False]
    # it is sufficient, where a vertex has enough arcs
    for seed in range(200):
        weights = (np.random.default_rng(seed).integers(1, 8, 5) / 2).tolist()
        star = network([(0, n) for n in range(1, 6)], weights)
        flags = find_anonymous(star, MuWeightedKAnonymity(mu=1, k=3, share=1))[:5].tolist()
        assert all(flag or not printed for flag, printed in zip(flags, printed_test(weights, 1, 3), strict=True))


@pytest.mark.parametrize(
    ("weights", "mu", "near"),
    [
        ([0.7, 0.8], "0.1", True),  # 0.8 - 0.7 is more than 0.1 in double precision
        ([0.7, 0.8000000000000002], "0.1", False),
        ([0.1, 0.4], "0.3", True),
        ([0.6, 0.7], "0.0999999999999999", False),  # and 0.7 - 0.6 is less
        ([1e16, 1e16 + 2], 2, True),
        ([1e16, 1e16 + 4], 3, False),
        ([0.1, 0.1 + 2**-50], "1/1125899906842625", False),
        ([1, 3], "1/3", False),
    ],
)
def test_no_rounding_decides(weights, mu, near):
    pair = network([(0, 1), (0, 2)], weights)
    flags = find_anonymous(pair, MuWeightedKAnonymity(mu=mu, k=2, share=1, small_degree=False))
    assert flags.tolist() == [near, near]


@pytest.mark.parametrize(("mu", "near"), [("0.693147180559945309417", False), ("0.693147180559945309418", True)])
def test_logarithms_are_compared_exactly(mu, near):
    """The logarithm of 2 is 0.693147180559945309417232...: both numbers are one in double precision."""
    pair = network([(0, 1), (0, 2)], [0.1, 0.2])
    promise = MuWeightedKAnonymity(mu=mu, k=2, share=1, relative=True)
    assert find_anonymous(pair, promise).tolist() == [near, near]


def test_of_an_edge_without_direction_the_way_back_does_not_help():
    edge = network([(0, 1)], [5], directed=False)
    assert find_anonymous(edge, MuWeightedKAnonymity(mu=1, k=2, share=1)).tolist() == [False, False]
    two = network([(0, 1), (2, 3)], [5, 5], directed=False)
    assert find_anonymous(two, MuWeightedKAnonymity(mu=1, k=3, share=1)).all()
    assert not find_anonymous(two, MuWeightedKAnonymity(mu=1, k=4, share=1)).any()


def uniform(vertices, part, seed):
    """A network with directions and weights in 10 to 100, as the thesis draws them."""
    draw = np.random.default_rng(seed)
    cells = np.argwhere(~np.eye(vertices, dtype=bool) & (draw.random((vertices, vertices)) < part))
    return Graph.from_columns(
        source=cells[:, 0],
        target=cells[:, 1],
        weights=draw.uniform(10, 100, len(cells)),
        directed=True,
        domain=Domain.declare(vertex=range(vertices)),
    )


def level(data, **numbers):
    anonymous, arcs = count_anonymous(data, MuWeightedKAnonymity(share=1, **numbers))
    return anonymous / arcs


ORIGINALS = VECTOR["original levels"]


@pytest.mark.parametrize(("name", "size", "part"), [("SYN1", 100, 1.0), ("SYN2", 200, 0.7)])
def test_original_levels_of_the_synthetic_networks(name, size, part):
    for k, share in zip(ORIGINALS[name]["k"], ORIGINALS[name]["shares"], strict=True):
        shares = [level(uniform(size, part, seed), mu=ORIGINALS[name]["mu"], k=k) for seed in range(2)]
        assert np.mean(shares) == pytest.approx(share, abs=0.015)
    # the thesis prints 42 and 49 % for mu = 10
    assert level(uniform(size, part, 1), mu=10, k=3) == 1


@pytest.mark.slow
def test_original_levels_of_eies():
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    case = ORIGINALS["eies messages"]
    rows = np.loadtxt(Path(folder) / "eies" / "eies_messages.edges")
    messages = network([(int(a) - 1, int(b) - 1) for a, b in rows[:, :2]], rows[:, 2].tolist(), vertices=32)
    assert len(messages) == 440
    for k, with_small, without in zip(case["k"], case["small degrees"], case["without"], strict=True):
        assert level(messages, mu=case["mu"], k=k) == pytest.approx(with_small, abs=5e-4)
        assert level(messages, mu=case["mu"], k=k, small_degree=False) == pytest.approx(without, abs=5.5e-4)
    rows = np.loadtxt(Path(folder) / "eies" / "eies_acquaintance_time2.edges")
    acquaintances = network([(int(a), int(b)) for a, b in rows[:, :2]], rows[:, 2].tolist())
    assert level(acquaintances, mu=10, k=3) == 1  # the thesis prints 62 %


# ---- planted bugs


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("_are_anonymous", " - within - twinned", " - within"),
        ("_are_anonymous", " - within - twinned", " - twinned"),
        ("_are_anonymous", "(within == degree) & ", ""),
        ("_are_anonymous", "elsewhere >= promise.k - degree", "elsewhere >= promise.k"),
        ("_are_anonymous", "(within >= promise.k) | helped", "(within > promise.k) | helped"),
        ("_are_anonymous", "if not promise.small_degree:", "if promise.small_degree:"),
        ("_are_anonymous", 'side="left"', 'side="right"'),
        ("find_anonymous", "flags &=", "flags |="),
        ("find_anonymous", 'side="right") - 1', 'side="left") - 1'),
        ("_find_lowest_near", "certain[number] = low", "pass"),
        ("_are_near", "Fraction(repr(larger)) - Fraction(repr(smaller))", "larger - smaller"),
        ("_are_near", "<= promise.mu\n", "< promise.mu\n"),
    ],
)
def test_a_planted_bug_of_the_checker_is_caught(function, old, new):
    cases = list(all_networks(ALPHABET[:2], directed=False))[::25]
    cases += [random_network(seed, directed=True, vertices=5) for seed in range(12)]
    cases += [network([(0, 1), (0, 2)], [0.7, 1.0]), network([(0, 1), (0, 2), (1, 0)], [0.4, 0.7, 0.1])]
    assert differences(cases, promises((2, 3)))[0] == 0
    with changed(criterion, function, old, new):
        assert differences(cases, promises((2, 3)))[0] > 0, "the bug was not noticed"


# ---- the promise


AGENTS = network([(0, n) for n in range(1, 5)], [40, 10, 48, 43])


def test_the_share_is_compared_exactly():
    for share, kept in [("3/4", True), ("0.75", True), ("75.0001%", False), (1, False)]:
        promise = MuWeightedKAnonymity(mu=10, k=3, share=share)
        assert promise.verify({"": AGENTS}).satisfied == kept
    verdict = MuWeightedKAnonymity(mu=10, k=3, share=1).verify({"": AGENTS})
    assert verdict.failures == "1 x a share of anonymous arcs below 1"
    assert verdict.checked == "checked on the published data: 3 of 4 arcs (75 %) are anonymous"
    assert "The 1 arcs that are not anonymous" in verdict.assumed[0]


def test_a_file_is_verified_and_further_networks_are_violations():
    assert verify_data(AGENTS, MuWeightedKAnonymity(mu=10, k=3, share="3/4"))
    with pytest.raises(NotSatisfied, match="MuWeightedKAnonymity is not satisfied: 1 x a share of anonymous arcs"):
        verify_data(AGENTS, MuWeightedKAnonymity(mu=1, k=3, share="3/4"))
    both = MuWeightedKAnonymity(mu=10, k=3, share="1/2").violations({"one": AGENTS, "two": AGENTS})
    assert both["further networks, which could be combined with the first"] == 1


def test_a_network_without_arcs_or_weights():
    promise = MuWeightedKAnonymity(mu=10, k=3, share=1)
    empty = Graph.from_edges([], weights=[], domain=Domain.declare(vertex=range(3)))
    assert promise.verify({"": empty}).satisfied
    assert promise.verify({"": empty}).checked.endswith("0 of 0 arcs (100 %) are anonymous")
    with pytest.raises(ParameterError, match="the edges have no weights"):
        promise.verify({"": AGENTS.without_weights()})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mu": 0}, "mu must be more than 0; got 0"),
        ({"mu": "-1"}, "mu must be more than 0; got -1"),
        ({"mu": "wide"}, "mu must be a finite number; got wide"),
        ({"k": 0}, "k must be a whole number of at least 1; got '0'"),
        ({"k": "2.5"}, "k must be a whole number of at least 1"),
        ({"share": 0}, "share must be more than 0 and at most 1; got 0"),
        ({"share": "101%"}, "share must be more than 0 and at most 1; got 101%"),
        ({"neighbourhood": "far"}, "neighbourhood must be one of out, in, both; got 'far'"),
        ({"relative": "maybe"}, "relative must be yes or no; got 'maybe'"),
        ({"small_degree": "maybe"}, "small_degree must be yes or no; got 'maybe'"),
    ],
)
def test_bad_numbers_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        MuWeightedKAnonymity(**{"mu": 1, "k": 2, "share": 1, **wrong})


def test_a_promise_comes_back_from_its_plain_form():
    for promise in [
        MuWeightedKAnonymity(mu="0.1", k=3, share="90%"),
        MuWeightedKAnonymity(mu="1/3", k="3", share=1, neighbourhood="both", relative="yes", small_degree="no"),
    ]:
        assert from_plain(promise.to_plain()) == promise
    assert MuWeightedKAnonymity(mu=0.1, k=3, share=0.9).mu == Fraction(1, 10)


def test_the_sentence_says_what_was_compared():
    words = MuWeightedKAnonymity(mu="0.1", k=3, share="90%").sentence()
    assert "At least 90 % of the arcs" in words
    assert "the arcs that leave the same vertex, at least 3" in words
    assert "Where a vertex has fewer than 3 arcs" in words
    other = MuWeightedKAnonymity(mu="0.1", k=3, share=1, neighbourhood="in", relative=True, small_degree=False)
    assert "the arcs that arrive at the same vertex" in other.sentence()
    assert "difference of the logarithms of the weights" in other.sentence()
    assert "Arcs of a vertex with fewer than 3 of them do not count as anonymous" in other.sentence()
    limits = " ".join(other.limits(AGENTS.domain))
    assert "homogeneity" in limits
    assert "a factor of e^0.1" in limits
    assert "Anyone who looks at the arcs that leave a vertex" in limits


@pytest.mark.parametrize(
    ("mu", "k", "message"),
    [
        (38, 3, "mu is at least the difference of any two weights"),
        (37, 5, "k = 5 is more than any vertex has arcs: only arcs elsewhere"),
    ],
)
def test_a_promise_that_means_little_is_warned_about(mu, k, message):
    with pytest.warns(UserWarning, match=message):
        MuWeightedKAnonymity(mu=mu, k=k, share=1).warn_about(AGENTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MuWeightedKAnonymity(mu=37, k=4, share=1).warn_about(AGENTS)


def test_a_million_arcs_are_verified_in_seconds():
    draw = np.random.default_rng(1)
    keys = np.unique(draw.integers(0, 1_200**2, 2_000_000))
    source, target = keys // 1_200, keys % 1_200
    apart = source != target
    weights = np.round(draw.uniform(10, 100, len(keys)), 1)[apart]
    dense = Graph.from_columns(
        source=source[apart],
        target=target[apart],
        weights=weights,
        directed=True,
        domain=Domain.declare(vertex=range(1_200)),
    )
    assert len(dense) > 1_000_000
    promise = MuWeightedKAnonymity(mu="0.1", k=3, share=1)
    start = time.process_time()
    anonymous, arcs = count_anonymous(dense, promise)
    assert time.process_time() - start < 10
    assert 0 < anonymous < arcs
    few = replace(dense, first=dense.first[:300], second=dense.second[:300], weights=dense.weights[:300])
    assert find_anonymous(few, promise).tolist() == anonymous_by_definition(few, promise)
    assert promise.count_cases({"": dense}) < 50 * 8 * len(dense)
