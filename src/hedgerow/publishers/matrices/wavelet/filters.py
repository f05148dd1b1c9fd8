"""The filters of orthogonal wavelets, by name."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

from hedgerow.errors import MissingExtra, ParameterError

__all__ = ["Filters", "find_filters"]

_HALF = math.sqrt(0.5)
_THREE = math.sqrt(3)
#: the bases of the thesis need no library: Haar, and the Daubechies filter of four taps
_OWN = {
    "haar": (_HALF, _HALF),
    "db2": tuple(tap / (4 * math.sqrt(2)) for tap in (1 - _THREE, 3 - _THREE, 3 + _THREE, 1 + _THREE)),
}
_ALIASES = {"db1": "haar"}


class Filters(NamedTuple):
    """The taps of the low-pass filter of an orthogonal wavelet, for decomposition; the others follow from it."""

    name: str
    low: tuple[float, ...]

    @property
    def high(self) -> tuple[float, ...]:
        """The high-pass filter for decomposition."""
        return tuple(-tap if at % 2 == 0 else tap for at, tap in enumerate(reversed(self.low)))

    @property
    def is_haar(self) -> bool:
        """Whether sums and differences of pairs suffice."""
        return self.name == "haar"


def find_filters(name: str) -> Filters:
    """Return the filters of a wavelet by its name in PyWavelets, such as `haar`, `db2`, `sym4` or `coif1`.

    Examples
    --------
    >>> [round(tap, 4) for tap in find_filters("db2").low]
    [-0.1294, 0.2241, 0.8365, 0.483]
    """
    name = _ALIASES.get(name, name)
    if name in _OWN:
        return Filters(name, _OWN[name])
    try:
        import pywt  # noqa: PLC0415 - an extra
    except ImportError:
        msg = f"wavelet {name[:40]!r} needs the extra 'matrix': pip install 'hedgerow[matrix]'; haar and db2 do not"
        raise MissingExtra(msg) from None
    library = cast("Any", pywt)
    if name not in library.wavelist(kind="discrete") or not library.Wavelet(name).orthogonal:
        msg = f"there is no orthogonal wavelet {name[:40]!r}; choose haar, db2, or another one of PyWavelets"
        raise ParameterError(msg)
    return Filters(name, tuple(library.Wavelet(name).dec_lo))
