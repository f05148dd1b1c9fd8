"""How attacks are judged: on rows that are not known, each beside its own original."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import SVD, Distortion, Matrix
from hedgerow.evaluate import attack
from hedgerow.kinds.matrices.attackers.knowledge import Knowledge
from hedgerow.kinds.matrices.attackers.linkage import link_rows
from hedgerow.kinds.matrices.attacks import Success, fails, judge

READ = "release as it is"


def erring(error):
    return Success(0, 0, 0, error, 0, 1)


@pytest.mark.parametrize(("error", "expected"), [(0.05, True), (0.11, False), (0.3, False)])
def test_a_release_fails_if_an_attack_errs_at_most_half_as_much(error, expected):
    assert fails(erring(error), erring(0.2), erring(0.7)) is expected


def test_known_rows_are_not_counted():
    rows = np.arange(40.0).reshape(20, 2)
    knowledge = Knowledge.draw(
        rows, np.arange(20), rows, undone_by=SVD.undone_by, parameters={}, rng=np.random.default_rng(1), known=5
    )
    assert len(knowledge.known) == 5
    assert not set(knowledge.known.tolist()) & set(knowledge.unknown.tolist())
    assert len(knowledge.unknown) == 15


def test_every_row_is_compared_with_its_own_original():
    """Rows are released in the order of their names, which is the reverse of the order of the data."""
    draw = np.random.default_rng(2)
    data = Matrix.from_rows(draw.integers(0, 50, (300, 5)), ids=[1000 - row for row in range(300)])
    release = SVD(rank=4).publish(data, Distortion(), seed=1)
    name = "attack, Procrustes, known rows: cells within 5 %"
    scores = {score.name: score for score in attack(release, data, seed=1)}
    released = release.data.values[::-1]
    own = judge(released, data.values, data.values.std(0, ddof=1)).within_5
    others = judge(released[::-1], data.values, data.values.std(0, ddof=1)).within_5
    assert own > 2 * others
    read = dict(scores[name].controls)[READ]
    assert abs(read - own) < abs(read - others) / 2


def test_rows_are_alike_in_units_of_their_columns():
    """A large column does not decide alone."""
    original, released = np.array([[1000.0, 0], [1010, 1]]), np.array([[1008.0, 0], [1002, 1]])
    mine, theirs = link_rows(original, released, np.random.default_rng(1))
    assert dict(zip(mine.tolist(), theirs.tolist(), strict=True)) == {0: 0, 1: 1}
