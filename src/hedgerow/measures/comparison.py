"""What measures compare: an original with its release, and both with trivial releases (controls)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from hedgerow.data import Dataset
from hedgerow.privacy import Guarantee
from hedgerow.release import Recipe

#: upper bound on the numbers in a workload, since a recipe may come from an untrusted source
_LARGEST = 10**12


class Control(NamedTuple):
    """A trivial release for comparison, given by the id and parameters of its method; `evaluate` runs it.

    It publishes the original under the guarantee of the release, unless `data` or `guarantee` is given. If it publishes
    it `again`, coins differ from those of the release, whatever the seed is.
    """

    method: str
    parameters: Mapping[str, int | float | str | bool] = MappingProxyType({})
    data: Dataset | None = None
    guarantee: Guarantee | None = None
    again: bool = False


@dataclass(frozen=True)
class Comparison:
    """An original, its release, the guarantee, and the workload that the method declares.

    The recipe is None if the method or its parameters are not known; `notes` are those of the evidence. What is
    released is one data set, or several by their names if the kind measures these together (`PARTS` of its measures).
    """

    original: Any
    released: Any
    guarantee: Guarantee
    workload: Mapping[str, int]
    recipe: Recipe | None = None
    notes: Mapping[str, int] = field(default_factory=dict[str, int])

    def number(self, name: str, default: int) -> int:
        """A number of the declared workload, or the default if the method does not declare it."""
        declared = self.workload.get(name, 0)
        return declared if 0 < declared <= _LARGEST else default
