"""Planted bugs of kcl: the checker, which shares no code with the method, refuses what they publish."""

from __future__ import annotations

import pytest

from hedgerow.errors import NotSatisfied
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.generated_walks import Walks, walks
from hedgerow.kinds.trajectories.methods import kcl
from hedgerow.kinds.trajectories.methods.kcl import LocalSuppression, SuppressionState
from hedgerow.testing import changed

PROMISE = KCL(k=5, c="30%", l=3, sensitive=["diagnosis=HIV"])


@pytest.fixture(scope="module")
def data():
    return walks(Walks(250, 4, 6))


@pytest.mark.parametrize(
    ("owner", "name", "old", "new"),
    [
        (SuppressionState, "_keeps_promise", "return left >= self.k and", "return left > 0 and"),
        (SuppressionState, "_is_clean", "if mark >= 0", "if mark < -1"),
        (kcl, "mine_violations", "promise.c, promise.l)", "promise.c, 1)"),
    ],
    ids=["too few records pass for enough", "sensitive values are not looked at", "only single visits are mined"],
)
def test_a_planted_bug_of_local_suppression_is_caught(data, owner, name, old, new):
    LocalSuppression().publish(data, PROMISE)
    with changed(owner, name, old, new):
        with pytest.raises(NotSatisfied, match="nothing was released"):
            LocalSuppression().publish(data, PROMISE)


def test_a_planted_bug_of_global_suppression_is_caught(data):
    """It stops when half of the violating sequences are gone."""
    LocalSuppression(mode="global").publish(data, PROMISE)
    with changed(kcl, "suppress_globally", "while left:", "while left > total // 2:"):
        with pytest.raises(NotSatisfied, match="nothing was released"):
            LocalSuppression(mode="global").publish(data, PROMISE)
