"""The law of order: what is published stands where its content says, whatever the order of the private data was.

See decision 0037. Three ways to break it are looked for in every method and kind: content that is read from a release,
put into another order and written again comes to other bytes; private data in another order is published as other
bytes; and what is suppressed decides about the order of what is not.
"""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from small import small
from terminal import run

from hedgerow import KCL, PureDP, Sets, Trajectories, find_method, write_release
from hedgerow.audit.replay import release_bytes
from hedgerow.data.lists import Lists
from hedgerow.formats.codec import codec_of
from hedgerow.kind_registry import KINDS
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.methods import METHODS
from hedgerow.privacy.parsing import example_of
from hedgerow.releases.reader import open_folder
from hedgerow.testing import build_edge_cases, changed

pytestmark = pytest.mark.filterwarnings("ignore")


def publish(name, data=None):
    """A release of a method with all settings by default, of the largest awkward data of its kind."""
    method = small(name)
    if data is None:
        cases = build_edge_cases(method.kinds[0], method.needs).values()
        data = max(cases, key=lambda each: each.count_units(each.units[0]))
    promised = method.keeps[0].name
    guarantee = PureDP(epsilon=1, unit=method.units[0]) if method.units else example_of(promised)
    return data, method.publish(data, guarantee, seed=3)


def stands_by_content(output, options):
    """Whether the same content in another order is written as the same bytes, in every format of its kind."""
    codec = codec_of(output.kind)
    if codec.keeps_order(options):
        return True  # rows have public numbers, and time has one order
    others = [output.shuffled(np.random.default_rng(seed)).canonical() for seed in range(3)]
    return all(
        codec.write(other, form, columns) == codec.write(output, form, columns)
        for form in codec.formats
        for columns in [codec.name_columns(output, form, {})]
        for other in others
    )


@pytest.mark.parametrize("name", METHODS)
def test_bytes_are_a_function_of_content(name, tmp_path):
    data, release = publish(name)
    ending = next(iter(codec_of(release.kind).formats.values())).endings[0]
    write_release(release, tmp_path / "R", like=f"in.{ending}")
    again, manifest = open_folder(tmp_path / "R")
    for file in manifest.files:
        output = again.outputs[file.data]
        written = codec_of(file.kind).write(output, file.format, file.columns)
        assert written == (tmp_path / "R" / file.file).read_bytes()
        assert stands_by_content(output, file.options)
    if not any(codec_of(file.kind).keeps_order(file.options) for file in manifest.files):
        _, other = publish(name, data.shuffled(np.random.default_rng(2)))
        assert release_bytes(other) == release_bytes(release)


@pytest.mark.parametrize(
    ("owner", "old", "new", "name"),
    [
        (
            Lists,
            "starts, items, weights = merge_equal(",
            "return self\n    starts, items, weights = merge_equal(",
            "flat-laplace",
        ),
        (Trajectories, "replace(self.sorted(), persons=None)", "self", "kcl"),
        (Matrix, "order = self.order", "return self", "private-wavelet"),
    ],
    ids=["lists", "trajectories", "matrices"],
)
def test_what_stays_where_it_was_is_found(owner, old, new, name):
    with changed(owner, "canonical", old, new):
        _, release = publish(name)
        assert not stands_by_content(release.data, {})


# ---- files: lines, items, ends of edges, siblings and names of units in another order


def _lines(draw, records):
    draw.shuffle(records)
    return "\n".join(records) + "\n"


def _baskets(draw):
    baskets = [["tea", "milk", "bread"], ["tea"], ["bread", "milk"]] * 20
    return _lines(draw, [" ".join(draw.sample(basket, len(basket))) for basket in baskets])


def _paths(draw):
    return _lines(draw, ["home search shop", "home", "search shop home shop"] * 20)


def _visits(draw):
    units = draw.sample(range(1_000), 24)
    rows = [f"{unit},{8 + n},{'abc'[(k + n) % 3]},{k % 2}" for k, unit in enumerate(units) for n in range(k % 4)]
    return "unit,time,place,ill\n" + _lines(draw, rows)


def _edges(draw):
    pairs = [(n, (n * n + 1) % 12) for n in range(12) if n != (n * n + 1) % 12]
    return _lines(draw, [" ".join(map(str, draw.sample(pair, 2))) for pair in pairs])


def _rows(draw):
    return "a,b\n" + _lines(draw, [f"{n % 7},{n % 5}" for n in range(60)])


def _students(draw):
    def one(n):
        courses = [{"id": f"C{c}", "grade": "AB"[(n + c) % 2]} for c in range(n % 3)]
        return {"born": 1990 + n % 2, "courses": draw.sample(courses, len(courses))}

    return _lines(draw, [json.dumps(one(n)) for n in range(12)])


SCHEMA = """
[types.student]
path = ""
[types.student.fields]
born = { low = 1990, high = 1991 }
[types.course]
path = "courses[]"
[types.course.fields]
id = { values = ["C0", "C1"] }
grade = "sensitive"
"""
PURE = "--epsilon 1 --unit {} --domain d.toml"
FILES = {
    "sets": ("in.dat", _baskets, "raked-histogram", PURE.format("record"), '[item]\nvalues=["bread","milk","tea"]'),
    "sequences": ("in.dat", _paths, "prefix-tree", PURE.format("sequence"), '[item]\nvalues=["home","search","shop"]'),
    "trajectories": ("in.csv", _visits, "kcl-reinsertion", "--k 3 --l 2 --c 60% --sensitive ill=1", ""),
    "graphs": ("in.edges", _edges, "tmf", PURE.format("edge"), "[vertex]\nlow = 0\nhigh = 11"),
    "matrices": ("in.csv", _rows, "private-wavelet", PURE.format("row"), "[a]\nlow=0\nhigh=7\n[b]\nlow=0\nhigh=7"),
    "records": ("in.jsonl", _students, "clustree-packing", "--k 2 --schema schema.toml", ""),
}


def test_every_kind_whose_order_is_private_has_a_file():
    assert set(FILES) == set(KINDS) - {"streams"}


@pytest.mark.parametrize("kind", FILES)
def test_lines_in_another_order_are_published_as_the_same_bytes(kind, tmp_path):
    name, make, method, promise, domain = FILES[kind]
    published = []
    for seed in (1, 2):
        place = tmp_path / str(seed)
        place.mkdir()
        for file, text in ((name, make(random.Random(seed))), ("d.toml", domain + "\n"), ("schema.toml", SCHEMA)):
            (place / file).write_text(text)
        command = f"publish {name} --kind {kind} --method {method} {promise} --seed 7 --even-if-useless --out R"
        ran = run(command, place)
        assert ran.code == 0, ran.err
        published.append({path.name: path.read_bytes() for path in (place / "R").iterdir()})
    assert (tmp_path / "1" / name).read_bytes() != (tmp_path / "2" / name).read_bytes()
    assert published[0] == published[1]


# ---- an inferred domain is private: a value that is suppressed decides about nothing


@pytest.mark.parametrize("method", ["kcl", "kcl-reinsertion"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_suppressed_name_does_not_turn_numbers_into_texts(method, ending, tmp_path):
    """Stops 9 and 10 stood as texts, 10 first, where somebody had been at the depot, who is not in the release."""
    published = []
    for folder, suppressed in (("A", "depot"), ("B", "11")):
        visits = [[(stop, 8)] for stop in ("9", "10")] * 3
        data = Trajectories.from_records([*visits[:-1], [*visits[-1], (suppressed, 9)]])
        release = find_method(method)().publish(data, KCL(k=2, l=2))
        write_release(release, tmp_path / folder, like=f"in.{ending}")
        published.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert published[0] == published[1]


def test_a_domain_is_inferred_anew_from_what_is_left():
    items = Sets.from_records([["9", "10"], ["10", "depot"]])
    left = items.without(1, unit="record").narrowed()
    assert (left.domain.values("item"), left.records()) == ((9, 10), [(9, 10)])
    assert items.domain.values("item") == ("10", "9", "depot")
