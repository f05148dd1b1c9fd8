"""Attackers who read the whole published file of trees, for clustree and clustree-packing."""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import NamedTuple, TypeAlias

import pytest
from figures import write_figures
from record_cases import DOMAIN, SCHEMA, assistant, course, records, student, teacher

from hedgerow import KAnonymity, LDiversity, find_method
from hedgerow.errors import NotSatisfied
from hedgerow.formats.codec import codec_of
from hedgerow.kinds.records.data import Records, Tree
from hedgerow.privacy.guarantee import Verdict
from hedgerow.testing import changed

# ---- Attackers of generalised trees, by brute force: they read the published file, record by record
#
# They know labels and shape of a person's record, all of it or a part, and that the record is in the data; no
# sensitive value. What they know of the method is that vertices may be missing with all that is below them, that
# labels may be generalised, and that nothing is added. So a published tree is *consistent* with what is known if it
# can be cut and generalised out of some full record that contains it:
#
# - Who knows a **whole** record is left with the published trees that can be mapped into it, each vertex to one of its
#   own type, below the image of its parent, with the same label or a group of it.
# - Who knows a **part** is left with the trees whose root fits; with those that show it, if they are sure that it is
#   shown; and who knows the number of children, with those that have no more.
#
# Whatever is known, the trees that are left must be none or k, and with l-diversity a sensitive value of the vertex
# that is asked about may be theirs in one of l cases, all images of the vertex being equally likely. Trees, and
# siblings, have a position in the file, too: if it is no function of what is published, it tells about what is not.

#: a vertex of a tree: the number of each child on the way to it
Path: TypeAlias = tuple[int, ...]
#: the image of each vertex of a tree in another one
Map: TypeAlias = Mapping[Path, Path]


class Vertex(NamedTuple):
    """A vertex of a record, known or published; siblings in the order of the file."""

    kind: str
    labels: tuple[str, ...]
    value: str | None
    children: tuple[Vertex, ...]


def draw_students(seed: int, *, graded: bool = True) -> Records:
    """Draw four to nine students with up to two courses, of few labels; roots have values of two buckets, or none."""
    draw = random.Random(seed)

    def one_course() -> Tree:
        below = [teacher(draw.choice(("Levi", "Savas", "Z")), draw.randrange(4)) for _ in range(draw.randrange(2))]
        below += [assistant(draw.choice(("TA1", "X1")), draw.randrange(4)) for _ in range(draw.randrange(2))]
        return course(draw.choice(("CS201", "CS204", "CS305")), draw.choice(["A", "A-", "B+", "B"]), *below)

    def one() -> Tree:
        courses = [one_course() for _ in range(draw.choice((0, 1, 1, 2, 2)))]
        gpa = draw.choice((275, 290, 325)) if graded else None
        return student(draw.choice((1990, 1991, 2000)), gpa, *courses)

    return records(*(one() for _ in range(draw.randint(4, 9))))


def attack(data: Records, published: Records, promise: KAnonymity | LDiversity, seed: int) -> Counter[str]:
    """Count what the attackers find; only what begins with `broken` must not be."""
    content = codec_of("records").write(published, "jsonl", {})
    trees = [_parse(json.loads(line), 0) for line in content.splitlines()]
    by_content = _write_anew(published, trees, random.Random(seed)) == content
    found = Counter({"broken: a position that content does not give": not by_content})
    for known in sorted({_known(tree) for tree in data.trees()}):
        whole = [(tree, [_inverse(way) for way in _maps(tree, known, _covers)]) for tree in trees]
        _judge(found, promise, known, whole)
        for part in _parts(known):
            shown = [(tree, list(_maps(part, tree, lambda inner, outer: _covers(outer, inner)))) for tree in trees]
            _judge(found, promise, part, shown)
        fitting = [tree for tree in trees if _covers(tree, known)]
        _judge(found, promise, known._replace(children=()), [(tree, [{(): ()}]) for tree in fitting])
        no_more = [tree for tree in fitting if len(tree.children) <= len(known.children)]
        _judge(found, promise, known._replace(children=()), [(tree, [{(): ()}]) for tree in no_more])
    return found


def _judge(
    found: Counter[str],
    promise: KAnonymity | LDiversity,
    known: Vertex,
    trees: list[tuple[Vertex, list[Map]]],
) -> None:
    """Judge the trees that are left: those with a map of what is known; and the values of each known vertex."""
    left = [(tree, ways) for tree, ways in trees if ways]
    found["knowledge"] += 1
    found["knowledge that fits no tree"] += not left
    least = promise.k if isinstance(promise, KAnonymity) else promise.l
    found["broken: fewer trees than promised"] += 0 < len(left) < least
    if not isinstance(promise, LDiversity):
        return
    for vertex, _ in _walk(known):
        chances: Counter[str] = Counter()
        for tree, ways in left:
            images = [_at(tree, way[vertex]) for way in ways if vertex in way]
            values = [_bucket(image) for image in images if image.value is not None]
            for value in values:
                chances[value] += Fraction(1, len(values))
        likeliest = max(chances.values(), default=Fraction(0))
        found["broken: a value is likelier than promised"] += likeliest * promise.l > sum(chances.values())


def _parse(document: Mapping[str, object], number: int) -> Vertex:
    """Read a published record."""
    kind = SCHEMA.types[number]
    children = [
        _parse(child, below)
        for below in SCHEMA.children(number)
        for child in document.get(SCHEMA.types[below].name, ())
    ]
    labels = tuple(str(document[name]) for name in kind.quasi)
    return Vertex(kind.name, labels, document.get(kind.sensitive), tuple(children))


def _known(tree: Tree) -> Vertex:
    """What a record shows without its sensitive values."""
    kind, labels, _, children = tree
    return Vertex(kind, tuple(map(str, labels)), None, tuple(sorted(map(_known, children))))


def _parts(known: Vertex) -> Iterator[Vertex]:
    """The root with one or two of its children, or with a child and one below it."""
    bare = [child._replace(children=()) for child in known.children]
    for size in (1, 2):
        for children in itertools.combinations(bare, size):
            yield known._replace(children=children)
    for child in known.children:
        for below in child.children:
            yield known._replace(children=(child._replace(children=(below,)),))


def _maps(
    inner: Vertex, outer: Vertex, fits: Callable[[Vertex, Vertex], bool], at: Path = (), to: Path = ()
) -> Iterator[Map]:
    """Every map of a tree into another one, children to different children of the image of their parent."""

    def place(number: int, free: frozenset[int]) -> Iterator[dict[Path, Path]]:
        if number == len(inner.children):
            yield {}
            return
        for target in free:
            below = _maps(inner.children[number], outer.children[target], fits, (*at, number), (*to, target))
            for way in below:
                for rest in place(number + 1, free - {target}):
                    yield {**way, **rest}

    if fits(inner, outer):
        for below in place(0, frozenset(range(len(outer.children)))):
            yield {at: to, **below}


def _inverse(way: Map) -> Map:
    return {image: vertex for vertex, image in way.items()}


def _walk(vertex: Vertex, at: Path = ()) -> Iterator[tuple[Path, Vertex]]:
    yield at, vertex
    for number, child in enumerate(vertex.children):
        yield from _walk(child, (*at, number))


def _at(vertex: Vertex, path: Path) -> Vertex:
    for number in path:
        vertex = vertex.children[number]
    return vertex


def _covers(published: Vertex, known: Vertex) -> bool:
    """Whether each published label is the known one or a group that it is in."""
    return published.kind == known.kind and _fit(known.kind, published.labels, known.labels)


@cache
def _fit(kind: str, published: tuple[str, ...], known: tuple[str, ...]) -> bool:
    names = SCHEMA.types[SCHEMA.numbers[kind]].quasi_axes
    return all(
        shown in {"*", own, *_groups(name, own)} for name, shown, own in zip(names, published, known, strict=True)
    )


def _groups(name: str, value: str) -> tuple[str, ...]:
    axis = DOMAIN.axis(name)
    return axis.paths[axis.by_text[value]] if axis.paths else ()


def _bucket(vertex: Vertex) -> str:
    """The value of a vertex, or its bucket."""
    name = SCHEMA.types[SCHEMA.numbers[vertex.kind]].sensitive_axis
    return next(iter(_groups(name, vertex.value)), vertex.value)


def _write_anew(published: Records, trees: list[Vertex], draw: random.Random) -> bytes:
    """Write what is in a file again, its records and siblings in another order than they were."""

    def shuffled(vertices: tuple[Vertex, ...]) -> list[Tree]:
        listed = [_tree(vertex, shuffled(vertex.children)) for vertex in vertices]
        draw.shuffle(listed)
        return listed

    again = Records.from_trees(shuffled(tuple(trees)), published.schema, published.domain)
    return codec_of("records").write(again.canonical(), "jsonl", {})


def _tree(vertex: Vertex, children: list[Tree]) -> Tree:
    name = SCHEMA.types[SCHEMA.numbers[vertex.kind]].sensitive_axis
    axis = DOMAIN.axis(name)
    value = None if vertex.value is None else axis.values[axis.by_text[vertex.value]]
    return (vertex.kind, vertex.labels, value, children)


# ---- tests

pytestmark = pytest.mark.filterwarnings("ignore:at most", "ignore:fewer than l")

METHODS = ("clustree", "clustree-packing")
PROMISES = (KAnonymity(k=2), LDiversity(l=2), KAnonymity(k=3), LDiversity(l=3))
#: databases in which the attackers find planted bugs
SEEDS = range(8)


def attack_some(name, seeds, promises=PROMISES):
    """What the attackers find in the releases of some random databases."""
    found = Counter()
    for seed in seeds:
        promise = promises[seed % len(promises)]
        # roots of two buckets are never three that differ
        data = draw_students(seed, graded=promise != LDiversity(l=3))
        try:
            published = find_method(name)().publish(data, promise, seed=seed).data
        except NotSatisfied:
            found["databases of which nothing can be published"] += 1
            continue
        found.update(attack(data, published, promise, seed))
        found["databases"] += 1
    return found


def broken(found):
    return {what: number for what, number in found.items() if what.startswith("broken") and number}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_attackers_who_read_the_whole_file_find_nothing(name):
    found = attack_some(name, range(300))
    assert not broken(found)
    assert found["databases"] >= 290


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_attackers_of_three_thousand_databases_find_nothing():
    found = {name: attack_some(name, range(3_100)) for name in METHODS}
    write_figures("generalisation-attackers", {name: dict(each) for name, each in found.items()})
    assert not any(map(broken, found.values()))
    assert all(each["databases"] >= 3_000 for each in found.values())


@pytest.mark.parametrize("name", METHODS)
def test_attackers_find_trees_that_stay_where_they_were(name):
    assert not broken(attack_some(name, SEEDS))
    with changed(Records, "canonical", "codes = self.content_codes()", "return self"):
        assert set(broken(attack_some(name, SEEDS))) == {"broken: a position that content does not give"}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("promise", "size", "finding"),
    [
        (KAnonymity(k=3), (2, None), "broken: fewer trees than promised"),
        (LDiversity(l=2), (2, None), "broken: a value is likelier than promised"),
    ],
    ids=["a member is missing", "values are not looked at"],
)
def test_attackers_find_what_a_method_forgets(name, promise, size, finding, monkeypatch):
    """While the checker of the release looks at nothing."""
    monkeypatch.setattr(type(promise), "verify", lambda *_: Verdict("not at all", {}))
    monkeypatch.setattr(sys.modules[find_method(name).__module__], "class_size", lambda *_: size)
    assert finding in broken(attack_some(name, SEEDS, (promise,)))
