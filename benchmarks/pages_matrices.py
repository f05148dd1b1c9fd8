"""The result page of distorted matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tables import table

Results = Mapping[str, Any]

#: what the thesis prints: VD, RP, RK, CP, CK, accuracy in per cent
PRINTED: dict[str, dict[str, tuple[str, ...]]] = {
    "Table 3.1, WBC": {
        "original": ("", "", "", "", "", "96.0"),
        "SVD, k = 5": (".2080", "239.4", ".006358", "1.556", ".4444", "95.9"),
        "wavelet, single": (".2557", "238.6", ".004769", "1.333", ".5556", "96.0"),
        "wavelet, vertical": (".3526", "247.1", ".005564", "1.556", ".333", "95.6"),
        "wavelet, horizontal": (".3140", "239.1", ".005087", "2.000", ".333", "96.1"),
    },
    "Table 3.2, WDBC": {
        "original": ("", "", "", "", "", "85.4"),
        "SVD, k = 15": (".000035", "121.3", ".3454", "0", "1.0", "85.4"),
        "wavelet, single": (".000843", "165.3", ".1083", "4.800", ".4000", "85.4"),
        "wavelet, vertical": (".001011", "168.6", ".1041", "4.733", ".4667", "85.4"),
        "wavelet, horizontal": (".000962", "165.5", ".1141", "3.267", ".4667", "85.4"),
    },
}
#: Table 3.3: distortion and accuracy without and with statistics kept
STRENGTHS = {
    "k": (
        (
            (".196", ".1909", ".1527", ".1442", ".132", ".1254", ".1075", ".0767"),
            "96.28 95.71 95.71 95.85 95.85 95.85 95.99 95.99",
        ),
        (
            (".1915", ".1926", ".1563", ".143", ".1389", ".1226", ".1076", ".0764"),
            "96.28 95.99 95.42 95.71 95.99 95.99 96.14 96.28",
        ),
    ),
    "p": (
        (
            (".0341", ".067", ".0985", ".1276", ".1558", ".1824", ".2082", ".2332", ".2567"),
            "95.99 95.99 95.85 95.57 95.57 95.85 95.85 94.56 94.42",
        ),
        (
            (".0257", ".0507", ".0751", ".0988", ".1232", ".1478", ".1734", ".2003", ".2273"),
            "95.99 95.99 95.85 95.57 95.71 95.99 96.14 95.28 94.56",
        ),
    ),
}
#: what the thesis prints for angles that are kept within 2, 1 and 0.5 degrees, with noise of deviation 1
ANGLES = {"Wine": ("90.70", "87.64", "85.74"), "Bupa": ("91.86", "91.27", "90.96")}
GUESS, READ, CONTROL = "guess of column means", "release as it is", "rows of others (control)"
TABLES = {"WBC": "699 x 9 whole numbers", "WDBC": "569 x 30", "Wine": "178 x 13", "Pima": "768 x 8"}
DIGITS = (12, 8, 6, 4, 3)
#: attacks by a sample of others
OTHERS = ", sample of others"
STRANGERS = ("covariance axes", "closest points", "closest points and posterior of cells", "lattice of a rotation")

_HEAD = """# Results: distorted matrices, and the attacks that undo them

Made by `benchmarks/pages.py` from `matrix-distortion.json`; do not edit. `svd`, `wavelet` and `additive-noise` \
promise nothing. This page shows that they are what the literature describes, and how much of the original comes back.

Data: WBC (699 x 9, whole numbers from 1 to 10), WDBC (569 x 30), Wine (178 x 13) and Pima (768 x 8), all public. The \
16 missing cells of WBC are 8 for malignant and 1 for benign, which is what the published figures are of. The thesis \
is L. Liu, *Privacy preserving data mining for numerical matrices, social networks, and big data*, Kentucky, 2015. \
Rows are numbered, so that neighbours in the file are neighbours in the transform, as in the thesis."""

_TABLES = """## The tables of the thesis

*VD* is the relative difference of the numbers, *RP* and *RK* are about ranks of rows within columns, *CP* and *CK* \
about ranks of columns. The thesis computed RP and CP from sorting positions in place of ranks: first figure; by \
ranks: in square brackets. Accuracy is that of a linear support vector machine in five folds, with C = 1 / mean \
squared length of a row; *transferred*: trained on the release, tested on the original."""

_ATTACKS = """## What attacks recover

Share of cells within 1 % and within 5 % of the original (a cell of 0: of the standard deviation of its column), and \
the median relative error of a row: means of five releases with other seeds and other known rows, median for errors. \
Attackers read method and parameters in the release, and know twice as many rows as there are columns; those rows are \
not counted. *Sample of others*: the people are cut in two by chance; the attacker has the original rows of one half, \
and the release of the other half. That the scores of WBC go from 1 to 10 is public. Beside each attack: a guess of \
column means, the release as it is, and the control: the same attack on a release whose rows belong to others. The \
rank of `svd` is 5, 15, 4 and 4. *Rounding* takes the reconstruction that fits the known rows best, or the release \
itself, to as many decimals as the known rows have. Constants of the attack on secret orders were chosen on WBC and \
WDBC; those of lattice reduction (how much rounding loses), of posteriors (two classes of rows, fine grids) and of \
closest points with all four tables in view. **Bold**: the attack errs at most half as much as a guess, and as the \
release as it is."""

_DIGITS = """## How many digits protect a low rank

A release of rank k has k exact equations per row. Whoever knows that the numbers are whole, or have two decimals, \
solves them by lattice reduction. Share of cells that are *exactly* right, by the number of digits that are published \
(our releases have 12); where the attack finds no solution, numbers are rounded."""

_END = """## What an owner needs to know

- **VD, RP, RK, CP and CK measure no protection.** They are large where nothing is hidden (RP of a release of WBC is \
above that of a random order, as published) and say nothing about an attacker.
- **A low rank hides nothing in numbers with few decimals**: the equations are solved exactly, on WBC even for rank 1. \
Fewer digits stop that attack; they do not stop a reader, who has most cells by rounding.
- **A rotation is undone by as many known rows as there are columns**, exactly without noise.
- **Nobody in the release needs to be known**: a rotation carries the lattice of whole numbers and the cloud of rows \
with it, and a sample of other people names its columns.
- **Noise does not hide whole numbers**: noise as large as their step leaves most scores of WBC readable, turned or \
not; and a third of them can be guessed, since most people have a 1.
- **Noise that leaves the numbers useful is partly removed**; wavelets are inverted where their order is known.
- **The order of rows is part of the data**: it tells labels, and a wavelet carries them into the numbers.

**Treat a distorted matrix like the original: if its rows are about people, do not publish it without a differentially \
private method, whatever VD or the accuracy of a classifier say.**"""


def matrix_pages(results: Results) -> dict[str, str]:
    """Write the page."""
    parts = [_HEAD, _TABLES, *(_reproduced(title, results[title]) for title in PRINTED), _strengths(results)]
    parts += [_angles(results), _ATTACKS, _best(results)]
    for name, shape in TABLES.items():
        parts += [f"### {name}, {shape}", _attacked(results, name)]
    parts += [_strangers(results), _known(results), _DIGITS, _digits(results), _leakage(results), _END]
    return {"matrix-distortion.md": "\n\n".join(parts) + "\n"}


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}"


def _reproduced(title: str, runs: Results) -> str:
    rows = []
    for run, printed in PRINTED[title].items():
        ours = runs[run]
        accuracy = _percent(ours["accuracy"])
        if "VD" not in ours:
            rows.append([run, *[""] * 5, f"{accuracy} ({printed[5]})", ""])
            continue
        published, ranks = ours["published"], ours["ranks"]
        rows.append(
            [
                run,
                f"{ours['VD']:.6f} ({printed[0]})" if ours["VD"] < 0.01 else f"{ours['VD']:.4f} ({printed[0]})",
                f"{published['rp']:.1f} [{ranks['rp']:.1f}] ({printed[1]})",
                f"{published['rk']:.4g} ({printed[2]})",
                f"{published['cp']:.4g} [{ranks['cp']:.4g}] ({printed[3]})",
                f"{published['ck']:.4g} ({printed[4]})",
                f"{accuracy} ({printed[5]})",
                _percent(ours["transferred"]),
            ]
        )
    by_chance = runs["random"]
    rows.append(
        ["random order", "", *(f"{by_chance[name]:.4g}" for name in ("rp", "rk", "cp", "ck")), "", ""],
    )
    head = ["run", "VD", "RP", "RK", "CP", "CK", "accuracy, %", "transferred, %"]
    note = (
        "In round brackets what the thesis prints. The rows *vertical* and *horizontal* were not reproduced by any "
        "combination of wavelets, levels and thresholds that we tried; the others are, but for RP and RK of wavelets, "
        "where the thesis broke ties by rounding errors."
    )
    scaled = f"After standardising columns, the classifier reaches {_percent(runs['standardised']['accuracy'])} %."
    return f"### {title}\n\n{table(head, rows)}\n\n{note} {scaled}"


def _strengths(results: Results) -> str:
    rows = []
    runs = results["Table 3.3, WBC"]
    for letter, printed in STRENGTHS.items():
        names = [name for name in runs if name.startswith(letter)]
        for at, name in enumerate(names):
            row = [("SVD, " if letter == "k" else "Haar, ") + name]
            for (distortions, accuracies), (distortion, accuracy) in zip(printed, runs[name], strict=True):
                row += [f"{distortion:.4f} ({distortions[at]})", f"{_percent(accuracy, 2)} ({accuracies.split()[at]})"]
            rows.append(row)
    head = ["run", "VD", "accuracy, %", "VD, statistics kept", "accuracy, statistics kept, %"]
    note = "VD is in the spectral norm here, and the level 3: that is what the printed figures are of."
    return f"### Table 3.3, WBC\n\n{table(head, rows)}\n\n{note}"


def _angles(results: Results) -> str:
    rows = []
    for name in ("Wine", "Pima", "Bupa"):
        runs = results.get(f"angles, {name}")
        for beta in [key for key in runs or () if key.startswith("beta")]:
            row = [f"{name}, {runs['shape'][0]} x {runs['shape'][1]}, k = {runs['rank']}", beta.removeprefix("beta = ")]
            printed = ANGLES.get(name) if beta == "beta = 1" else None
            shares = [_percent(share) for share in runs[beta]]
            row += [f"{share} ({other})" for share, other in zip(shares, printed, strict=True)] if printed else shares
            rows.append(row)
    head = ["data", "beta", "within 2 degrees, %", "within 1 degree, %", "within 0.5 degrees, %"]
    note = (
        "Share of pairs of rows whose angle is kept by a random rotation with noise of deviation beta, in the k "
        "largest directions; means of five seeds. In brackets what the thesis prints; its nearly flat figures cannot "
        "be reproduced from what it describes. With the label as a column, as in the thesis, for Wine."
    )
    return f"## Angles between rows\n\n{note}\n\n{table(head, rows)}"


def _best(results: Results) -> str:
    """Write the attack on all rows that recovers most cells within 1 %, for each release of each table."""
    rows, failed = [], []
    for title, run in results.items():
        if not title.startswith("attacks, "):
            continue
        _, name, way = title.split(", ", 2)
        whole = {attack: each for attack, each in run["attacks"].items() if attack != "angle neighbour"}
        attack, each = max(whole.items(), key=lambda item: round(item[1]["attack"][0], 3))
        shares = [
            " / ".join(_percent(each[key][at]) if key in each else "-" for key in ("attack", GUESS, READ, CONTROL))
            for at in (0, 1)
        ]
        rows.append([name, way, attack, *shares])
        without = max(each[key][1] for key in (GUESS, READ) if key in each)
        if max(other["attack"][1] for other in whole.values()) < without:
            failed.append(f"{name}, {way}")
    head = ["data", "release", "best attack", "cells within 1 %: attack / guess / release / control", "within 5 %"]
    note = "The attack that recovers most cells within 1 %, among those that guess all rows."
    losses = (
        f"On {len(failed)} of {len(rows)} releases no such attack recovers more cells within 5 % than a guess or the "
        f"release itself does: {'; '.join(failed)}. Where numbers are distorted that much, attacks on cells fail."
    )
    return (
        f"### The best attack on each release\n\n{note}\n\n{table(head, rows)}\n\n{losses if failed else ''}".rstrip()
    )


def _attacked(results: Results, name: str) -> str:
    rows = []
    prefix = f"attacks, {name}, "
    for title, run in results.items():
        if not title.startswith(prefix):
            continue
        for number, (attack, each) in enumerate(run["attacks"].items()):
            row = [title.removeprefix(prefix) if not number else "", f"**{attack}**" if each["fails"] > 0.5 else attack]
            for at in (0, 1):
                values = [each[key][at] if key in each else None for key in ("attack", GUESS, READ, CONTROL)]
                row.append(" / ".join("-" if value is None else _percent(value) for value in values))
            values = [each[key][2] if key in each else None for key in ("attack", GUESS, READ, CONTROL)]
            row.append(" / ".join("-" if value is None else f"{value:.2g}" for value in values))
            rows.append(row)
    order = "attack / guess / release / control"
    return table(["release", "attack", f"within 1 %: {order}", "within 5 %", "median error of a row"], rows)


def _strangers(results: Results) -> str:
    """Write what is recovered by somebody who has rows of other people only, without and with noise."""
    rows = []
    for name in TABLES:
        for way in ("rotation", "rotation and noise, beta = 1"):
            attacks = results[f"attacks, {name}, {way}"]["attacks"]
            mine = {attack.removesuffix(OTHERS): each for attack, each in attacks.items() if attack.endswith(OTHERS)}
            errors = [mine[attack]["attack"][2] if attack in mine else None for attack in STRANGERS]
            best = max(each["attack"][0] for each in mine.values())
            control = max(each[CONTROL][0] for each in mine.values())
            guess = next(iter(mine.values()))[GUESS]
            cells = ["-" if error is None else f"{error:.2g}" for error in errors]
            rows.append([f"{name}, {way}", f"{guess[2]:.2g}", *cells, f"{_percent(best)} / {_percent(control)}"])
    head = ["release", "guess of means", *STRANGERS, "cells within 1 %, best attack / control"]
    note = (
        "Median relative error of a row for an attacker who knows nobody in the release and has a sample of other "
        "people, as many as the release has. *Covariance axes* aligns the axes of both, with signs by means and "
        "skewness; *closest points* matches rows and turns the release to them; *lattice* finds the steps of the "
        "columns in the differences of rows, and names columns by the sample: it needs a release without noise, and "
        "at most 16 columns. The control is high where most people have the same score."
    )
    return f"### By a sample of other people\n\n{note}\n\n{table(head, rows)}"


def _known(results: Results) -> str:
    parts = []
    for name in ("Wine", "Pima"):
        runs = results[f"known rows, {name}"]
        columns = list(next(iter(runs.values())))
        rows = [[f"{name}, {beta}", *(f"{run[column]:.3g}" for column in columns)] for beta, run in runs.items()]
        parts.append((columns, rows))
    head = ["data", *parts[0][0]]
    note = (
        "Median relative error of a row under a random rotation with noise of deviation beta, for m columns; medians "
        "of 20 seeds. *Neighbours* guesses the five rows nearest in direction to one known row: as they are, as in the "
        "thesis, or scaled. *Inner products* is the attack that the thesis describes: it fails, and shows nothing "
        "about the release."
    )
    return f"### By the number of known rows\n\n{note}\n\n{table(head, [row for _, rows in parts for row in rows])}"


def _digits(results: Results) -> str:
    rows = []
    for name in TABLES:
        for rank, shares in results[f"digits, {name}"].items():
            cells = [f"**{_percent(right)}**" if sure > 0.5 else _percent(right) for right, sure in shares]
            rows.append([f"{name}, {rank}", *cells])
    head = ["release", *(f"{digits} digits, %" for digits in DIGITS)]
    return (
        table(head, rows) + "\n\n**Bold**: the attacker knows that most rows are right, since they solve the equations."
    )


def _leakage(results: Results) -> str:
    runs: Mapping[str, Sequence[float]] = results["leakage, WBC"]
    rows = [[name, _percent(accuracy), f"{distortion:.3f}"] for name, (accuracy, distortion) in runs.items()]
    note = (
        "WBC by `wavelet` with its rows sorted by class, or shuffled: the accuracy of a classifier on the release. A "
        "release that tells the class better than the original (96.4 %) leaks it from neighbouring rows. `wavelet` "
        "puts rows into a secret order by default, and refuses rows that are sorted by their labels."
    )
    return f"## Labels leak from the order of rows\n\n{note}\n\n{table(['rows', 'accuracy, %', 'VD'], rows)}"
