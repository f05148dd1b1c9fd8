"""A kind is one row, and one folder with the same names in each; nothing else asks which kind it has."""

from __future__ import annotations

import ast

import pytest
from project import ROOT

from hedgerow import METHODS, PureDP, find_method
from hedgerow.data import Dataset, Lists
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import Ending
from hedgerow.kind_registry import KINDS, OUTPUT_ONLY_KINDS, differs_by_change, find_kind, find_output_kind
from hedgerow.kinds.sequences.ngrams.data import NGrams
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.release import Recipe
from hedgerow.settings import configure
from hedgerow.testing import build_edge_cases, sequences_of

PARTS = {
    "measures": ("controls", "describe", "measure"),
    "charts": ("charts",),
    "cases": ("EDGE_CASES", "from_vector", "random_data", "to_vector"),
}
#: places that may ask: kinds themselves, methods that publish several, and a promise about visits
MAY_ASK = ("data", "kinds")


def filled(name):
    """The first awkward shape of a kind that has a unit."""
    units = find_kind(name).type.units
    return next(shape for shape in build_edge_cases(name).values() if shape.count_units(units[0]))


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_its_modules(name):
    row = find_kind(name)
    assert issubclass(row.type, Dataset)
    assert row.type.kind == row.name == name
    assert not row.summary.endswith(".")
    for part, names in PARTS.items():
        assert all(hasattr(row.module(part), each) for each in names), part


@pytest.mark.parametrize("name", {**KINDS, **OUTPUT_ONLY_KINDS})
def test_a_codec_explains_what_it_reads_and_writes(name):
    codec = codec_of(name)
    assert codec.kind == name
    assert set(codec.written) <= set(codec.columns)
    for form, its in codec.formats.items():
        assert {codec.format_name(None, Ending(ending, "")) for ending in its.endings} == {form}
        assert its.written_as in {"", *codec.formats}
    # a release of a stream always says what its rows are
    assert codec.accepts_reread({}) != codec.in_parts
    assert not codec.accepts_reread({"most_bytes": "9"})


@pytest.mark.parametrize("name", KINDS)
def test_a_folder_may_say_what_its_writer_says_of_reading(name):
    """What is written into `release.json` is accepted from there, and read without an error."""
    codec = codec_of(name)
    for shape in build_edge_cases(name).values():
        for form in codec.formats:
            published = shape.publishing(iter([]), of="sums") if codec.in_parts else shape
            said = codec.reread_options(published, form)
            assert codec.accepts_reread(said)
            assert set(said) <= set(codec.options)


@pytest.mark.parametrize("name", KINDS)
def test_awkward_data_is_described_and_drawn(name):
    row = find_kind(name)
    for shape in build_edge_cases(row.name).values():
        assert row.module("measures").describe(shape)
        charts = row.module("charts").charts
        assert len(charts(shape, compared=True)) <= len(charts(shape, compared=False))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("promised", [PureDP(epsilon=1, unit="x"), find_method("kcl").keeps[0](k=2, l=1)])
def test_controls_name_methods_and_parameters_that_exist(name, promised):
    row = find_kind(name)
    data = filled(name)
    for control in row.module("measures").controls(Comparison(data, data, promised, {})).values():
        if isinstance(control, Control):
            assert row.name in configure(find_method(control.method), control.parameters).kinds
        else:
            assert control.kind == name


@pytest.mark.parametrize("name", METHODS)
def test_methods_say_how_much_of_a_record_they_use(name):
    assert all(type(value) is int for value in find_method(name)().workload.values())


@pytest.mark.parametrize(
    ("recipe", "cut"),
    [
        (Recipe("ngram", (("l_max", 7),)), 7),
        (Recipe("ngram", (("l_max", 10**9),)), 20),
        (Recipe("ngram", (("l_max", "x"),)), 20),
        (Recipe("of a stranger", (("l_max", 7),)), 20),
    ],
)
def test_a_recipe_may_come_from_a_stranger(recipe, cut):
    """A workload that its method would not have is not believed: sequences are then cut at 20 items."""
    data = sequences_of([[0, 1, 2]] * 30, 3)
    release = find_method("ngram")(n_max=1).publish(data, PureDP(epsilon=1, unit="sequence"), seed=1)
    object.__setattr__(release, "recipe", recipe)
    assert f"original, cut at {cut}" in dict(evaluate(release, data, seed=1)[0].controls)


def test_another_kind_is_refused():
    data = sequences_of([[0, 1]] * 9, 2)
    release = find_method("ngram")().publish(data, PureDP(epsilon=1, unit="sequence"), seed=1)
    with pytest.raises(ParameterError, match="a release of sequences cannot be compared with sets"):
        evaluate(release, filled("sets"))
    with pytest.raises(ParameterError, match="there is no kind 'ngrams' of data; there are: sets, sequences"):
        find_kind("ngrams")
    assert find_output_kind("ngrams").type is NGrams


@pytest.mark.parametrize("name", KINDS)
def test_units_are_left_out_unless_their_kind_changes_them(name):
    data = filled(name)
    for unit in data.units[:1]:
        lost = {data.count_units(unit) - other.count_units(unit) for other in data.neighbours(unit)}
        assert lost == ({0} if differs_by_change(unit) else {1})
        assert all(other.to_bytes() != data.to_bytes() for other in data.neighbours(unit))
        sentence = PureDP(epsilon=1, unit=unit).sentence()
        assert (
            "had been changed" if differs_by_change(unit) else "had been removed from the data or added to it"
        ) in sentence


def test_nothing_else_asks_which_kind_it_has():
    kinds = {row.type_name for row in (*KINDS.values(), *OUTPUT_ONLY_KINDS.values())} | {Lists.__name__}
    for path in sorted((ROOT / "src" / "hedgerow").rglob("*.py")):
        if str(path.relative_to(ROOT / "src" / "hedgerow")).startswith(MAY_ASK):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                named = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
                assert not named & kinds, f"{path.name}:{node.lineno}"
