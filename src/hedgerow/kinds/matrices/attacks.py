"""All attacks on a release of a matrix, with baselines and a control; for the owner only.

What an attacker needs is what a release says (method and parameters), and a few known rows or a sample of other people.
Every reconstruction is compared with the original in the rows that the attacker did not know, beside three figures that
need no attack: a guess of column means, the release as it is, and the same attack on a release whose rows belong to
others (control).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.attackers.angle_neighbours import guess_neighbours
from hedgerow.kinds.matrices.attackers.knowledge import Bounds, Knowledge
from hedgerow.kinds.matrices.attackers.known_sample import reconstruct_by_sample, split_people
from hedgerow.kinds.matrices.attackers.label_leakage import guess_by_numbers, guess_by_position, guess_commonest
from hedgerow.kinds.matrices.attackers.linkage import link_rows
from hedgerow.kinds.matrices.attackers.reconstructions import open_order, reconstruct_all
from hedgerow.kinds.matrices.attackers.wavelet_inversion import block_means
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.row_measures import match_rows
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.privacy import Guarantee
from hedgerow.score import ATTACK, Better, Score, exact_score

#: charts: shares of cells, and figures that are listed only
RECOVERED_1, RECOVERED_5 = "cells that attacks recover within 1 %", "cells that attacks recover within 5 %"
ERRORS = "errors of attacks"
_GUESS, _READ, _SHUFFLED = "guess of column means", "release as it is", "rows of others (control)"
#: known rows whose neighbours are guessed, and how many neighbours
_STARTS, _NEAREST = 20, 5
#: one in so many labels is known
_KNOWN_LABELS = 10
_EXACT = 1e-9


class Outcome(NamedTuple):
    """What an attack recovered, and the same without it."""

    attack: Success
    baselines: Mapping[str, Success]

    @property
    def fails(self) -> bool:
        """Whether the release fails: the attack errs at most half as much as a guess, or the release itself."""
        return fails(self.attack, *(self.baselines[name] for name in (_GUESS, _READ) if name in self.baselines))


def attack(
    original: Matrix,
    released: Matrix,
    *,
    undone_by: tuple[str, ...],
    parameters: Mapping[str, Any],
    rng: np.random.Generator,
    known: int | None = None,
    guarantee: Guarantee | None = None,
    again: Callable[[], Matrix] | None = None,
) -> list[Score]:
    """Attack a release of a matrix in all ways that are known for it.

    Parameters
    ----------
    undone_by
        Which attacks undo its method, as the method says.
    parameters
        The parameters of the method, as the release says.
    known
        How many original rows the attacker knows; twice the number of columns if None, but at most a quarter.
    guarantee, again
        Not used: no attack depends on the promise, or needs a second release.
    """
    del guarantee, again
    turned = parameters.get("rotation", "none") != "none"
    same_columns = original.columns == released.columns and not turned
    if not same_columns and not turned:
        msg = "the columns of the data are not those of the release; read the data as for publish (--columns, --read)"
        raise ParameterError(msg)
    matched = match_rows(original, released)
    linked = matched is None
    if matched is None:
        if not same_columns or len(original) != len(released):
            msg = (
                "the rows of this release cannot be matched with those of the data: rows have no distinct "
                "names in both, and columns or numbers of rows differ; give the data it was made from, read in the "
                "same way, and publish rows with names (--columns id=NAME) or numbers (--read rows=numbered)"
            )
            raise ParameterError(msg)
        matched = link_rows(original.values, released.values, rng)
    mine, theirs = matched
    knowledge = Knowledge.draw(
        released.values,
        theirs,
        original.values[mine],
        undone_by=undone_by,
        parameters=parameters,
        same_columns=same_columns,
        linked=linked,
        known=known,
        rng=rng,
    )
    knowledge = replace(knowledge, declared=_declared_bounds(original))
    outcomes = attack_arrays(knowledge, rng)
    scores = [score for name, outcome in outcomes.items() for score in _scores(name, outcome)]
    scores += _score_averages(knowledge, rng)
    if original.labels is not None:
        scores += _score_labels(original.labels[mine], theirs, knowledge, rng)
    count = float(sum(outcome.fails for outcome in outcomes.values()))
    name = f"{ATTACK}all: attacks that err at most half as much as a guess and as the release"
    return [exact_score(name, count, {"attacks": float(len(outcomes))}, better="lower"), *scores]


def _declared_bounds(original: Matrix) -> Bounds | None:
    """Return the bounds of the columns, if their domain declares them: then they are public."""
    axes = [axis for _, axis in original.domain.axes if isinstance(axis, NumberAxis)]
    if not all(axis.bounded for axis in axes):
        return None
    return Bounds(np.array([float(axis.low or 0) for axis in axes]), np.array([float(axis.high or 0) for axis in axes]))


def attack_arrays(knowledge: Knowledge, rng: np.random.Generator) -> dict[str, Outcome]:
    """Run all attacks that apply, and judge them on the rows that are not known."""
    control = knowledge.shuffled(rng)
    guesses, by_chance = (
        {name: _align(knowledge, guess[knowledge.unknown_at], rng) for name, guess in reconstruct_all(each).items()}
        for each in (knowledge, control)
    )
    # an attack that finds nothing in rows of others leaves them as they are
    nothing = _align(knowledge, control.released[knowledge.unknown_at], rng) if knowledge.same_columns else None
    outcomes = {
        name: _compare(knowledge, knowledge.unknown, guess, by_chance.get(name, nothing))
        for name, guess in guesses.items()
    }
    return outcomes | _attack_angles(knowledge, control) | _attack_by_sample(knowledge, rng)


def _align(knowledge: Knowledge, guess: Floats, rng: np.random.Generator) -> Floats:
    """Put guesses of rows without names into the order of the rows that they are most like."""
    if not knowledge.linked:
        return guess
    truth = knowledge.truth[knowledge.unknown]
    mine, theirs = link_rows(truth, guess, rng)
    aligned = guess.copy()
    aligned[mine] = guess[theirs]
    return aligned


def _compare(knowledge: Knowledge, rows: Integers, guess: Floats, chance: Floats | None) -> Outcome:
    """Compare a guess of some rows, by their positions among the matched ones, with the truth and the baselines."""
    made = ~np.isnan(guess).any(1)  # of a large release, some attacks guess a sample of rows
    if not made.all():
        rows, guess, chance = rows[made], guess[made], None if chance is None else chance[made]
    truth = knowledge.truth[rows]
    deviations = knowledge.truth.std(0, ddof=1)
    baselines = {_GUESS: judge(np.broadcast_to(knowledge.originals.mean(0), truth.shape), truth, deviations)}
    if knowledge.same_columns:
        baselines[_READ] = judge(knowledge.released[knowledge.positions[rows]], truth, deviations)
    if chance is not None:
        baselines[_SHUFFLED] = judge(chance, truth, deviations)
    return Outcome(judge(guess, truth, deviations), baselines)


def _attack_angles(knowledge: Knowledge, control: Knowledge) -> dict[str, Outcome]:
    """Guess the neighbours of single known rows, and take all of these guesses together."""
    guesses: list[Floats] = []
    rows: list[Integers] = []
    chances: list[Floats] = []
    place = np.full(len(knowledge.released), -1, np.int64)
    place[knowledge.positions] = np.arange(len(knowledge.positions))
    for number in knowledge.known[:_STARTS].tolist():
        at, row = int(knowledge.positions[number]), knowledge.truth[number]
        near = guess_neighbours(knowledge.scores, at, row, nearest=_NEAREST)
        matched = place[near.rows] >= 0
        rows.append(place[near.rows[matched]])
        guesses.append(near.guesses[matched])
        sizes = np.linalg.norm(control.scores, axis=1)
        factors = sizes[near.rows[matched]] / max(float(sizes[at]), np.finfo(float).tiny)
        chances.append(factors[:, None] * row)
    if not sum(map(len, rows)):
        return {}
    judged = np.concatenate(rows)
    return {"angle neighbour": _compare(knowledge, judged, np.concatenate(guesses), np.concatenate(chances))}


def _attack_by_sample(knowledge: Knowledge, rng: np.random.Generator) -> dict[str, Outcome]:
    """Turn rotated rows back by a sample of other people; the means that are guessed are those of the sample."""
    known = split_people(knowledge, rng)
    if known is None:
        return {}
    truth, deviations = knowledge.truth[known.rows], knowledge.truth.std(0, ddof=1)
    means = judge(np.broadcast_to(known.sample.mean(0), truth.shape), truth, deviations)
    others = rng.permutation(len(truth))
    return {
        # these attacks see a cloud of rows, so that rows of others are the same rows in another order
        name: Outcome(
            judge(guess, truth, deviations), {_GUESS: means, _SHUFFLED: judge(guess[others], truth, deviations)}
        )
        for name, guess in reconstruct_by_sample(known).items()
    }


def _scores(name: str, outcome: Outcome) -> list[Score]:
    """Make the scores of an attack: shares of cells, and the error of a row."""
    measures: dict[str, tuple[Callable[[Success], float], Better, str]] = {
        "cells within 1 %": (lambda success: success.within_1, "lower", RECOVERED_1),
        "cells within 5 %": (lambda success: success.within_5, "lower", RECOVERED_5),
        "cells within a tenth of a standard deviation": (lambda success: success.within_tolerance, "lower", ERRORS),
        "median relative error of a row": (lambda success: success.median_error, "higher", ERRORS),
    }
    scores: list[Score] = []
    for measure, (value_of, better, chart) in measures.items():
        others = {control: value_of(success) for control, success in outcome.baselines.items()}
        title = f"{ATTACK}{name}: {measure}"
        scores.append(exact_score(title, value_of(outcome.attack), others, better=better, chart=chart, at=name))
    return scores


def _score_averages(knowledge: Knowledge, rng: np.random.Generator) -> list[Score]:
    """Count the averages over blocks that a Haar release has as they are."""
    order = open_order(knowledge)
    level = int(knowledge.parameters.get("level", 0) or np.ceil(np.log2(max(2, min(knowledge.released.shape)))))
    if order is None or not knowledge.complete or "," in str(knowledge.parameters.get("wavelet", "")):
        return []
    truth = np.empty_like(knowledge.released)
    truth[knowledge.positions] = knowledge.truth
    exact, published = (block_means(values[order], level) for values in (truth, knowledge.released))
    if not exact.size:
        return []
    shuffled = block_means(knowledge.released[rng.permutation(len(order))], level)
    unit = _EXACT * float(np.abs(exact).max())
    shares = [float((np.abs(means - exact) <= unit).mean()) for means in (published, shuffled)]
    name = f"{ATTACK}wavelet averages: blocks of {2**level} rows and columns whose mean is published exactly"
    return [exact_score(name, shares[0], {_SHUFFLED: shares[1]}, better="lower")]


def _score_labels(
    labels: NDArray[Any], positions: Integers, knowledge: Knowledge, rng: np.random.Generator
) -> list[Score]:
    """Guess labels by the order of rows, and by their numbers, from one in ten labels."""
    order = np.argsort(positions, kind="stable")
    labels, positions = labels[order], positions[order]
    known = np.sort(rng.permutation(len(labels))[: max(2, len(labels) // _KNOWN_LABELS)])
    if len(labels) <= len(known):
        return []
    commonest = guess_commonest(labels, known)
    mixed = guess_by_position(labels[rng.permutation(len(labels))], known)
    place = guess_by_position(labels, known)
    first = exact_score(
        f"{ATTACK}labels by the order of rows: labels guessed",
        place,
        {"commonest label": commonest, "shuffled rows (control)": mixed},
        better="lower",
    )
    numbers = guess_by_numbers(knowledge.released[positions], labels, known)
    original = guess_by_numbers(knowledge.truth[order], labels, known)
    second = exact_score(
        f"{ATTACK}labels by released numbers: labels guessed",
        numbers,
        {"commonest label": commonest, "by original numbers": original},
        better="lower",
    )
    return [first, second]


# How much of the original a reconstruction has, and how much of it can be had without the attack.

#: a cell of 0 has no relative error: it is recovered within p % if it is off by p % of the deviation of its column
_ONE, _FIVE = 0.01, 0.05
#: the absolute tolerance, in standard deviations of the column
_TOLERANCE = 0.1
#: a release fails if an attack errs at most this much of what a guess or the release itself does
FAILS_AT = 0.5


class Success(NamedTuple):
    """The share of cells that are recovered within 1 %, 5 % and a tenth of a standard deviation; errors of rows.

    The error of a row is the length of its difference relative to its own length: the median, and the 5 % and 95 %
    quantiles of rows that are not zero.
    """

    within_1: float
    within_5: float
    within_tolerance: float
    median_error: float
    low_error: float
    high_error: float


def judge(guess: Floats, truth: Floats, deviations: Floats) -> Success:
    """Compare a reconstruction with the truth, for rows that the attacker did not know.

    Parameters
    ----------
    deviations
        The standard deviation of each column of the original.

    Examples
    --------
    >>> truth = np.array([[100.0, 10.0], [200.0, 0.0]])
    >>> judge(np.array([[100.5, 10.4], [220.0, 0.0]]), truth, truth.std(0))[:3]
    (0.5, 0.75, 0.75)
    """
    error = np.abs(guess - truth)
    scale = np.where(truth == 0, deviations, np.abs(truth))
    # rounding must not decide whether an exact number is recovered
    slack = 1e-12 * np.abs(truth)
    sizes = np.linalg.norm(truth, axis=1)
    rows = np.linalg.norm(error, axis=1)[sizes > 0] / sizes[sizes > 0]
    median, low, high = (float(np.quantile(rows, level)) if len(rows) else np.nan for level in (0.5, 0.05, 0.95))
    return Success(
        within_1=float((error <= _ONE * scale + slack).mean()),
        within_5=float((error <= _FIVE * scale + slack).mean()),
        within_tolerance=float((error <= _TOLERANCE * deviations + slack).mean()),
        median_error=median,
        low_error=low,
        high_error=high,
    )


def fails(attack: Success, *baselines: Success) -> bool:
    """Whether an attack has at most half the error of what can be had without it.

    Examples
    --------
    >>> fails(Success(0, 0, 0, 0.1, 0, 1), Success(0, 0, 0, 0.3, 0, 1), Success(0, 0, 0, 0.2, 0, 1))
    True
    """
    return attack.median_error <= FAILS_AT * min(each.median_error for each in baselines)
