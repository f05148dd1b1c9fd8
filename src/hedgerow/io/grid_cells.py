"""Cells of a grid of degrees: their names, and the coordinates of their centres, which follow from the names."""

from __future__ import annotations

import re
from decimal import Decimal

import polars as pl

from hedgerow.data import Domain
from hedgerow.errors import ParameterError

__all__ = ["name_cells", "read_grid", "with_cell_centres"]

_NAME = re.compile(r"(-?[0-9]{1,3}(?:\.[0-9]{1,9})?),(-?[0-9]{1,3}(?:\.[0-9]{1,9})?)")
_MOST_LON, _MOST_LAT = Decimal(360), Decimal(90)


def read_grid(text: str) -> Decimal:
    """Read the size of a cell in degrees."""
    if not re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,9}", text) or Decimal(text) == 0:
        msg = f"grid must be a size in degrees, such as 0.01; got {text!r}"
        raise ParameterError(msg)
    return Decimal(text)


def name_cells(degrees: pl.Series, step: Decimal) -> pl.Series:
    """The lower bound of the cell of each number of degrees, as a text; null where there is none.

    Bounds are compared as decimal numbers, since 0.29 / 0.01 is less than 29 in floating point.

    Examples
    --------
    >>> name_cells(pl.Series([0.29, -1.2, None]), Decimal("0.01")).to_list()
    ['0.29', '-1.20', None]
    """
    nearest = (degrees / float(step)).round()
    numbers = nearest.unique().drop_nulls()
    bounds = pl.Series([float(int(number) * step) for number in numbers], dtype=pl.Float64)
    bound = nearest.replace_strict(numbers, bounds, return_dtype=pl.Float64)
    cell = pl.select(pl.when(degrees < bound).then(nearest - 1).otherwise(nearest)).to_series()
    digits = max(0, -int(step.as_tuple().exponent))
    names = {number: f"{int(number) * step:.{digits}f}" for number in cell.unique().drop_nulls()}
    return cell.replace_strict(names, return_dtype=pl.String) if names else cell.cast(pl.String)


def with_cell_centres(domain: Domain, grid: str) -> Domain:
    """The domain with the centre of each place, a grid cell; the same if places have coordinates, or are no cells.

    Examples
    --------
    >>> domain = Domain.declare(place=["48.8,2.3", "48.9,2.3"], time=range(24))
    >>> with_cell_centres(domain, "0.1").axis("place").coordinates
    ((2.35, 48.85), (2.35, 48.95))
    """
    axis = domain.axis("place")
    names = [_NAME.fullmatch(str(value)) for value in axis.values]
    if axis.coordinates or not all(names):
        return domain
    half = read_grid(grid) / 2
    lats, lons = ([Decimal(name.group(part)) + half for name in names if name] for part in (1, 2))
    # a cell at the pole, or one larger than the Earth, has its centre beyond
    centres = zip((_bound(lon, _MOST_LON) for lon in lons), (_bound(lat, _MOST_LAT) for lat in lats), strict=True)
    return domain.with_coordinates("place", centres)


def _bound(degrees: Decimal, most: Decimal) -> float:
    return float(max(-most, min(most, degrees)))
