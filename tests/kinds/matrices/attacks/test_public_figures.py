"""What statements say about attacks on public data is what the benchmark measured."""

from __future__ import annotations

import json

from project import ROOT

from hedgerow.kinds.matrices.known_attacks import ATTACKS

RESULTS = json.loads((ROOT / "docs" / "results" / "matrix-distortion.json").read_text())
TABLES = ("WBC", "WDBC", "Wine", "Pima")


def measured(table, way, attack, at=0, of="attack"):
    return RESULTS[f"attacks, {table}, {way}"]["attacks"][attack][of][at]


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def test_statements_quote_the_benchmark():
    said = {line.split(":")[0]: line for line in ATTACKS}
    noise = ("WDBC", "additive noise, beta = 1", "spectral filtering", 2)
    falls = f"falls from {percent(measured(*noise, 'release as it is'), 2)} to {percent(measured(*noise), 2)}"
    assert falls in said["Spectral filtering"]
    assert {percent(measured(table, "rotation", "Procrustes, known rows")) for table in TABLES} == {"100 %"}
    assert "100 %" in said["Known rows"]
    near = measured("WBC", "rotation", "angle neighbour")
    assert f"{percent(near)} of the cells are recovered within 1 %" in said["Angles between rows"]
    weak = percent(measured("WBC", "wavelet, p = 0.1", "rounding to known decimals"))
    weighed = percent(measured("WBC", "wavelet, p = 0.5", "wavelet inversion and posterior of cells"))
    strong = percent(measured("WDBC", "wavelet, p = 0.5", "wavelet inversion"))
    inverted = said["Inversion of a wavelet release"]
    assert f"p = 0.1, {weak} of the cells of WBC" in inverted
    assert f"p = 0.5 {weighed} of those of WBC after weighing what is left and {strong} of those of WDBC" in inverted
    solved = {table: percent(measured(table, "svd", "SVD reconstruction"), 1) for table in TABLES}
    assert f"{solved['WDBC']} of the cells of WDBC and {solved['WBC']} of those of WBC" in said["Low-rank releases"]


def test_statements_quote_posteriors_and_attacks_by_strangers():
    said = {line.split(":")[0]: line for line in ATTACKS}
    ways = [("additive noise, beta = 1", "posterior of cells"), ("additive noise, beta = 2", "posterior of cells")]
    one, two = (percent(measured("WBC", *way)) for way in ways)
    assert {percent(measured("WBC", *way, of="rows of others (control)")) for way in ways} == {"36 %"}
    turned = percent(measured("WBC", "rotation and noise, beta = 1", "Procrustes and posterior of cells"))
    assert f"{one} with noise of standard deviation 1 and {two} with 2, where" in said["Posteriors of cells"]
    assert (
        f"exchanged rows give 36 %. With a rotation that known rows tell, it is {turned} with 1."
        in (said["Posteriors of cells"])
    )
    whole = [
        percent(measured(t, "rotation", "lattice of a rotation, sample of others")) for t in ("WBC", "Wine", "Pima")
    ]
    assert (
        f"{whole[0]} of the cells of WBC, {whole[1]} of those of Wine and {whole[2]} of those of Pima"
        in (said["Rows of other people"])
    )
    near = ("rotation", "closest points, sample of others", 2)
    errors = percent(measured("Wine", *near), 1), percent(measured("WDBC", *near), 1)
    means = [percent(measured(table, *near, "guess of column means")) for table in ("Wine", "WDBC")]
    assert f"{errors[0]} on Wine and {errors[1]} on WDBC" in said["Rows of other people"]
    assert f"by {means[0]} and {means[1]}." in said["Rows of other people"]


def test_attacks_are_no_weaker_than_those_that_were_shown():
    """What somebody else's scripts recovered of the public tables is the least that the committed table has."""
    assert measured("WBC", "additive noise, beta = 1", "posterior of cells") > 0.641
    assert measured("WBC", "additive noise, beta = 2", "posterior of cells") > 0.558
    for table, most in (("Wine", 0.016), ("WDBC", 0.06)):
        assert measured(table, "rotation", "closest points, sample of others", 2) < most


def test_the_page_reproduces_the_printed_distortions():
    """Every VD that the specification calls reproduced has all printed digits."""
    for title, run, printed in (
        ("Table 3.1, WBC", "SVD, k = 5", 0.2080),
        ("Table 3.1, WBC", "wavelet, single", 0.2557),
        ("Table 3.2, WDBC", "SVD, k = 15", 0.000035),
        ("Table 3.2, WDBC", "wavelet, single", 0.000843),
    ):
        assert round(RESULTS[title][run]["VD"], 4 if printed > 0.01 else 6) == printed
    spectral = [
        ("k", 0, ".196 .1909 .1527 .1442 .132 .1254 .1075 .0767"),
        ("k", 1, ".1915 .1926 .1563 .143 .1389 .1226 .1076 .0764"),
        ("p", 0, ".0341 .067 .0985 .1276 .1558 .1824 .2082 .2332 .2567"),
        ("p", 1, ".0257 .0507 .0751 .0988 .1232 .1478 .1734 .2003 .2273"),
    ]
    for letter, kept, printed in spectral:
        runs = [run for name, run in RESULTS["Table 3.3, WBC"].items() if name.startswith(letter)]
        assert [round(run[kept][0], 4) for run in runs] == [float(number) for number in printed.split()]
