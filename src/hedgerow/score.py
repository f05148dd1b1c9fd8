"""A measured number with its interval, which direction is better, and who may see it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hedgerow.errors import ParameterError

Better: TypeAlias = Literal["higher", "lower", "neither"]
#: the names of scores of attacks begin so
ATTACK = "attack, "
#: whole numbers below this are written in full
_COUNTS = 10**15


@dataclass(frozen=True, kw_only=True)
class Score:
    """A number with an interval, a direction and a scope.

    Parameters
    ----------
    name
        What was measured.
    value, low, high
        The estimate and the ends of its interval.
    better
        Which direction is better; `neither` for a plain fact.
    scope
        `owner`: the number compares with the original, so no guarantee covers it and it must not be
        published. `public`: it was computed from the release alone.
    controls
        The same measure of trivial releases, for comparison.
    chart, at, across
        The chart that shows the number, if any, and its position there; with `across`, a position in two directions.

    Examples
    --------
    >>> print(Score(name="error", value=0.1, low=0.08, high=0.12, better="lower", scope="owner"))
    error 0.1 [0.08, 0.12], lower is better, for the owner only
    """

    name: str
    value: float
    low: float
    high: float
    better: Better
    scope: Literal["owner", "public"]
    controls: tuple[tuple[str, float], ...] = ()
    chart: str = ""
    at: str = ""
    across: str = ""

    def __post_init__(self) -> None:
        if not (math.isnan(self.value) or self.low <= self.value <= self.high):
            msg = f"{self.name}: {self.value} is not within [{self.low}, {self.high}]"
            raise ParameterError(msg)

    def __str__(self) -> str:
        direction = "" if self.better == "neither" else f", {self.better} is better"
        controls = "".join(f"; {name}: {_short(value)}" for name, value in self.controls)
        scope = ", for the owner only" if self.scope == "owner" else ""
        interval = "" if self.low == self.high else f" [{_short(self.low)}, {_short(self.high)}]"
        return f"{self.name} {_short(self.value)}{interval}{direction}{controls}{scope}"


@dataclass(frozen=True, kw_only=True)
class CountEstimate:
    """The answer to a count query: an estimate, how far it may be off, and in what sense.

    Parameters
    ----------
    counted
        What was counted: `record`, or the name of a type of vertex.
    estimate, low, high
        The estimate, and the ends of its interval; equal if the count is certain.
    notes
        What the figures say and do not say, in sentences.

    Examples
    --------
    >>> print(CountEstimate(counted="record", estimate=2.5, low=1, high=4))
    record: 2.5 [1, 4]
    """

    counted: str
    estimate: float
    low: float
    high: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        interval = "" if self.low == self.high else f" [{_short(self.low)}, {_short(self.high)}]"
        return f"{self.counted}: {_short(self.estimate)}{interval}"


def exact_score(
    name: str,
    value: float,
    controls: Mapping[str, float],
    *,
    better: Better = "neither",
    chart: str = "",
    at: str = "",
    across: str = "",
) -> Score:
    """A score that is an exact number, without sampling error."""
    return Score(
        name=name,
        value=value,
        low=value,
        high=value,
        better=better,
        scope="owner",
        controls=tuple(controls.items()),
        chart=chart,
        at=at,
        across=across,
    )


def _short(value: float) -> str:
    """A count in full, anything else to four digits."""
    whole = math.isfinite(value) and value == int(value) and abs(value) < _COUNTS
    return f"{int(value):,}" if whole else f"{value:.4g}"
