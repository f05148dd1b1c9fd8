"""Merge what several owners published into one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow import progress
from hedgerow.data import Dataset
from hedgerow.errors import ParameterError
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import write_file
from hedgerow.formats.packing import pack
from hedgerow.jobs.parts import find_part, kind_with
from hedgerow.reading import read
from hedgerow.release import Recipe
from hedgerow.releases.owner_files import check_owners_file
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import Layout


def run_merge(
    places: Sequence[Path],
    out: Path,
    *,
    form: str | None,
    columns: Mapping[str, str],
    options: Mapping[str, str],
    trusted: bool,
) -> int:
    """Merge releases and files, and write the result to a new file; return its number of edges.

    Parameters
    ----------
    form, columns, options
        How those of `places` are read that are files; `columns` also name the columns that are written.
    """
    kind = kind_with("merged_weights")
    if out.exists():
        msg = f"{out} exists already; choose another name for the merged file"
        raise ParameterError(msg)
    check_owners_file(out, places, bool)
    if len({place.resolve() for place in places}) < len(places):
        msg = "one place is given twice; give the files of different owners"
        raise ParameterError(msg)
    layout = Layout.like(out, None, kind=kind, columns=columns)
    progress.tell("reading the releases")
    recipes: dict[str, Recipe] = {}
    graphs = [_read(place, kind, form, columns, options, recipes, trusted=trusted) for place in places]
    merger = find_part("merged_weights")
    merger.require_parts(recipes)
    merged = merger.merge_weights(*graphs)
    named = codec_of(kind).name_columns(merged, layout.format, layout.columns)
    progress.tell("writing")
    packed = pack(merged, layout.format, named, layout.ending.compression)
    write_file(out, b"".join(packed.parts))
    return len(merged)


def _read(
    place: Path,
    kind: str,
    form: str | None,
    columns: Mapping[str, str],
    options: Mapping[str, str],
    recipes: dict[str, Recipe],
    *,
    trusted: bool,
) -> Dataset:
    """Read the data of a release folder, which tells how it is read and made, or a file."""
    if not place.is_dir():
        return read(place, kind=kind, format=form, columns=columns, options=options)
    release: Any = open_folder(place, trusted=trusted)[0]
    if release.kind != kind:
        msg = f"{place} is a release of {release.kind}; merge releases of {kind}"
        raise ParameterError(msg)
    recipes[str(place)] = release.recipe
    return release.data
