"""Conformance: one check of what every publisher must do, on all edge cases."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.audit.replay import check_replay, epsilon_of, release_bytes
from hedgerow.data import Dataset, Source
from hedgerow.errors import NotSatisfied, PromiseBroken, UndeclaredDomain, UnsupportedGuarantee
from hedgerow.kind_registry import find_kind
from hedgerow.privacy import Criterion, Guarantee
from hedgerow.privacy.guarantee import Plain
from hedgerow.privacy.parsing import from_plain
from hedgerow.publisher import Publisher
from hedgerow.testing.edge_cases import build_edge_cases

_EITHER_END = 8
_LEAST_RELEASES = 2
_SEED = 20_260
#: of so many digits that they are in no release by chance
_LONG_SEED = 20_260_000_713_905_281


@dataclass(frozen=True)
class Conformance:
    """The number of replays, and of those in which an exact answer moved."""

    replays: int
    moved: int


def check_publisher(method: Publisher[Any], guarantee: Guarantee, *, repeats: int = 3) -> Conformance:
    """Check everything that all methods must satisfy.

    Parameters
    ----------
    method
        A publisher with the parameters to check.
    guarantee
        A promise it keeps.
    repeats
        How often neighbours of equal content are replayed, with other noise each time.

    Raises
    ------
    PromiseBroken
        Or another `GuaranteeError`, with the reason.
    """
    _check_description(type(method))
    replays = moved = released = 0
    for kind in method.kinds:
        if not set(guarantee.units) <= set(find_kind(kind).type.units):
            continue  # this kind does not have the units of the promise
        for name, data in build_edge_cases(kind, method.needs).items():
            try:
                results = _check_data(method, data, guarantee, repeats)
            except Exception as error:  # an error that depends on the data also discloses something
                msg = f"{method.name} on {name!r}: {error}"
                raise PromiseBroken(msg) from error
            if results is None:
                continue
            released += 1
            replays, moved = replays + len(results), moved + sum(results)
    if released < _LEAST_RELEASES:
        msg = f"{method.name} released {released} of the edge cases: nothing was checked"
        raise PromiseBroken(msg)
    if 2 * moved < replays:
        msg = f"only {moved} of {replays} replays moved an exact answer: nothing was checked"
        raise PromiseBroken(msg)
    return Conformance(replays, moved)


def _check_data(method: Publisher[Any], data: Dataset, guarantee: Guarantee, repeats: int) -> list[bool] | None:
    """Check one data set; None if a criterion refused it, else whether each replay moved an answer."""
    private = guarantee.budget is not None
    _check_refusals(method, data, guarantee)
    try:
        _check_release(method, data, guarantee)
    except NotSatisfied:
        if private:
            raise
        return None  # a method may refuse what it cannot make safe: nothing was released
    if not private:
        _check_order_blind(method, data, guarantee)
        return []
    # the same data in another order must give a loss of 0
    shuffle = np.random.default_rng(_SEED)
    for unit in guarantee.units:
        bounded = data.bounded(unit)
        nothing = epsilon_of(guarantee) * 0
        check_replay(method, bounded, bounded.shuffled(shuffle), guarantee, _SEED, within=nothing)
    unit = guarantee.units[0]
    return [
        check_replay(method, data, neighbour, guarantee, _SEED + index).moved
        for index, neighbour in _some_neighbours(data, unit, repeats)
    ]


def _some_neighbours(data: Dataset, unit: str, repeats: int) -> Iterator[tuple[int, Dataset]]:
    """Choose some from either end and some between, since rare records are often last."""
    neighbours = data.count_neighbours(unit)
    between = np.random.default_rng(_SEED).integers(0, max(1, neighbours), _EITHER_END).tolist()
    ends = [*range(_EITHER_END), *range(neighbours - _EITHER_END, neighbours), *between]
    seen: Counter[bytes] = Counter()
    for index in sorted({index for index in ends if 0 <= index < neighbours}):
        neighbour = data.neighbour(index, unit=unit)
        content = neighbour.bounded(unit).canonical().to_bytes()
        seen[content] += 1
        if seen[content] <= repeats:
            yield index, neighbour


def _check_release(method: Publisher[Any], data: Dataset, guarantee: Guarantee) -> None:
    release = method.publish(data, guarantee, seed=_LONG_SEED)
    _require("Not for publication" in release.statement(), "a seeded run must say so")
    _require(str(_LONG_SEED).encode() not in release_bytes(release), "the seed is in the release")
    fresh = method.publish(data, guarantee)
    _require("Not for publication" not in fresh.statement(), "a run from OS entropy is publishable")
    for output in fresh.outputs.values():
        _require(output.to_bytes() == output.canonical().to_bytes(), "the output is not canonical")
    if guarantee.budget is not None:
        _require(fresh.evidence.total() <= guarantee.budget, "the evidence exceeds the promise")


def _check_order_blind(method: Publisher[Any], data: Dataset, guarantee: Guarantee) -> None:
    """Check that a syntactic method does not depend on the order and the numbers of its input."""
    other = data.shuffled(np.random.default_rng(_SEED))
    first = method.publish(data, guarantee, seed=_SEED)
    second = method.publish(other, guarantee, seed=_SEED)
    same = release_bytes(first) == release_bytes(second)
    _require(same, "the output depends on the order or the numbers of the input")


def _check_refusals(method: Publisher[Any], data: Dataset, guarantee: Guarantee) -> None:
    inferred = dataclasses.replace(data, domain=dataclasses.replace(data.domain, source=Source.INFERRED))
    if guarantee.needs_public_domain:
        _require_refusal(method, inferred, guarantee, UndeclaredDomain)
    _require_refusal(method, data, _UnknownPromise(), UnsupportedGuarantee)
    for part in guarantee.parts():
        for unit in set(data.units) - set(method.units) if "unit" in part.fields() else ():
            other = from_plain({**part.to_plain(), "unit": unit})
            _require_refusal(method, data, other, UnsupportedGuarantee)


def _require_refusal(method: Publisher[Any], data: Dataset, guarantee: Guarantee, error: type[Exception]) -> None:
    try:
        method.publish(data, guarantee)
    except error:
        return
    msg = f"{method.name} must refuse this with {error.__name__}"
    raise PromiseBroken(msg)


def _check_description(method: type[Publisher[Any]]) -> None:
    _require(re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", method.name) is not None, "the name is not a valid id")
    _require(bool(method.kinds) and bool(method.keeps), "kinds and keeps must be stated")
    text = method.__doc__ or ""
    for section in ("Privacy", "Examples", "References"):
        _require(f"    {section}\n    ---" in text, f"the docstring needs a section {section}")


def _require(condition: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not condition:
        raise PromiseBroken(what)


class _UnknownPromise(Criterion):
    """A promise that no method supports."""

    name = "UnknownPromise"

    def violations(self, outputs: Any) -> dict[str, int]:
        del outputs
        return {}

    def sentence(self) -> str:
        return "An unknown promise."

    def fields(self) -> dict[str, Plain]:
        return {}
