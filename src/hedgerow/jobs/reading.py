"""Read private data as a job describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.formats.domains import read_domain
from hedgerow.jobs.recipe import Reading
from hedgerow.reading import read


def read_data(reading: Reading, columns: Sequence[str] = ()) -> Any:
    """Read private data, with the columns that a promise needs."""
    progress.tell("reading the data")
    declared = read_domain(Path(reading.domain)) if reading.domain else None
    if declared and reading.assert_public_domain:
        msg = "give either --domain or --assert-public-domain, not both"
        raise ParameterError(msg)
    return read(
        reading.data,
        kind=reading.kind,
        domain=declared,
        records_per_person=reading.records_per_person,
        assert_public_domain=reading.assert_public_domain,
        format=reading.format,
        columns=reading.columns,
        options=options_of(reading, columns),
    )


def options_of(reading: Reading, columns: Sequence[str] = ()) -> Mapping[str, str]:
    """Return the reading options of a job, with its schema file and the columns that a promise needs."""
    schema = {"schema": reading.schema} if reading.schema else {}
    return with_columns({**reading.read, **schema}, columns)


def with_columns(options: Mapping[str, str], columns: Sequence[str]) -> Mapping[str, str]:
    """Add the columns that a promise needs to the reading options."""
    names = [*options.get("sensitive", "").split(","), *columns]
    sensitive = ",".join(dict.fromkeys(name for name in names if name))
    return {**options, "sensitive": sensitive} if sensitive else options
