"""Small forests of nested records, and an auditor that is slow and plain: it follows the definitions word by word."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from dataclasses import replace

from hedgerow.data import Domain
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.schema import RecordSchema, VertexType


def forest(*trees, buckets=None):
    """Make records of trees `(type, labels, sensitive, children)`, over the schema and the values that occur in them.

    `buckets` may give the groups of sensitive values by type, each value of one with its group.
    """
    parents, labels, values = {}, defaultdict(lambda: defaultdict(set)), defaultdict(set)

    def look(tree, parent):
        name, own, sensitive, children = tree
        assert parents.setdefault(name, parent) == parent
        for place, label in enumerate(own):
            labels[name][f"q{place}"].add(str(label))
        values[name] |= {sensitive} - {None}
        for child in children:
            look(child, name)

    for tree in trees:
        look(tree, None)
    kinds = [VertexType(name, parent, tuple(labels[name]), "s") for name, parent in parents.items()]
    quasi = {f"{name}.{place}": sorted(seen) for name, places in labels.items() for place, seen in places.items()}
    domain = Domain.declare(**quasi, **{f"{name}.s": sorted(values[name] or {"none"}) for name in parents})
    for name, groups in (buckets or {}).items():
        domain = domain.with_paths(f"{name}.s", [[groups[value]] for value in domain.values(f"{name}.s")])
    return Records.from_trees(trees, RecordSchema(tuple(kinds)), domain)


def with_tables(data, number, **columns):
    """The same records with columns of one table replaced, sound or not."""
    table = data.tables[number]
    changed = type(table)(
        *(columns.get(name, column) for name, column in zip(table._fields, tuple(table), strict=True))
    )
    return replace(data, tables=(*data.tables[:number], changed, *data.tables[number + 1 :]))


def shuffled(trees, draw):
    """The same trees with records and siblings in another order."""
    mixed = [(name, labels, sensitive, shuffled(below, draw)) for name, labels, sensitive, below in trees]
    draw.shuffle(mixed)
    return mixed


# ---- the definitions


def form(tree):
    """What labels and shape say about a tree."""
    name, labels, sensitive, children = tree
    return (name, tuple(map(str, labels)), sensitive is not None, tuple(sorted(map(form, children))))


def classes(trees):
    """The trees that look alike, by their form."""
    grouped = defaultdict(list)
    for tree in trees:
        grouped[form(tree)].append(tree)
    return list(grouped.values())


def orbits(members):
    """List the vertices of each orbit, top-down: those of all members together."""
    level, listed = [members], []
    while level:
        listed += level
        below = []
        for orbit in level:
            grouped = defaultdict(list)
            for vertex in orbit:
                for child in vertex[3]:
                    grouped[form(child)].append(child)
            below += grouped.values()
        level = below
    return listed


def breaks_limit(orbit, members, l):  # noqa: E741 - the letter of the paper
    """Whether a value of an orbit is too frequent."""
    times, rest = divmod(len(orbit), members)
    assert rest == 0
    counts = Counter(vertex[2] for vertex in orbit if vertex[2] is not None)
    return max(counts.values(), default=0) > times * (members // l)


def count_by_definition(trees, l):  # noqa: E741 - the letter of the paper
    """The records in small classes, and the positions with a value that is too frequent in other classes, by type."""
    counts = Counter()
    for members in classes(trees):
        if len(members) < l:
            counts["records"] += len(members)
            continue
        for orbit in orbits(members):
            counts[orbit[0][0]] += breaks_limit(orbit, len(members), l)
    return +counts


def readings(tree):
    """The sensitive values of a tree as lists, one per way to map its vertices to a tree of the same form."""
    _, _, sensitive, children = tree
    alike = defaultdict(list)
    for child in children:
        alike[form(child)].append(readings(child))
    ways = [
        {sum(choice, ()) for order in itertools.permutations(group) for choice in itertools.product(*order)}
        for _, group in sorted(alike.items())
    ]
    return {sum(parts, (sensitive,)) for parts in itertools.product(*ways)}


def has_diverse_mappings(members, l):  # noqa: E741 - the letter of the paper
    """Whether trees of one form can be mapped to each other such that the values of each vertex are diverse."""
    most = len(members) // l

    def extend(lists, rest):
        if not rest:
            return True
        for reading in rest[0]:
            extended = [(*seen, value) for seen, value in zip(lists, reading, strict=True)]
            within = (value is None or extended[n].count(value) <= most for n, value in enumerate(reading))
            if all(within) and extend(extended, rest[1:]):
                return True
        return False

    first, *rest = [sorted(readings(member), key=str) for member in members]
    return extend([(value,) for value in first[0]], rest) if most else False


# ---- releases


def draw_tree(draw, depth=2):
    """A random tree without sensitive values: `None` where there is one."""

    def below(level):
        name = "rcb"[level]
        children = [] if level == depth else [below(level + 1) for _ in range(draw.choice((0, 1, 1, 2, 3)))]
        return (name, [draw.choice("xy")], "?", children)

    return below(0)


def fill(tree, values):
    """The tree with sensitive values taken one by one."""
    name, labels, _, children = tree
    return (name, labels, next(values), [fill(child, values) for child in children])


def diverse_release(draw, l, groups=3):  # noqa: E741 - the letter of the paper
    """Classes of l records with distinct values at every position; no two classes look alike."""
    trees, seen = [], set()
    while len(seen) < groups:
        shape = draw_tree(draw)
        if form(shape) in seen:
            continue
        seen.add(form(shape))
        size = sum(1 for _ in vertices(shape))
        lists = [draw.sample(range(100), l) for _ in range(size)]
        trees += [fill(shape, iter([values[member] for values in lists])) for member in range(l)]
    return trees


def vertices(tree, path=()):
    """Each vertex of a tree with its path: the places of the children that lead to it."""
    yield path, tree
    for place, child in enumerate(tree[3]):
        yield from vertices(child, (*path, place))


def changed_at(tree, path, change):
    """The tree with the vertex at a path changed."""
    if not path:
        return change(tree)
    name, labels, sensitive, children = tree
    place, *rest = path
    below = [changed_at(child, rest, change) if n == place else child for n, child in enumerate(children)]
    return (name, labels, sensitive, below)


def draw_from(seed):
    """A source of random choices."""
    return random.Random(seed)
