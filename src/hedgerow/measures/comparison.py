"""What measures compare: an original with a release, and both with trivial releases, the controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from hedgerow.data import Dataset
from hedgerow.privacy import Guarantee

__all__ = ["Comparison", "Control"]

#: no number of items or records of a workload is larger: a recipe may come from a stranger
_LARGEST = 10**12


class Control(NamedTuple):
    """A release to stand beside that a method makes: named here, and run by `evaluate`.

    It publishes the original, and promises what the release promises, unless others are given.
    """

    method: str
    parameters: Mapping[str, int | float | str | bool] = MappingProxyType({})
    data: Dataset | None = None
    guarantee: Guarantee | None = None


@dataclass(frozen=True)
class Comparison:
    """An original and what was released of it, under which promise, and how its method uses records."""

    original: Any
    released: Any
    guarantee: Guarantee
    workload: Mapping[str, int]

    def number(self, name: str, default: int) -> int:
        """What the method says of its workload, or the default where it says nothing."""
        said = self.workload.get(name, 0)
        return said if 0 < said <= _LARGEST else default
