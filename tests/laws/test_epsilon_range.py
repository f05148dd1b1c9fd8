"""Every differentially private method, with budgets from tiny to huge on a few records: it publishes, or refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from project import TESTS

from hedgerow import Domain, Graph, Matrix, NumberAxis, Sets
from hedgerow.errors import ParameterError
from hedgerow.methods import METHODS, find_method
from hedgerow.privacy import PureDP
from hedgerow.testing import build_edge_cases

PRIVATE = [name for name in METHODS if PureDP in find_method(name).keeps]
EVERY = ("1e-9", "1e-6", "1e-4", "1e-3", "0.1", "1", "1e3")
#: what a budget is refused with: an error of the person who typed it, or a promise that cannot be kept
REFUSED = (2, 3)


def outcomes(name: str, folder, sizes: str, units: list[str], budgets: tuple[str, ...]) -> list[dict]:
    """What became of each publication, in a process that may use 2 GB of memory."""
    script = [sys.executable, str(TESTS / "support" / "epsilon_range.py"), str(folder), name]
    chosen = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [*script, sizes, ",".join(units), ",".join(budgets)], env=chosen, capture_output=True, text=True, check=False
    )
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, (told[-1:], ran.stderr[-500:])
    return [each for each in told if "code" in each]


def require_clean(found: list[dict]) -> None:
    for each in found:
        assert each["code"] in (0, *REFUSED), each
        assert "Traceback" not in each["said"], each
        if each["code"]:
            assert len(each["said"].splitlines()) == 1, each


def units_of(name: str) -> list[str]:
    """The units that do not need owners, which the files do not have."""
    method = find_method(name)
    foreign = {"person", "trajectory"} if method.kinds[0] == "sequences" else {"person"}
    return [unit for unit in method.units if unit not in foreign]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PRIVATE)
def test_three_records_are_published_or_refused_with_any_budget(name, tmp_path):
    found = outcomes(name, tmp_path, "3", units_of(name)[:1], ("1e-9", "1e-6", "0.1", "1e3"))
    assert len(found) == 4
    require_clean(found)
    assert found[-1]["code"] == 0, found[-1]


@pytest.mark.full
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", PRIVATE)
def test_few_records_are_published_or_refused_with_any_budget_and_unit(name, tmp_path):
    found = outcomes(name, tmp_path, "3,100", units_of(name), EVERY)
    assert len(found) == 2 * len(EVERY) * len(units_of(name))
    require_clean(found)


LIMITED = (
    "continued-prefix-tree",
    "diffpart",
    "flat-laplace",
    "ngram",
    "ngram-markov",
    "noisy-singletons",
    "prefix-tree",
    "raked-histogram",
    "trip-synthesis",
    "variable-order-markov",
)


@pytest.mark.parametrize("name", LIMITED)
def test_what_noise_alone_may_publish_is_limited_before_anything_is_asked(name):
    method = find_method(name)
    data = build_edge_cases(method.kinds[0])["one record"]
    with pytest.raises(ParameterError, match=r"noise alone may produce about .*; take a larger epsilon"):
        method().publish(data, PureDP(epsilon="1e-7", unit=method.units[0]), before_asking=pytest.fail)


def test_a_limit_is_that_of_memory_not_of_the_usual_budgets():
    """Two items, at which the limit of n-grams once was passed: 5 GB, and minutes."""
    data = build_edge_cases(find_method("ngram-markov").kinds[0])["two items"]
    with pytest.raises(ParameterError, match="larger epsilon, a smaller l_max or n_max, or fewer items"):
        find_method("ngram-markov")().publish(data, PureDP(epsilon="1e-6", unit="sequence"), before_asking=pytest.fail)
    assert find_method("ngram-markov")().publish(data, PureDP(epsilon="0.01", unit="sequence"), seed=1)


ITEMS, NUMBERS = Domain.declare(item=range(300)), NumberAxis.between(0, 1999, 1)
#: their limits grow with the domain, so that small ones are published
GROWING = {
    "pairwise-marginals": Sets.from_records([[1, 2], [7]], domain=ITEMS),
    "private-wavelet": Matrix.from_rows([[1, 2], [7, 8]], domain=Domain.declare(x=NUMBERS, y=NUMBERS)),
} | dict.fromkeys(
    ("degree-corrected-blocks", "der", "laplace-graph", "noisy-degrees", "random-graph", "tmf"),
    Graph.from_edges([(1, 2)], domain=Domain.declare(vertex=range(12_000))),
)


@pytest.mark.parametrize("name", GROWING)
def test_limits_that_grow_with_the_domain_do_not_depend_on_noise(name):
    """Refusing after the draw spends the budget, and some draws of 280 million items or 200 million rows were kept."""
    method, data = find_method(name), GROWING[name]
    for epsilon in ("1e-9", "1e-7", "1e-5")[: 1 if isinstance(data, Graph) else 3]:
        with pytest.raises(ParameterError, match=r"about .*; (take|give) a larger epsilon"):
            method().publish(data, PureDP(epsilon=epsilon, unit=method.units[0]), before_asking=pytest.fail)
    assert method().publish(data, PureDP(epsilon="20", unit=method.units[0]), seed=1)


def test_a_model_beside_itemsets_needs_a_larger_budget():
    """With 12 items and epsilon 3e-5, millions of records were drawn from noise, for minutes."""
    data = Sets.from_records([[1, 2], [7]], domain=Domain.declare(item=range(12)))
    with pytest.raises(ParameterError, match="noise alone may produce about"):
        find_method("raked-histogram")().publish(data, PureDP(epsilon="3e-5", unit="record"), before_asking=pytest.fail)
