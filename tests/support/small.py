"""Registered methods as the checks for all methods run them: with small trees where the default takes long."""

from __future__ import annotations

from typing import Any

from hedgerow import find_method
from hedgerow.publisher import Publisher

__all__ = ["small"]

#: of the default, most of the time goes to writing. Records of more than four items are cut and continued, which the
#: default of twelve items would do to few of the test data, and shorter ones are written whole
_SETTINGS: dict[str, dict[str, Any]] = {
    "continued-prefix-tree": {"height": 4},
    "private-wavelet": {"bins": 2},  # eight columns have 256 cells
    "pairwise-marginals": {"steps": 20},  # more rounds repeat the same steps
    "kcl-generalisation": {"one_place": True},  # the edge cases have one place at each time
}


def small(name: str) -> Publisher[Any]:
    """A registered method, with settings for which a check takes seconds."""
    return find_method(name)(**_SETTINGS.get(name, {}))
