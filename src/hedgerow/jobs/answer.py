"""Answer inner products: releases in, and the exact query of whoever asks if needed; estimates and their error out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from hedgerow import progress
from hedgerow.data import Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.retrieval.answers import MODES, Answer, answer
from hedgerow.kinds.matrices.retrieval.vectors import NoisyVector, vectors_of
from hedgerow.numerics.arrays import Floats
from hedgerow.reading import read
from hedgerow.releases.reader import open_folder

_NOTHING: Mapping[str, str] = MappingProxyType({})


def run_answer(
    folder: Path,
    *,
    mode: str,
    query: Path | None = None,
    exact: Path | None = None,
    column: str | None = None,
    threshold: float = 1.0,
    read_options: Mapping[str, str] = _NOTHING,
    trusted: bool = False,
) -> dict[str, Answer]:
    """Multiply one column of a release by every column of a query.

    Parameters
    ----------
    folder
        The release of the vector that is asked.
    mode
        One of `MODES`.
    query, exact
        The release of the query, and the file of the exact one, which is read here and goes nowhere.
    column
        Which column of the release is asked, if it has several.

    Returns
    -------
    dict
        The answer for each column of the query.
    """
    _require_parts(mode, query, exact)
    progress.tell("reading the releases")
    x = _choose(folder, _open(folder, trusted=trusted)[0], column)
    queries, domain, unit = _open(query, trusted=trusted) if query else ({}, None, "")
    asked = _read_exact(exact, domain, unit, read_options) if exact else {}
    progress.tell("answering")
    names = queries or asked
    return {name: answer(mode, x, queries.get(name), asked.get(name), threshold=threshold) for name in names}


def _require_parts(mode: str, query: Path | None, exact: Path | None) -> None:
    """Refuse what the mode cannot be computed from, before anything is read."""
    if mode not in MODES:
        msg = f"there is no mode {mode!r}; choose from {', '.join(MODES)}"
        raise ParameterError(msg)
    if mode == "local" and exact is None:
        msg = "mode local needs the exact query: give its file with --exact; it is not sent anywhere"
        raise ParameterError(msg)
    if mode != "local" and query is None:
        msg = f"mode {mode} needs a release of the query: give its folder with --query, or take --mode local"
        raise ParameterError(msg)
    if mode == "local" and query is not None:
        msg = "mode local multiplies by the exact query and needs no release of it; omit --query"
        raise ParameterError(msg)


def _open(folder: Path, *, trusted: bool) -> tuple[dict[str, NoisyVector], Domain | None, str]:
    """Read a release: its vectors, its domain and its unit."""
    release, _ = open_folder(folder, trusted=trusted)
    try:
        vectors = vectors_of(release)
    except ParameterError as error:
        msg = f"{folder}: {error}"
        raise ParameterError(msg) from None
    return vectors, release.domain, release.guarantee.units[0]


def _choose(folder: Path, vectors: Mapping[str, NoisyVector], column: str | None) -> NoisyVector:
    names = ", ".join(vectors)
    if column is None and len(vectors) == 1:
        return next(iter(vectors.values()))
    if column is None:
        msg = f"{folder} has several columns; choose one with --column: {names}"
        raise ParameterError(msg)
    if column not in vectors:
        msg = f"{folder} has no column {column!r}; it has: {names}"
        raise ParameterError(msg)
    return vectors[column]


def _read_exact(path: Path, domain: Domain | None, unit: str, options: Mapping[str, str]) -> dict[str, Floats]:
    """Read the exact query, moved into the bounds of its release if there is one, as it was when it was published."""
    data: Matrix = read(path, kind=Matrix.kind, domain=domain, options={"rows": "numbered", **options})
    if domain is not None:
        data = data.bounded(unit)
    return dict(zip(data.columns, data.values.T, strict=True))
