"""How well a linear classifier learns labels from a release: cross-validated, on released and on original rows."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import MissingExtra

__all__ = ["Accuracies", "classify", "has_classifier"]

Floats: TypeAlias = NDArray[np.float64]

_FOLDS = 5


class Accuracies(NamedTuple):
    """The accuracy on released rows, and of what was learned from released rows on original ones."""

    released: float
    transferred: float


def has_classifier(labels: NDArray[Any] | None) -> bool:
    """Whether there are two labels at least, each on enough rows for cross-validation, and the extra is installed."""
    if labels is None:
        return False
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < _FOLDS:  # noqa: PLR2004 - two labels
        return False
    try:
        _import()
    except MissingExtra:
        return False
    return True


def classify(original: Floats, released: Floats, labels: NDArray[Any]) -> Accuracies:
    """Train a linear support vector machine on released rows, in five folds; rows are in the same order.

    C is 1 / mean squared length of a row, the default of SVM-light. Folds are drawn by a fixed seed, so figures of two
    releases are about the same folds. Needs the extra `learn`.

    Examples
    --------
    >>> rows = np.concatenate((np.linspace(1, 2, 20), np.linspace(4, 5, 20)))[:, None] * [1.0, 0.5]
    >>> classify(rows, rows, np.repeat(["well", "ill"], 20))
    Accuracies(released=1.0, transferred=1.0)
    """
    svm, selection = _import()
    weight = 1.0 / max(float(np.einsum("ij,ij->", released, released)) / len(released), np.finfo(float).tiny)
    folds = selection.StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    right = np.zeros(2)
    for train, test in folds.split(released, labels):
        fitted = svm.SVC(kernel="linear", C=weight).fit(released[train], labels[train])
        right += [np.sum(fitted.predict(values[test]) == labels[test]) for values in (released, original)]
    return Accuracies(*cast("list[float]", (right / len(labels)).tolist()))


def _import() -> tuple[Any, Any]:
    try:
        from sklearn import model_selection, svm  # noqa: PLC0415 - an extra
    except ImportError:
        msg = "classification needs the extra 'learn': pip install 'hedgerow[learn]'"
        raise MissingExtra(msg) from None
    return svm, model_selection
