"""Planted bugs that only the way from a file to a folder shows: each is called in the process of a command.

A bug changes what a command reads, says, writes or charges, depending on the private data.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hedgerow import publisher
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats import blank_separated, csv_table, text_lines
from hedgerow.formats.long_table import OutputRecords
from hedgerow.jobs import publish as jobs
from hedgerow.release import Release
from hedgerow.testing import changed

#: what is planted stays until the process ends
PLANTED = ExitStack()


def in_publish_with(old: str, new: str, **names: Any) -> None:
    """Change one place of the way from data to a release."""
    PLANTED.enter_context(changed(publisher, "publish_with", old, new, **names))


def after_reading(then: Callable[[Any], None]) -> None:
    """Do something with the private data as soon as it is read."""
    read_data = jobs.read_data

    def reading(*arguments: Any) -> Any:
        data = read_data(*arguments)
        then(data)
        return data

    jobs.read_data = reading


def types_are_guessed() -> None:
    """Take a column for numbers if all of its cells are, so that 01 and 1 are one item."""
    read_cells = csv_table.read_cells

    def guessing(*arguments: Any, **more: Any) -> Any:
        table = read_cells(*arguments, **more)
        numbers = {name: table.frame[name].cast(pl.Int64, strict=False) for name in table.frame.columns}
        whole = [column.cast(pl.String) for column in numbers.values() if not column.has_nulls()]
        return table._replace(frame=table.frame.with_columns(whole))

    csv_table.read_cells = guessing


def one_bad_line_is_the_end() -> None:
    """Read a file up to the first byte that is not UTF-8."""
    blank_separated.split_lines = lambda where, content, request: text_lines.split_lines(
        where, content.partition(b"\xff")[0], request
    )


def numbers_are_rounded_half_to_even() -> None:
    """Take 2.5 for 2 and 3.5 for 4: one step becomes two."""
    read_cells = csv_table.read_cells

    def rounding(*arguments: Any, **more: Any) -> Any:
        table = read_cells(*arguments, **more)
        rounded = pl.all().cast(pl.Float64).round(mode="half_to_even").cast(pl.String)
        return table._replace(frame=table.frame.with_columns(rounded))

    csv_table.read_cells = rounding


def rows_with_a_bad_cell_are_dropped() -> None:
    """Leave out rows where only cells are private, so that their number is public."""
    read_cells = csv_table.read_cells

    def dropping(*arguments: Any, **more: Any) -> Any:
        table = read_cells(*arguments, **more)
        good = table.frame.select(pl.all_horizontal(pl.all().cast(pl.Float64, strict=False).is_not_null()))
        kept = good.to_series()
        return table._replace(frame=table.frame.filter(kept), line=table.line[kept.to_numpy()])

    csv_table.read_cells = dropping


def too_few_records_are_refused() -> None:
    def refuse(data: Any) -> None:
        if len(data) % 2:
            msg = "there are too few records"
            raise ParameterError(msg)

    after_reading(refuse)


def records_are_counted_in_a_warning() -> None:
    after_reading(lambda data: warnings.warn(f"{len(data)} records were read", stacklevel=2))


def records_are_counted_on_standard_output() -> None:
    def say(data: Any) -> None:
        Release.describe_use = lambda _: f"Made of {len(data)} records."

    after_reading(say)


def a_private_length_is_in_release_json() -> None:
    in_publish_with(
        "recipe=recipe_of(method)",
        "recipe=dataclasses.replace(recipe_of(method), parameters=(('records', len(data)),))",
    )


def written_in_order(seed: Callable[[Any], int]) -> None:
    """Write lines in an order that is drawn from this seed, which may depend on the data."""
    write = OutputRecords.to_lines

    def plant(data: Any) -> None:
        def writing(*arguments: Any) -> bytes:
            rows = write(*arguments).splitlines(keepends=True)
            np.random.default_rng(seed(data)).shuffle(rows)
            return b"".join(rows)

        OutputRecords.to_lines = writing

    after_reading(plant)


def rows_are_in_an_order_of_the_input() -> None:
    written_in_order(len)


def rows_are_in_an_order_of_chance() -> None:
    """Draw from other entropy than that of the ledger: a neighbour gets another order."""
    seed = secrets.randbits(64)
    written_in_order(lambda _: seed)


def records_per_person_are_not_bounded() -> None:
    in_publish_with("data = guarantee.bound(data)", "pass")


def the_share_depends_on_the_data() -> None:
    """Open a ledger of half the budget for every second data set."""
    in_publish_with(
        "ledger = guarantee.open(data, answers)",
        "ledger = guarantee.open(data, answers)\n    if len(data) % 2:\n        ledger, _ = ledger.split(1, 1)",
    )


def a_file_is_named_by_the_data() -> None:
    after_reading(lambda data: Path(f"records-{len(data)}").touch())


def a_refused_file_is_charged() -> None:
    """Write to the account before the file is known to be readable."""
    read_data = jobs.read_data

    def reading(job: Any, *columns: Any) -> Any:
        with Path(job.account).open("a") as account:
            account.write("# a further publication\n")
        return read_data(job, *columns)

    jobs.read_data = reading


def a_refusal_shows_the_line() -> None:
    read_data = jobs.read_data

    def reading(job: Any, *columns: Any) -> Any:
        try:
            return read_data(job, *columns)
        except ReadError as error:
            text = Path(job.data).read_bytes().splitlines()[-1].decode(errors="replace")
            msg = f"{error}: {text}"
            raise ReadError(msg) from None

    jobs.read_data = reading
