"""A fit that is off in its last bits publishes the same: it is rounded to a coarse grid before anything is drawn."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import releases
from hedgerow.kinds.sets.methods.pairwise_marginals import items_model
from hedgerow.numerics import rounding
from hedgerow.numerics.rounding import on_count_grid, on_grid
from releases import CASES

#: relative: what sums on another processor are off by, and ten times that
OFF = 1e-13
#: a golden release, and the functions whose results are shaken
FITS = {
    "diffpart": ["sets.methods.diffpart.model:scale_to_parents"],
    "pairwise-marginals": ["sets.methods.pairwise_marginals.items_model:adjust_total"],
    "pairwise-marginals, persons": ["sets.methods.pairwise_marginals.items_model:fit_independent_items"],
    "ngram, as printed": ["sequences.methods.ngram.model:_ratio"],
    "ngram": ["sequences.methods.ngram_markov.model:fit_proportionally"],
    "variable-order-markov": ["sequences.methods.variable_order_markov.model:posterior_counts"],
    "prefix-tree, cut": ["sequences.methods.prefix_tree.model:path_estimates"],
    "prefix-tree, rides": ["sequences.methods.continued_prefix_tree.draw:project_to_simplex"],
    "degree-corrected-blocks": [
        "graphs.methods.degree_model:fit_mixture",
        "graphs.methods.region_counts_model:fit_tree",
    ],
    "der": ["graphs.methods.region_counts_model:fit_tree"],
    "trip-synthesis": ["trajectories.methods.trip_synthesis.model:fit_margins"],
    "private-wavelet": ["matrices.methods.private_wavelet.publisher:combine"],
}


def shaken(function):
    """The function, with floats that are off in their last bits."""

    def shake(result, noise):
        if isinstance(result, tuple):
            return tuple(shake(part, noise) for part in result)
        if isinstance(result, np.ndarray) and result.dtype.kind == "f":
            return result * (1 + OFF * noise.uniform(-1, 1, result.shape))
        return result

    return lambda *given, **named: shake(function(*given, **named), np.random.default_rng(7))


@pytest.mark.parametrize("name", FITS)
def test_the_last_bits_of_a_fit_do_not_matter(name, tmp_path, monkeypatch):
    case = replace(CASES[name], formats=CASES[name].formats[:1])
    before = published(case, tmp_path / "before")
    calls = []
    for place in FITS[name]:
        path, _, function = place.partition(":")
        module = import_module(f"hedgerow.kinds.{path}")
        monkeypatch.setattr(module, function, counted(shaken(getattr(module, function)), calls))
    assert published(case, tmp_path / "after") == before
    assert calls


def published(case, folder):
    folder.mkdir()
    return releases.digest(case, folder)


@pytest.fixture(autouse=True)
def one_seed(monkeypatch):
    monkeypatch.setattr(releases, "SEEDS", releases.SEEDS[:1])


def counted(function, calls):
    def call(*given, **named):
        calls.append(1)
        return function(*given, **named)

    return call


def test_it_is_the_grid_that_makes_them_not_matter(tmp_path, monkeypatch):
    """A planted bug: tables of items as they are. Items of equal weight are then sorted by their last bits."""
    case = replace(CASES["pairwise-marginals"], formats=("csv",))
    monkeypatch.setattr(items_model, "on_grid", np.asarray)
    before = published(case, tmp_path / "before")
    monkeypatch.setattr(items_model, "adjust_total", shaken(items_model.adjust_total))
    assert published(case, tmp_path / "after") != before


def test_a_half_is_rounded_by_a_rule_not_by_last_bits(monkeypatch):
    halves = np.full(9, 0.5)
    for off in (-OFF, 0.0, OFF):
        assert rounding.round_together(halves + off).tolist() == [1, 0] * 4 + [1]
    monkeypatch.setattr(rounding, "on_count_grid", np.asarray)
    assert rounding.round_together(halves - OFF).tolist() != [1, 0] * 4 + [1]


def test_points_of_the_grids_stay_and_sums_on_them_are_exact():
    draw = np.random.default_rng(3)
    values = draw.normal(0, 1, 2_000) * 10.0 ** draw.integers(-200, 200, 2_000)
    once = on_grid(values)
    assert np.array_equal(on_grid(once), once)
    assert np.all(np.abs(once - values) <= np.abs(values) * 2.0**-20)
    whole = draw.integers(-(2**32), 2**32, 1_000).astype(np.float64)
    assert np.array_equal(on_count_grid(whole), whole)
    counts = on_count_grid(draw.exponential(1_000, 10_000))
    assert counts.sum() == counts[::-1].cumsum()[-1] == counts.reshape(100, 100).sum(axis=0).sum()
    assert on_grid([np.inf, 0.0]).tolist() == [np.inf, 0.0]
