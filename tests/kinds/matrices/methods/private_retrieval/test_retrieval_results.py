"""The figures of the specification are reproduced: they are where medians of as many runs are."""

from __future__ import annotations

import json

import pytest
from project import ROOT

RESULTS = json.loads((ROOT / "docs" / "results" / "private-retrieval.json").read_text())
#: medians over 200 runs, as specified: naive, local, sparse at one and two means, signed mean, largest 40 %
SPECIFIED = {
    "1,024 counts, epsilon 1, 20 keywords": (1.53, 0.0012, 1.14, 1.02, 1.53, 1.47),
    "1,024 counts, epsilon 0.1, 20 keywords": (16.0, 0.0127, 3.53, 1.57, 16.0, 15.5),
    "4,096 counts, epsilon 1, 50 keywords": (1.23, 0.0010, 1.12, 1.04, 1.23, 1.12),
}
MODES = (
    *("naive", "local", "sparse, 1 mean", "sparse, 2 means", "signed mean, as printed"),
    "largest 40 % of the noisy query",
)


@pytest.mark.parametrize("case", SPECIFIED)
def test_medians_as_specified(case):
    """Each is within the range of 95 % of medians of 200 runs, up to its printed digits."""
    for mode, specified in zip(MODES, SPECIFIED[case], strict=True):
        low, high = RESULTS["continuous"][case][mode]["of 200"]
        assert 0.96 * low < specified < 1.04 * high, mode
        # our own noise is discrete, and smaller by at most 4 %
        assert 0.85 * low < RESULTS["poisson"][case][mode]["median"] < 1.04 * high, mode


def test_targets_of_better_modes():
    rows = RESULTS["poisson"]["1,024 counts, epsilon 1, 20 keywords"]
    for mode, target in (("centred", 0.125), ("centred, randomised response", 0.085), ("local", 0.0014)):
        assert rows[mode]["median"] == pytest.approx(target, rel=0.12)
    assert rows["centred"]["bytes"] == 1025
    assert rows["centred, randomised response"]["bytes"] == 128


def test_what_the_page_says_of_rivals():
    """At epsilon 1 the mean times the keywords is better than any query, unless counts differ widely."""
    rows = RESULTS["poisson"]["1,024 counts, epsilon 1, 20 keywords"]
    rival = "mean of the vector times keywords"
    sent = [name for name, row in rows.items() if name != "laws" and row["bytes"]]
    assert all(rows[rival]["median"] < rows[name]["median"] for name in sent)
    assert rows["local"]["median"] < rows[rival]["median"]
    for epsilon, keywords, better in (("3", 20, False), ("5", 20, True), ("3", 200, True)):
        rows = RESULTS["poisson"][f"1,024 counts, epsilon {epsilon}, {keywords} keywords"]
        assert (rows["centred, randomised response"]["median"] < rows[rival]["median"]) == better
    bikes = RESULTS["bikes"]["epsilon 1, 20 keywords"]
    assert bikes["centred, randomised response"]["median"] < bikes[rival]["median"] < bikes["answer 0"]["median"]


@pytest.mark.parametrize("part", ["poisson", "bikes"])
def test_errors_follow_the_law(part):
    """1,000 runs each: a root mean squared error is within 10 % of its formula, four standard errors and more."""
    for rows in RESULTS[part].values():
        for mode, laws in rows["laws"].items():
            assert rows[mode]["rmse"] == pytest.approx(laws[0], rel=0.1)
            assert rows[mode]["covered"] >= 0.93
