"""Names say what a value is: no name of the source is one that fits anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from project import ROOT

SOURCES = sorted((ROOT / "src").rglob("*.py"))
#: what every value is; say which value it is
EMPTY = {"found", "held"}


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module gives, with its line: variables, attributes, parameters, functions, classes, imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((node.lineno, alias.asname or alias.name) for alias in names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def empty_words(text: str) -> list[str]:
    """The lines of a module that give something a name without a meaning."""
    return [f"{line}: {name}" for line, name in named(ast.parse(text)) if name.strip("_").lower() in EMPTY]


def test_names_say_what_a_value_is():
    words = {str(path.relative_to(ROOT)): empty_words(path.read_text()) for path in SOURCES}
    assert {path: lines for path, lines in words.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "held = 1",
        "for at, found in rows: pass",
        "[found for found in rows]",
        "def of(found): pass",
        "def held(): pass",
        "row.held = 1",
        "class Row:\n    held: int",
        "if (found := rows): pass",
        "with rows as _held: pass",
        "import rows as found",
    ],
)
def test_such_a_name_is_noticed_wherever_it_is_given(code):
    assert empty_words(code)


def test_words_in_texts_and_other_names_are_left_alone():
    assert empty_words('"""Held and found."""\nthreshold = find(withheld)  # what is held\n') == []
