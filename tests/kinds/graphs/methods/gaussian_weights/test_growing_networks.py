"""Keys: what is unchanged keeps its published value, and what a key may not be used for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from test_gaussian_weights import ring

from hedgerow import AdditiveNoise, Distortion, Domain, GaussianWeights, Graph, Ledger, Matrix, open_key
from hedgerow.errors import BudgetExceeded, GuaranteeError, ParameterError
from hedgerow.kinds.graphs.methods import gaussian_weights
from hedgerow.privacy import NoisyAnswers, keyed_coins
from hedgerow.privacy.keyed_coins import KeyedCoins, OwnerKey
from hedgerow.publisher import terms_of_key
from hedgerow.releases.key_file import read_key
from hedgerow.testing import changed

NAMES = ["cleo", "ann", "bob", "dora"]
EDGES = [("ann", "bob"), ("bob", "cleo"), ("cleo", "dora")]


def named(names, edges, weights, *, directed=False):
    domain = Domain.declare(vertex=names)
    return Graph.from_edges(edges, weights=weights, directed=directed, domain=domain)


def by_edge(graph, *, directed=False):
    ends = graph.edges() if directed else map(frozenset, graph.edges())
    return dict(zip(ends, graph.weights.tolist(), strict=True))


def key_of(method, data, secret=bytes(32)):
    return OwnerKey(secret, terms_of_key(method, data))


def check_growth(directed=False):
    """A network grows, and its vertices get other codes: unchanged edges keep their values, changed ones get others."""
    method = GaussianWeights(sigma=0.2, network="roads")
    first = named(NAMES, EDGES, [2, 3, 4], directed=directed)
    grown = named(["zoe", "eve", *reversed(NAMES)], [*EDGES, ("zoe", "ann")], [2, 3.5, 4, 2], directed=directed)
    key = key_of(method, first)
    before, after = (
        by_edge(method.publish(each, Distortion(), key=key).data, directed=directed) for each in (first, grown)
    )
    kept = {edge for edge, weight in before.items() if after[edge] == weight}
    changed_edge = EDGES[1] if directed else frozenset(EDGES[1])
    assert kept == set(before) - {changed_edge}
    # a changed weight has a fresh factor: the ratio of the two weights is not published
    assert not math.isclose(after[changed_edge] / before[changed_edge], 3.5 / 3, rel_tol=1e-4)
    # equal weights of two edges have factors of their own
    assert len({after[edge] for edge in after}) == len(after)


def test_unchanged_weights_keep_their_published_value():
    check_growth()
    check_growth(directed=True)


def test_directions_have_draws_of_their_own():
    method = GaussianWeights(network="roads")
    both = named(NAMES, [("ann", "bob"), ("bob", "ann")], [2, 2], directed=True)
    first, second = method.publish(both, Distortion(), key=key_of(method, both)).data.weights
    assert first != second


def test_names_are_told_apart_wherever_they_are_cut():
    names = ["a", "ab", "bc", "c"]
    method = GaussianWeights(network="roads")
    data = named(names, [("a", "bc"), ("ab", "c")], [2, 2])
    first, second = method.publish(data, Distortion(), key=key_of(method, data)).data.weights
    assert first != second


def test_other_keys_and_other_networks_draw_apart():
    data = ring(200)
    made = []
    for network, secret in (("roads", bytes(32)), ("roads", b"1" * 32), ("rails", bytes(32))):
        method = GaussianWeights(network=network)
        made.append(method.publish(data, Distortion(), key=key_of(method, data, secret)).data.weights / data.weights)
    for first in range(3):
        for second in range(first):
            assert abs(np.corrcoef(made[first], made[second])[0, 1]) < 5 / math.sqrt(200)


def test_a_release_by_a_key_is_for_publication_and_has_nothing_of_the_key():
    method, data = GaussianWeights(network="roads"), ring(5)
    key = OwnerKey.make(terms_of_key(method, data))
    release = method.publish(data, Distortion(), key=key)
    assert release.publishable
    assert "Not for publication" not in release.statement()
    assert key.secret.hex() not in release.to_json().decode() + release.statement() + repr(key)


# What a key may not be used for.


def check_coins_have_the_law():
    """Draws by a key are normal and independent, as fresh ones are: over edges, ends and attempts."""
    data = ring(20_000)
    normals = gaussian_weights.keyed_normals(KeyedCoins(b"k" * 32), data, 2)
    rows = np.arange(len(data))
    drawn = np.column_stack((normals(rows, 0), normals(rows, 1)))
    for column in drawn.T:
        assert stats.kstest(column, "norm").pvalue > 1e-6
    apart = np.corrcoef(drawn.T) - np.eye(4)
    assert np.abs(apart).max() < 5 / math.sqrt(len(data))
    assert np.array_equal(normals(rows[7:9], 1), drawn[7:9, 2:])


def test_keyed_draws_have_the_law():
    check_coins_have_the_law()


def test_one_key_with_two_sigmas_would_give_every_weight():
    data, coins = ring(300), KeyedCoins(b"k" * 32)
    first, second = (
        data.weights
        * gaussian_weights.draw_factors(gaussian_weights.keyed_normals(coins, data, 2), len(data), sigma, 0.05)[0]
        for sigma in (0.1, 0.2)
    )
    assert np.allclose((0.2 * first - 0.1 * second) / (0.2 - 0.1), data.weights, rtol=1e-12)


def test_a_key_whose_file_was_edited_gives_other_draws():
    data = ring(300)
    published = []
    for sigma in (0.1, 0.2):
        method = GaussianWeights(sigma=sigma, network="roads")
        published.append(method.publish(data, Distortion(), key=key_of(method, data)).data.weights)
    guess = (0.2 * published[0] - 0.1 * published[1]) / (0.2 - 0.1)
    assert np.median(np.abs(guess / data.weights - 1)) > 0.05


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"sigma": 0.2}, "the key is for sigma = 0.1; got 0.2; a key has one network and one law: make another"),
        ({"floor": 0.1}, "the key is for floor = 0.05; got 0.1"),
        ({"calibrated": True}, "the key is for calibrated = false; got true"),
        ({"network": "rails"}, "the key is for network = roads; got rails"),
        ({"owner": "one"}, "the key is for owner = both; got one"),
    ],
)
def test_a_key_refuses_what_it_does_not_record(other, message):
    data = ring(4)
    key = key_of(GaussianWeights(network="roads"), data)
    with pytest.raises(ParameterError, match=message):
        GaussianWeights(**{"network": "roads", **other}).publish(data, Distortion(), key=key)


def test_a_key_is_for_directions_or_none_and_for_a_named_network():
    data, method = ring(4), GaussianWeights(network="roads")
    with pytest.raises(ParameterError, match="the key is for directed = false; got true"):
        method.publish(ring(4, directed=True), Distortion(), key=key_of(method, data))
    with pytest.raises(ParameterError, match="a key is for one network; give it a public name with --set network=NAME"):
        GaussianWeights().publish(data, Distortion(), key=key_of(method, data))
    with pytest.raises(ParameterError, match="give a seed or a key, not both"):
        method.publish(data, Distortion(), key=key_of(method, data), seed=1)


def test_methods_that_draw_nothing_by_a_key_refuse_one():
    key = OwnerKey(bytes(32), {"method": "additive-noise"})
    with pytest.raises(ParameterError, match="additive-noise draws nothing by a key; omit it"):
        AdditiveNoise().publish(Matrix.from_rows([[1, 2], [3, 4]]), Distortion(), key=key)


def test_a_ledger_with_a_budget_has_no_coins_of_a_key():
    with pytest.raises(BudgetExceeded, match="a ledger with a budget draws afresh in every release"):
        Ledger(Fraction(1), NoisyAnswers(seed=1)).keyed_coins()
    assert Ledger(Fraction(0), NoisyAnswers(seed=1)).keyed_coins() is None


# What repeated releases tell.


def check_averages(releases=16, claim=4.0):
    """The mean of 16 releases has a quarter of the deviation without a key, and all of it with one."""
    data = ring(4_000)
    fresh, kept = GaussianWeights(sigma=0.2, calibrated=True), GaussianWeights(sigma=0.2, calibrated=True, network="a")
    key = key_of(kept, data)
    for method, given, deviation in ((fresh, None, 0.2 / claim), (kept, key, 0.2)):
        published = [method.publish(data, Distortion(), key=given).data.weights for _ in range(releases)]
        error = np.mean(published, axis=0) / data.weights - 1
        assert error.std() == pytest.approx(deviation, rel=5 / math.sqrt(2 * len(data)))


def test_releases_average_out_without_a_key_and_not_with_one():
    check_averages()


@pytest.mark.parametrize("claim", [3.6, 4.4])
def test_another_gain_of_averages_would_be_noticed(claim):
    with pytest.raises(AssertionError):
        check_averages(claim=claim)


def test_weights_that_drift_average_out_after_all():
    method, start = GaussianWeights(sigma=0.2, calibrated=True, network="a"), ring(2_000)
    key, levels, published = key_of(method, start), [], []
    for release in range(16):
        data = start.weighted(start.weights * 1.01**release)
        levels.append(data.weights)
        published.append(method.publish(data, Distortion(), key=key).data.weights)
    error = np.mean(published, axis=0) / np.mean(levels, axis=0) - 1
    assert error.std() == pytest.approx(0.05, rel=5 / math.sqrt(2 * len(start)) + 0.01)


# The file of a key.


def test_a_key_file_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    method, data, path = GaussianWeights(sigma=0.2, network='the "A" roads'), ring(4), tmp_path / "roads.key"
    made = open_key(path, method, data)
    assert path.stat().st_mode & 0o777 == 0o600
    content = path.read_bytes()
    assert open_key(path, method, data) == made == read_key(path)
    assert path.read_bytes() == content
    assert made.terms == {
        "method": "gaussian-weights",
        "network": 'the "A" roads',
        "sigma": 0.2,
        "floor": 0.05,
        "calibrated": False,
        "owner": "both",
        "directed": False,
    }
    first, second = (method.publish(data, Distortion(), key=open_key(path, method, data)) for _ in range(2))
    assert first.data.to_bytes() == second.data.to_bytes()
    assert open_key(tmp_path / "other.key", method, data).secret != made.secret


def test_a_key_file_that_is_no_secret_or_not_ours_is_refused(tmp_path):
    method, data, path = GaussianWeights(network="roads"), ring(4), tmp_path / "roads.key"
    open_key(path, method, data)
    with pytest.raises(ParameterError, match=r"the key is for sigma = 0\.1; got 0\.2"):
        open_key(path, GaussianWeights(sigma=0.2, network="roads"), data)
    path.chmod(0o640)
    with pytest.raises(
        GuaranteeError, match=r"roads\.key may be read or written by others than its owner; take that away"
    ):
        open_key(path, method, data)
    path.chmod(0o600)
    text = path.read_text()
    for wrong in (
        "sigma = 1\n",
        text.replace('secret = "', 'secret = "zz'),
        'secret = "' + "0" * 64 + '"\n',
        text + "a = []\n",
    ):
        path.write_text(wrong)
        with pytest.raises(ParameterError, match="is not a key file as `hedgerow publish --key` makes it"):
            open_key(path, method, data)
    path.write_text("not = [toml")
    with pytest.raises(ParameterError, match="is not a TOML file"):
        open_key(path, method, data)


def test_a_key_file_never_lies_in_a_release(tmp_path):
    (tmp_path / "release.json").write_text("{}")
    with pytest.raises(GuaranteeError, match="is inside a release folder"):
        open_key(tmp_path / "roads.key", GaussianWeights(network="roads"), ring(4))
    assert not (tmp_path / "roads.key").exists()
    with pytest.raises(ParameterError, match="there is no folder"):
        open_key(tmp_path / "none" / "roads.key", GaussianWeights(network="roads"), ring(4))


def test_whole_numbers_of_a_key_file_are_read_as_they_were_recorded(tmp_path):
    method, data, path = GaussianWeights(sigma=1, network="roads"), ring(4), tmp_path / "roads.key"
    made = open_key(path, method, data)
    path.write_text(path.read_text().replace("sigma = 1.0", "sigma = 1"))
    assert read_key(path) == made


@pytest.mark.parametrize(
    ("owner", "name", "old", "new", "check"),
    [
        (gaussian_weights, "keyed_normals", "content[8 * row : 8 * row + 8] + ", "", check_growth),
        (gaussian_weights, "keyed_normals", "names[one] + names[other]", "bytes([one, other])", check_growth),
        (gaussian_weights, "keyed_normals", "rank[data.first] > rank[data.second]", "data.first > data.second", check_growth),
        (gaussian_weights, "keyed_normals", "names[one] + names[other] + ", "", check_growth),
        (gaussian_weights, "keyed_normals", "] + count", "]", check_coins_have_the_law),
        (keyed_coins.KeyedCoins, "uniforms", "words.astype(np.float64)", "(words >> 1).astype(np.float64)", check_coins_have_the_law),
        (gaussian_weights.GaussianWeights, "run", "if keyed is None else", "if True else", check_growth),
    ],
    ids=["weight ignored", "codes for names", "order of codes", "edge ignored", "attempt ignored", "half of the unit interval", "key ignored"],
)  # fmt: skip
def test_planted_bugs_of_keys_are_caught(owner, name, old, new, check):
    with changed(owner, name, old, new), pytest.raises(AssertionError):
        check()
