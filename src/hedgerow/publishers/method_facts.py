"""What a method says of itself: for lists, help and documents."""

from __future__ import annotations

import inspect
import re
from typing import Any

from hedgerow.publishers.base import Publisher
from hedgerow.publishers.registry import METHODS, find_method
from hedgerow.publishers.settings import parameters_of

__all__ = ["facts_of", "list_methods"]

#: formulas, citations and names of parameters, as docstrings mark them
_MARKUP = re.compile(r"\s*\[\d+\]_|[$`]")


def list_methods(kind: str) -> list[dict[str, Any]]:
    """Return the facts of all methods for a kind of data: recommended ones first, then by name.

    Examples
    --------
    >>> [facts["name"] for facts in list_methods("records")]
    ['clustree-packing', 'clustree']
    """
    methods = [facts_of(find_method(name)) for name in METHODS]
    return sorted((facts for facts in methods if kind in facts["kinds"]), key=lambda facts: not facts["recommended"])


def facts_of(method: type[Publisher[Any]]) -> dict[str, Any]:
    """Return what a method is, keeps and takes, as plain values without markup.

    Examples
    --------
    >>> facts_of(find_method("wavelet"))["summary"]
    'Publish a matrix after shrinking the detail coefficients of its wavelet transform.'
    """
    text = inspect.getdoc(method) or ""
    papers = re.split(r"\.\. \[\d+\] ", text.partition("References\n----------\n")[2])
    return {
        "name": method.name,
        "class": method.__name__,
        "summary": _MARKUP.sub("", text.splitlines()[0]),
        "kinds": [kind.kind for kind in method.kinds],
        "keeps": [kept.name for kept in method.keeps],
        "units": list(method.units),
        "recommended": method.recommended,
        "papers": [" ".join(paper.split()) for paper in papers if paper.strip()],
        "parameters": [parameter._asdict() for parameter in parameters_of(method)],
    }
