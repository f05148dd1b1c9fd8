"""Answer inner products: releases in, and the exact query of whoever asks if needed; estimates and their error out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.jobs.parts import find_part
from hedgerow.numerics.arrays import Floats
from hedgerow.reading import read
from hedgerow.release import Release
from hedgerow.releases.reader import open_folder

_NOTHING: Mapping[str, str] = MappingProxyType({})


class AnswersModule(Protocol):
    """The module `answers` of a kind; what it returns as a vector, it takes as one."""

    MODES: Mapping[str, str]
    READ_OPTIONS: Mapping[str, str]
    CONFIDENCE: float

    def open_vectors(self, release: Release[Any], place: str) -> dict[str, Any]:
        """Return the noisy vectors of a release; errors name the place that it was read from."""
        ...

    def exact_vectors(self, query: Any, unit: str | None) -> dict[str, Floats]:
        """Return the vectors of an exact query; with a unit, as they were when it was published under that."""
        ...

    def answer(self, mode: str, x: Any, query: Any, exact: Floats | None, *, threshold: float) -> Any:
        """Multiply a noisy vector by a query; return the estimate and its error."""
        ...


def find_answers() -> AnswersModule:
    """Return the answers of the kind that has them."""
    return find_part("answers")


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
) -> dict[str, Any]:
    """Multiply one column of a release by every column of a query.

    Parameters
    ----------
    folder
        The release of the vector that is asked.
    mode
        One of the modes of the kind.
    query, exact
        The release of the query, and the file of the exact one, which is read here and goes nowhere.
    column
        Which column of the release is asked, if it has several.

    Returns
    -------
    dict
        The answer for each column of the query.
    """
    answers = find_answers()
    _require_parts(mode, query, exact, answers)
    progress.tell("reading the releases")
    vectors, release = _open(folder, answers, trusted=trusted)
    x = _choose(folder, vectors, column)
    queries, asking = _open(query, answers, trusted=trusted) if query else ({}, None)
    asked: dict[str, Floats] = {}
    if exact:
        # moved into the bounds of its release if there is one, as it was when it was published
        domain, unit = (None, None) if asking is None else (asking.domain, asking.guarantee.units[0])
        options = {**answers.READ_OPTIONS, **read_options}
        asked = answers.exact_vectors(read(exact, kind=release.kind, domain=domain, options=options), unit)
    progress.tell("answering")
    names = queries or asked
    return {name: answers.answer(mode, x, queries.get(name), asked.get(name), threshold=threshold) for name in names}


def _require_parts(mode: str, query: Path | None, exact: Path | None, answers: AnswersModule) -> None:
    """Refuse what the mode cannot be computed from, before anything is read."""
    if mode not in answers.MODES:
        msg = f"there is no mode {mode!r}; choose from {', '.join(answers.MODES)}"
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


def _open(folder: Path, answers: AnswersModule, *, trusted: bool) -> tuple[dict[str, Any], Release[Any]]:
    """Read a release, and its vectors."""
    release, _ = open_folder(folder, trusted=trusted)
    return answers.open_vectors(release, str(folder)), release


def _choose(folder: Path, vectors: Mapping[str, Any], column: str | None) -> Any:
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
