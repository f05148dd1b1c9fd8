"""Every docstring, document and example runs, and what documents name is there."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from project import ROOT, TESTS
from terminal import run
from walks import WALKS

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


# ---- files that documents name


#: what stands for any kind, method or command
ANY = re.compile(r"<\w+>")
NAME = re.compile(r"`([\w./<>-]*/|[\w./<>-]*/[\w./<>-]*\.\w+|[\w<>-]+\.py)`")
SOURCE = ROOT / "src" / "hedgerow"
ROOMS = (SOURCE, ROOT / "tests", ROOT / "docs", ROOT)


def missing(text, added=()):
    """The files and folders that a text names in backquotes and that are nowhere; `<kind>` stands for one at least.

    In a row of a table that starts with a folder, names may be relative to it.
    """
    lost = []
    for line in text.splitlines():
        names = NAME.findall(line)
        row = [SOURCE / names[0]] if line.startswith("| `") and names and names[0].endswith("/") else []
        for name in names:
            pattern = ANY.sub("*", name)
            is_added = any(path.startswith(name) for path in added)
            if not is_added and not any(any(room.glob(pattern)) for room in (*ROOMS, *row)):
                lost.append(name)
    return lost


def test_what_pages_name_is_there():
    """The map, the pages on adding something and all guides; notes on decisions may name what was."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    lost = {}
    for path in pages:
        text = path.read_text()
        added = re.findall(r"<!-- file: (\S+) -->", text)
        if names := missing(text, added):
            lost[path.name] = names
    assert lost == {}


def test_a_name_that_is_nowhere_is_noticed():
    assert missing("see `kinds/<kind>/data.py`, `privacy/` and `tests/house/`") == []
    assert missing("see `kinds/<kind>/date.py`, `publishers/`, `kinds.py` and `tests/spine/`") == [
        "kinds/<kind>/date.py", "publishers/", "kinds.py", "tests/spine/"
    ]  # fmt: skip
    assert missing("| `kinds/sets/`: | `data.py`, `hierarchy.py` |") == ["hierarchy.py"]


def test_modules_that_texts_name_are_there():
    """`hedgerow.a.b` in documents, docstrings and comments; `<kind>` is some kind."""
    lost = []
    for path in [*DOCUMENTS, *sorted(SOURCE.rglob("*.py"))]:
        text = path.read_text()
        for name in re.findall(r"`(hedgerow(?:\.[\w<>]+)+)`", text):
            is_added = f"class {name.rpartition('.')[2]}(" in text  # by a page that adds it
            if not is_added and not any(is_there(name.replace("<kind>", kind)) for kind in KINDS):
                lost.append(f"{path.relative_to(ROOT)}: {name}")
    assert lost == []


def is_there(name):
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return False
    return True


def test_a_module_that_is_gone_is_noticed():
    assert is_there("hedgerow.kinds.sets.files.CODEC")
    assert not is_there("hedgerow.io.sets.CODEC")


# ---- the way of a publication, as the map tells it


def astray(row, modules, functions):
    """What a row of the map names without need, and what it leaves out of the folder of its kind."""
    folder, *names = NAME.findall(row)
    told = {folder + name if (SOURCE / folder / name).exists() else name for name in names}
    return sorted(told - modules), sorted({name for name in functions if name.startswith(folder)} - told)


def test_publications_go_the_way_that_the_map_tells(tmp_path):
    """One of each kind: the files that the map names are entered, and it names all of the kind."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    steps, _, table = text.partition("\n## How a publication flows")[2].partition("\n## ")[0].partition("\n| kind and")
    rows = {line.split("/")[1]: line for line in table.splitlines() if line.startswith("| `kinds/")}
    every, wrong = set(), {}
    for kind, modules, functions in walked(tmp_path):
        every |= modules
        wrong[kind] = astray(rows[kind], modules, functions)
    assert wrong == dict.fromkeys(WALKS, ([], []))
    assert {name for name in NAME.findall(steps) if name.endswith(".py") and "<" not in name} <= every


def test_a_row_that_tells_another_way_is_noticed():
    row = "| `kinds/sets/`: one | `data.py`, `charts.py` | `formats/lines.py`, `formats/jsonl.py` |"
    ran = {"kinds/sets/data.py", "kinds/sets/measures.py", "formats/lines.py"}
    assert astray(row, ran, ran) == (["formats/jsonl.py", "kinds/sets/charts.py"], ["kinds/sets/measures.py"])


def walked(folder):
    """For a publication of each kind, the modules that it enters, and those of which functions run."""
    walks = []
    for kind in WALKS:
        (folder / kind).mkdir()
        words = [sys.executable, str(TESTS / "support" / "walks.py"), str(folder / kind), kind]
        walks.append((kind, subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)))
    for kind, walk in walks:
        out, err = walk.communicate()
        assert walk.returncode == 0, err
        entered = json.loads(out.splitlines()[-1])
        yield kind, set(entered), {name for name, runs in entered.items() if runs}


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
