"""Every docstring, document and example runs."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from project import ROOT
from terminal import run

import hedgerow
from hedgerow.demo import run_demo
from hedgerow.kind_registry import KINDS
from hedgerow.methods import list_methods

MODULES = [found.name for found in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: what is put into a file first is run there, by the test of its page
BLOCK = re.compile(r"(?<!-->\n)^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
#: the shop of the test is smaller, so that the shares differ
SHARES = re.compile(r"^Above their noise: .*$", re.MULTILINE)
OPTIONS = doctest.NORMALIZE_WHITESPACE


def test_docstrings_run():
    """Every module has its turn; all failures are listed."""
    results = {name: doctest.testmod(importlib.import_module(name), optionflags=OPTIONS) for name in MODULES}
    assert {name: result for name, result in results.items() if result.failed} == {}
    assert sum(result.attempted for result in results.values()) > 500


def with_blocks(pattern):
    """The documents that have a block of a sort, by their path; a copy of source and tests alone has none."""
    documents = [path for path in DOCUMENTS if path.exists() and pattern.search(path.read_text())]
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in documents]


@pytest.mark.parametrize("path", with_blocks(BLOCK))
def test_documents_run(path, capsys, tmp_path, monkeypatch):
    """Blocks of Python share their names and a folder; a block of text right behind one is what it prints."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, printed in BLOCK.findall(path.read_text()):
        exec(compile(code, str(path), "exec"), names)  # noqa: S102 - our own documents
        output = capsys.readouterr().out
        assert not printed or output == printed


@pytest.mark.parametrize("path", with_blocks(CONSOLE))
def test_consoles_run(path, tmp_path, monkeypatch):
    """Commands of a document run one after the other in an empty folder; text behind them is what the last prints."""
    monkeypatch.setitem(run_demo.__kwdefaults__, "baskets", 20_000)
    for block, printed in CONSOLE.findall(path.read_text()):
        for line in block.splitlines():
            assert line.startswith("$ hedgerow ")
            ran = run(line.removeprefix("$ hedgerow "), tmp_path)
            assert (ran.code, ran.err) == (0, ""), line
        assert not printed or SHARES.sub("", ran.out) == SHARES.sub("", printed)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout
    assert not done.stderr


def test_links_lead_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
            assert "://" in target or (path.parent / target).exists(), f"{path.name}: {target}"


def test_result_pages_are_made_from_what_was_measured():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from pages import pages

    for name, text in pages().items():
        assert (ROOT / "docs" / "results" / name).read_text() == text, name


def test_decisions_are_short():
    notes = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    for path in notes:
        assert path.read_text().count("\n") <= 40, path.name
    assert notes


def test_the_index_of_decisions_has_each_of_them():
    """One line for each note, with its title; there is nothing else in the folder."""
    index, lines = ROOT / "docs" / "decisions" / "README.md", []
    for path in sorted(set(index.parent.iterdir()) - {index}):
        title = re.match(r"# (\d{4}):? (.+)", path.read_text())
        assert title is not None, path.name
        assert path.name.startswith(f"{title[1]}-")
        lines.append(f"- [{title[1]}]({path.name}) {title[2]}")
    assert [line for line in index.read_text().splitlines() if line.startswith("- ")] == lines


# ---- the page of all methods is what the registry says; `make golden` rewrites it

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
