"""What statements say about attacks on public networks is what the benchmark measured."""

from __future__ import annotations

import json

import pytest
from project import ROOT

from hedgerow.kinds.graphs.known_attacks import ATTACKS

RESULTS = json.loads((ROOT / "docs" / "results" / "weights-leakage.json").read_text())
NETWORKS = ("eies", "us-airports", "netscience")


def said(beginning, number=0):
    return [line for line in ATTACKS if line.startswith(beginning)][number]


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def factors(name, sigma):
    return RESULTS[f"gaussian-weights, {name}, sigma {sigma}"]


def paths(name):
    return RESULTS[f"greedy-weights, {name}"]


def test_statements_quote_orders_and_distances():
    gaussian, greedy = factors("us-airports", 0.2)["tau"], paths("us-airports")
    assert f"is {gaussian:.2f} for airports with gaussian-weights at sigma .2, and {greedy['tau']:.2f}" in said(
        "Orders"
    )
    assert f"and {greedy['pairs']} kept paths" in said("Orders")
    distances = [percent(RESULTS[f"edges, {name}"]["weights that are distances"]) for name in NETWORKS]
    assert f"{distances[0]} of those of EIES, {distances[1]} of those of airports and {distances[2]}" in said(
        "The lightest"
    )
    assert {RESULTS[f"edges, {name}"]["lightest edges that are distances"] for name in NETWORKS} == {1.0}


def test_statements_quote_rounding_and_averages():
    runs = [factors("eies", sigma) for sigma in (0.1, 0.2)]
    weak, strong = ([percent(each["exact"]) for each in (run["releases"]["1"], run["others"])] for run in runs)
    assert f"{weak[0]} are exactly right from one release with gaussian-weights at sigma .1" in said("Whole numbers")
    assert f"sigma .1 and {strong[0]} at .2" in said("Whole numbers")
    commonest = percent(RESULTS["edges, eies"]["commonest weight"])
    assert f"edges give {weak[1]} and {strong[1]}, and always saying the commonest one {commonest}." in said("Whole")
    releases = factors("us-airports", 0.2)["releases"]
    one, two = (percent(releases[count]["within 10 %"]) for count in ("1", "2"))
    many = percent(releases["16"]["within 10 %"], 1)
    assert f"{one} of the weights of airports are known to 10 % from one release, {two} from two and {many}" in said(
        "Several releases"
    )


def test_statements_quote_what_kept_paths_tell():
    known = [percent(paths(name)["sign of the change is known"]) for name in ("eies", "us-airports")]
    text = said("greedy-weights")
    assert f"{known[0]} in EIES with a quarter of all pairs kept, {known[1]} in airports" in text
    airports = paths("us-airports")
    middle = percent(airports["one release"]["by paths"]["middle"]["within 25 %"])
    assert f"has {middle} of the weights of airports within 25 %" in text
    assert f"the release itself {percent(airports['release']['within 25 %'])}." in text
    assert f"stand exactly, {percent(paths('eies')['stand'])} of those of EIES" in said("greedy-weights", 1)
    assert {paths(name)["equal twice"][1] for name in NETWORKS} == {1}
    assert "all whole numbers in the release of EIES stood" in said("greedy-weights", 1)
    assert paths("eies")["whole numbers"] == [paths("eies")["stand"], 1]
    large = percent(airports["whole numbers"][1])
    assert f"of the whole numbers in the release of airports {large} stood" in said("greedy-weights", 1)
    assert all(percent(paths(name)["few digits"][1]) != "100 %" for name in NETWORKS)


@pytest.mark.parametrize("name", NETWORKS)
def test_all_bounds_held_and_fewer_held_for_other_edges(name):
    for count in ("one release", "two releases"):
        for way in ("edge by edge", "by paths"):
            bounds = paths(name)[count][way]
            assert bounds["hold"] == 1 > bounds["hold for others"]
            assert bounds["middle"]["within 25 %"] > bounds["middle, others"]["within 25 %"]


@pytest.mark.parametrize("sigma", [0.1, 0.2])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_law_of_factors_is_the_one_that_is_stated(name, sigma):
    run = factors(name, sigma)
    assert run["intervals that have the weight"] == pytest.approx(0.95, abs=0.01)
    assert run["deviation"] == pytest.approx(sigma if name == "eies" else sigma / 2**0.5)
    assert run["error of the release"] == pytest.approx(run["deviation"], rel=0.05)
    if name != "eies":
        assert run["releases"]["16"]["error"] == pytest.approx(run["deviation"] / 4, rel=0.05)
