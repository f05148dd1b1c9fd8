"""What generalisation and suppression take from nested records: labels, vertices, sensitive values.

Published records need not be matched with those of the original: a label that is published has the loss of its place in
the hierarchy, and every label that is missing is lost as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.equivalence_classes import bucket_numbers
from hedgerow.measures.scoring import compared_score
from hedgerow.numerics.arrays import Integers
from hedgerow.score import Score

Releases: TypeAlias = Mapping[str, Records]
LOSS = "loss of labels (LM)"
#: charts that the report of records draws in its own way, and one of the usual form
LOSS_PARTS = "loss of labels by generalisation and by suppression"
LOSS_BY_TYPE, LOSS_BY_ATTRIBUTE = f"{LOSS} by type", f"{LOSS} by attribute"
GENERALISATION, SUPPRESSION = "generalisation", "suppression"


class LabelLoss(NamedTuple):
    r"""The labels of the original, and how many of them are lost: by generalisation, as a sum of $LM'$, and entirely.

    Examples
    --------
    >>> LabelLoss(labels=10, generalised=1.5, suppressed=2).total
    0.35
    """

    labels: int
    generalised: float
    suppressed: int

    @property
    def total(self) -> float:
        """The share of labels that is lost: LM."""
        return self.part("")

    def part(self, name: str) -> float:
        """Return the share of labels that is lost by generalisation, or by suppression, or else in total; 0 if none."""
        lost = {GENERALISATION: self.generalised, SUPPRESSION: float(self.suppressed)}
        return lost.get(name, self.generalised + self.suppressed) / max(1, self.labels)


def find_label_losses(original: Records, released: Records) -> dict[str, LabelLoss]:
    r"""Return the loss of each quasi-identifier, by the name of its axis.

    Together they are the loss metric LM of Iyengar, extended to trees: $\sum LM'(q^*)$ over the published labels, plus
    the number of suppressed labels, per label of the original (see `Hierarchy.loss`).

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("person", None, ("town",)),))
    >>> domain = Domain.declare(**{"person.town": ["Bonn", "Rome", "Riga"]})
    >>> before, after = (
    ...     Records.from_trees([("person", [town], None, []) for town in towns], schema, domain)
    ...     for towns in (["Bonn", "Rome", "Riga"], ["Bonn", "*"])
    ... )
    >>> find_label_losses(before, after)
    {'person.town': LabelLoss(labels=3, generalised=1.0, suppressed=1)}
    """
    losses: dict[str, LabelLoss] = {}
    for number, kind in enumerate(original.schema.types):
        labels = released.tables[number].labels
        whole = len(original.tables[number])
        for column, (axis, tree) in enumerate(zip(kind.quasi_axes, original.hierarchies(number), strict=True)):
            generalised = float(tree.loss[labels[:, column]].sum())
            losses[axis] = LabelLoss(whole, generalised, whole - len(labels))
    return losses


def add_losses(losses: Iterable[LabelLoss]) -> LabelLoss:
    """Return the loss of several attributes together: each label counts once."""
    listed = list(losses)
    return LabelLoss(
        sum(loss.labels for loss in listed),
        sum(loss.generalised for loss in listed),
        sum(loss.suppressed for loss in listed),
    )


def measure_losses(original: Records, releases: Releases) -> list[Score]:
    """Measure LM in total, by part, by type and by attribute; the release has the empty name."""
    losses = {name: find_label_losses(original, data) for name, data in releases.items()}
    whole = {name: add_losses(each.values()) for name, each in losses.items()}
    scores = [_score(LOSS, whole), *(_score(f"{LOSS}: {part}", whole, part) for part in (GENERALISATION, SUPPRESSION))]
    for kind in original.schema.types:
        if kind.quasi:
            own = {name: add_losses(each[axis] for axis in kind.quasi_axes) for name, each in losses.items()}
            scores.append(_score(f"{LOSS} of type {kind.name}", own, chart=LOSS_BY_TYPE, at=kind.name))
    for axis in losses[""]:
        own = {name: each[axis] for name, each in losses.items()}
        scores.append(_score(f"{LOSS} of {axis}", own, chart=LOSS_BY_ATTRIBUTE, at=axis))
        scores += [
            _score(f"{LOSS} of {axis}: {part}", own, part, chart=LOSS_PARTS, at=axis)
            for part in (GENERALISATION, SUPPRESSION)
        ]
    return scores


def _score(name: str, losses: Mapping[str, LabelLoss], part: str = "", *, chart: str = "", at: str = "") -> Score:
    """Score a loss, or a part of it; the parts of an attribute only make up a chart."""
    values = {control: loss.part(part) for control, loss in losses.items()}
    if part and chart:
        return compared_score(name, values, chart=chart, at=at, across=part)
    return compared_score(name, values, better="lower", chart=chart, at=at)


def measure_suppressed(original: Records, releases: Releases) -> list[Score]:
    """Measure the share of records, and of vertices of each type, that are not published.

    Raises
    ------
    ParameterError
        If the release has more of them than the original: then it was not made from it.
    """
    scores: list[Score] = []
    for number, kind in enumerate(original.schema.types):
        whole = len(original.tables[number])
        lost = {name: 1 - len(data.tables[number]) / max(1, whole) for name, data in releases.items()}
        if len(releases[""].tables[number]) > whole:
            msg = (
                f"the release has more vertices of type {kind.name!r} than the original; "
                "compare it with the data that it was made from"
            )
            raise ParameterError(msg)
        name, chart = f"share of vertices suppressed, type {kind.name}", "share of vertices suppressed, by type"
        if number == 0:
            scores.append(compared_score("share of records suppressed", lost, better="lower"))
        if whole:
            scores.append(compared_score(name, lost, better="lower", chart=chart, at=kind.name))
    return scores


def measure_divergence(original: Records, releases: Releases) -> list[Score]:
    """Measure how far the distribution of each sensitive attribute is from the original; buckets count as values.

    Sensitive values are published as they are, so that the divergence is due to suppression alone. It is not defined
    where nothing is published.
    """
    divergences: list[dict[str, float]] = []
    scores: list[Score] = []
    for number, kind in enumerate(original.schema.types):
        if kind.sensitive_axis is None:
            continue
        bucket = bucket_numbers(original.domain.axis(kind.sensitive_axis))
        before = _count_buckets(original, number, bucket)
        counts = {name: _count_buckets(data, number, bucket) for name, data in releases.items()}
        own = {name: kullback_leibler(after, before) for name, after in counts.items() if after.any()}
        if "" in own:
            divergences.append(own)
            name = f"Kullback-Leibler divergence of {kind.sensitive_axis}"
            scores.append(compared_score(name, own, better="lower"))
    if len(divergences) > 1:
        shared = [name for name in divergences[0] if all(name in each for each in divergences)]
        mean = {name: float(np.mean([each[name] for each in divergences])) for name in shared}
        scores.insert(
            0, compared_score("mean Kullback-Leibler divergence of sensitive attributes", mean, better="lower")
        )
    return scores


def kullback_leibler(counts: Integers, reference: Integers) -> float:
    r"""Return $\sum P \ln (P / Q)$ of the distribution $P$ of some counts and $Q$ of a reference, in nats.

    Raises
    ------
    ParameterError
        If a value is counted that the reference does not have.

    Examples
    --------
    >>> round(kullback_leibler(np.array([25, 15, 60]), np.array([20, 25, 55])), 6)
    0.031369
    """
    occurs = counts > 0
    if np.any(reference[occurs] == 0):
        msg = "the release has sensitive values that are not in the original; compare it with the data it was made from"
        raise ParameterError(msg)
    own, other = counts[occurs] / counts.sum(), reference[occurs] / reference.sum()
    return max(0.0, float((own * np.log(own / other)).sum()))


def _count_buckets(data: Records, number: int, bucket: NDArray[np.int64]) -> NDArray[np.int64]:
    codes = data.tables[number].sensitive
    return np.bincount(bucket[codes[codes >= 0]], minlength=int(bucket.max()) + 1)
