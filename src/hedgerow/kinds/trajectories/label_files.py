"""How trajectories at coarser places and times are written and read again: one label per line.

`time` and `time_to` are the bin of a label, `place_level` and `place` its region; `position` counts the labels of a
record. Levels are made of the public domain, as two reading options describe them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from hedgerow.data import Domain, Value
from hedgerow.errors import DomainError, ParameterError, ReadError
from hedgerow.formats.long_table import LongTable, OutputTable
from hedgerow.formats.record_checker import RecordChecker
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.numerics.arrays import Flags, Integers, number_within_groups

#: the columns of a file of labels beyond those of visits
COLUMNS = ("position", "place_level", "time_to")
OPTIONS = {
    "labels": "for published labels: what their regions are made of, as release.json says (paths, or a grid)",
    "bins": "for published labels: the widths of time bins, the finest first",
    "one_place": "for published labels: yes if they are few enough for those who know that nobody is at two places at "
    "one time",
    "label_order": "for labels of earlier versions: first visits, which tells more than the labels, or none",
}
_REQUIRED = {
    "labels": r"places|paths|grid [0-9]{0,3}\.?[0-9]{1,9} [0-9]{1,2}",
    "bins": r"[1-9][0-9]{0,17}(,[1-9][0-9]{0,17}){0,99}",
}
#: what these options may be
PATTERNS = {**_REQUIRED, "one_place": r"yes", "label_order": r"first visits|none"}
_BY_VISITS = "first visits"


def label_options(data: CoarseTrajectories) -> dict[str, str]:
    """The reading options of published labels."""
    options = {"labels": data.levels.regions_by, "bins": data.levels.bins}
    return {**options, "one_place": "yes"} if data.one_place else options


def label_remarks(options: Mapping[str, str]) -> tuple[str, ...]:
    """What a receiver must know about the columns of labels."""
    if "labels" not in options:
        return ()
    regions = {
        "paths": "0 is a place itself, 1 the last group of its path in `release.json`, 2 the group before it",
        "places": "0, a place itself",
    }
    size = options["labels"].split(" ")[1:2]
    cells = f"0 is a place itself, any other the size in degrees of a cell, named column:row from {''.join(size)} on"
    by_visits = "in the order of the first visits they stand for, which tells more than the labels: do not use it"
    canonical = "in the order of `time`, width of the bin, level and place, which says nothing"
    order = by_visits if options.get("label_order") == _BY_VISITS else canonical
    return (
        "`time` and `time_to` are a bin of time: from the one on, and before the other",
        f"`place_level` is the level of the place ({regions.get(options['labels'], cells)})",
        f"`position` counts the labels of a record, {order}",
        "each line is a label: it stands for one visit or more of the record, to a place in the region in that time",
    )


@dataclass(frozen=True, eq=False)
class LabelTable(OutputTable):
    """Published labels, to be written as a table."""

    data: CoarseTrajectories

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one label per row; a record without labels is a row with a unit and its attributes only."""
        starts, labels, traits = self.data.arrays()
        sizes = np.diff(starts)
        line = np.repeat(np.arange(len(sizes)), np.maximum(1, sizes))
        filled = np.flatnonzero(sizes[line] > 0)
        levels, times = self.data.levels, self.data.levels.times
        place_level, region, time_level, number = levels.split(labels)
        widths = np.array(times.widths, np.int64)[time_level]
        begin = times.origin + number * widths
        offsets = np.cumsum([0, *(len(level.regions) for level in levels.places)])
        regions = [name for level in levels.places for name in level.regions]
        cells: dict[str, Any] = {
            names["unit"]: line + 1,
            "position": _spread(len(line), filled, number_within_groups(line[filled]) + 1),
            "place_level": _named(len(line), filled, place_level, [level.name for level in levels.places]),
            names["place"]: _named(len(line), filled, offsets[place_level] + region, regions),
            names["time"]: _spread(len(line), filled, begin),
            "time_to": _spread(len(line), filled, begin + widths),
        }
        for name, codes in traits.items():
            values = self.data.domain.values(name)
            known = np.flatnonzero(codes[line] >= 0)
            cells[name] = _named(len(line), known, codes[line][known], values)
        return pl.DataFrame(cells)


def _spread(lines: int, filled: Integers, numbers: Integers) -> pl.Series:
    """Numbers on some lines, and nothing on the others."""
    at = np.full(lines, len(numbers))
    at[filled] = np.arange(len(numbers))
    return pl.concat([pl.Series(numbers.astype(np.int64)), pl.Series([None], dtype=pl.Int64)]).gather(at)


def _named(lines: int, filled: Integers, codes: Integers, names: Sequence[Value]) -> pl.Series:
    """Names on some lines, and nothing on the others."""
    at = np.full(lines, len(names))
    at[filled] = codes
    return pl.Series([*names, None]).gather(at)


def require_domain(table: LongTable, domain: Domain | None) -> Domain:
    """Refuse labels without the domain that they are labels of."""
    if domain is None:
        msg = f"{table.where} holds labels, which need the domain of their release; verify the release folder"
        raise ReadError(msg)
    return domain


def read_labels(
    checker: RecordChecker, domain: Domain, traits: Mapping[str, Integers], options: Mapping[str, str]
) -> CoarseTrajectories:
    """Read published labels; whatever was not written by us is refused."""
    table = checker.table
    given = {name: options[name] for name in PATTERNS if name in options}
    if not (_REQUIRED.keys() <= given.keys() and all(re.fullmatch(PATTERNS[name], given[name]) for name in given)):
        msg = f"{table.where} holds labels: {', '.join(PATTERNS)} must be as release.json says"
        raise ParameterError(msg)
    try:
        levels = PlaceTimeLevels.read(domain, options["labels"], options["bins"])
    except (ParameterError, DomainError) as error:
        msg = f"{table.where}: {error}"
        raise ReadError(msg) from None
    cells = _Cells.of(table)
    filled = cells.filled
    checker.refuse(~filled & ~cells.blank, "a label needs its position, level, place and both times; correct it")
    labels = cells.encode(levels)
    checker.refuse(filled & (labels < 0), "a label is not one of the declared levels; correct it")
    line = np.flatnonzero(filled)
    row = checker.row[line]
    order = np.argsort(row, kind="stable")
    line, row = line[order], row[order]
    misplaced = np.zeros(len(labels), np.bool_)
    misplaced[line] = cells.position[line] != number_within_groups(row) + 1
    checker.refuse(misplaced, "the positions of a record must be 1, 2, 3, ...; correct them")
    by_visits = given.get("label_order") == _BY_VISITS
    if not by_visits:
        what = (
            "the labels of a record must stand in the order of time, width, level and place: another order tells more"
        )
        checker.refuse(_out_of_order(levels, labels, line, row), f"{what}; publish them again")
    kept = checker.kept()
    line, row = line[kept[row]], (np.cumsum(kept) - 1)[row[kept[row]]]
    starts = np.searchsorted(row, np.arange(int(kept.sum()) + 1))
    known = {name: codes[kept] for name, codes in traits.items()}
    one_place = "one_place" in given
    return CoarseTrajectories(domain, levels, starts, labels[line], known, one_place=one_place, by_visits=by_visits)


def _out_of_order(levels: PlaceTimeLevels, labels: Integers, line: Integers, row: Integers) -> Flags:
    """Which lines hold a label that stands after one of its record that it should stand before."""
    result = np.zeros(len(labels), np.bool_)
    known = labels[line] >= 0
    line, row = line[known], row[known]
    order = np.lexsort((*levels.sort_key(labels[line]), row))
    result[line[order != np.arange(len(order))]] = True
    return result


@dataclass(frozen=True, eq=False)
class _Cells:
    """The columns of labels as they were read; a number that is missing is -1."""

    position: Integers
    place_level: pl.Series
    place: pl.Series
    begin: pl.Series
    end: pl.Series

    @classmethod
    def of(cls, table: LongTable) -> _Cells:
        for name in ("place", *COLUMNS):
            if name not in table.columns:
                msg = f"{table.where} has no column {name!r}; published labels have one"
                raise ReadError(msg)
        columns = table.columns
        position = columns["position"].cast(pl.Int64, strict=False).fill_null(-1).to_numpy()
        begin, end = (columns[name].cast(pl.Int64, strict=False) for name in ("time", "time_to"))
        level, place = (columns[name].cast(pl.String) for name in ("place_level", "place"))
        return cls(position, level, place, begin, end)

    @property
    def filled(self) -> Flags:
        """Lines that hold a whole label."""
        texts = [column.is_not_null().to_numpy() for column in (self.place_level, self.place, self.begin, self.end)]
        return np.logical_and.reduce([*texts, self.position >= 0])

    @property
    def blank(self) -> Flags:
        """Lines that hold no part of a label."""
        texts = [column.is_null().to_numpy() for column in (self.place_level, self.place, self.begin, self.end)]
        return np.logical_and.reduce([*texts, self.position < 0])

    def encode(self, levels: PlaceTimeLevels) -> Integers:
        """The number of each label; -1 if there is none."""
        codes = np.full(len(self.position), -1, np.int64)
        begin, end = (column.fill_null(0).to_numpy() for column in (self.begin, self.end))
        time_level = np.full(len(codes), -1, np.int64)
        for number, width in enumerate(levels.times.widths):
            time_level[end - begin == width] = number
        widths = np.array([*levels.times.widths, 1], np.int64)[time_level]
        bins, rest = np.divmod(begin - levels.times.origin, widths)
        known = self.filled & (time_level >= 0) & (rest == 0) & (bins >= 0) & (bins < levels.times.widths[-1] // widths)
        for number, level in enumerate(levels.places):
            here = np.flatnonzero(known & (self.place_level == level.name).fill_null(value=False).to_numpy())
            region = _numbers_of(self.place.gather(here), level.regions)
            for time in np.unique(time_level[here]).tolist():
                chosen = (time_level[here] == time) & (region >= 0)
                codes[here[chosen]] = levels.code(number, region[chosen], time, bins[here[chosen]])
        return codes


def _numbers_of(column: pl.Series, names: Sequence[str]) -> Integers:
    """The position of each text among the names; -1 if it is none of them."""
    if not len(column):
        return np.zeros(0, np.int64)
    known = pl.DataFrame({"name": list(names), "at": np.arange(len(names))})
    joined = pl.DataFrame({"name": column}).join(known, on="name", how="left", maintain_order="left")
    return joined["at"].fill_null(-1).to_numpy()
