"""The page of all methods is what the registry says; `make golden` rewrites it."""

from __future__ import annotations

import os

from project import ROOT

from hedgerow.kind_registry import KINDS
from hedgerow.methods import list_methods

PAGE = ROOT / "docs" / "methods.md"
HEAD = """# Methods

Made from the registry by `make golden`. Methods in bold are recommended, for the data that the table says; the others
are methods of papers, corrected, and baselines to compare with. `hedgerow methods NAME` shows what a method promises,
its paper and its parameters; what each of them keeps and loses: [results](results/README.md).
"""


def row(facts):
    """One line: the id, the class, the promises, and for which data it is or what it does."""
    name = f"`{facts['name']}`"
    cells = [
        f"**{name}**" if facts["recommended"] else name,
        f"`{facts['class']}`",
        ", ".join(f"`{promise}`" for promise in facts["keeps"]),
        facts["recommended"] or facts["summary"],
    ]
    return f"| {' | '.join(cells)} |"


def page():
    """One table per kind of data, recommended methods first."""
    tables = [
        f"\n## {name.capitalize()}\n\n{kind.summary[0].upper()}{kind.summary[1:]} ([guide]({name}.md)).\n\n"
        "| method | class | promise | recommended for, or what it does |\n|---|---|---|---|\n"
        + "".join(f"{row(facts)}\n" for facts in list_methods(name))
        for name, kind in KINDS.items()
    ]
    return HEAD + "".join(tables)


def test_the_page_of_methods_is_what_the_registry_says():
    if os.environ.get("HEDGEROW_GOLDEN"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page(), "look at the change; make golden accepts it"
