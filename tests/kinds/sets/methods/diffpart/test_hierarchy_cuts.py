"""Taxonomies and the cuts of partitions: sizes, numbers, and that every code is one mask."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import VECTORS

from hedgerow import Domain
from hedgerow.data import Taxonomy
from hedgerow.errors import DomainError
from hedgerow.kinds.sets.methods.diffpart.model import HierarchyCuts, SubPartitions

VECTOR = json.loads((VECTORS / "diffpart.json").read_text())


@pytest.mark.parametrize(("items", "fanout", "inner", "height"), VECTOR["trees"]["rows"])
def test_trees_have_the_printed_sizes(items, fanout, inner, height):
    tree = Taxonomy.by_fanout(items, fanout)
    assert (tree.inner, tree.internal[tree.root], tree.height[tree.root]) == (inner, inner, height)
    assert inner >= (items - 1) / (fanout - 1)


@given(st.integers(1, 60), st.integers(2, 12))
def test_a_tree_covers_every_item_once(items, fanout):
    tree = Taxonomy.by_fanout(items, fanout)
    assert all(2 <= len(group) <= fanout for group in tree.children)
    children = sorted(child for group in tree.children for child in group)
    assert children == list(range(tree.size - 1))
    assert tree.position.tolist() == list(range(items))  # the public order is kept


def test_declared_paths_make_a_tree_without_unary_nodes():
    domain = Domain.declare(item=["brie", "milk", "tea", "rye", "wine"])
    dairy, drinks = ("food", "dairy"), ("drinks",)
    paths_ = (dairy, dairy, drinks, ("food", "bakery", "bread"), drinks)
    tree = domain.with_paths("item", paths_).taxonomy("item", 10, declared=True)
    # food -> (dairy -> brie, milk; rye), drinks -> tea, wine: bakery and bread decide nothing
    assert tree.children == ((0, 1), (2, 4), (5, 3), (7, 6))
    first, end = tree.span
    for number, group in enumerate(tree.children):
        node = tree.leaves + number
        assert end[node] - first[node] == sum(end[child] - first[child] for child in group)
    wide = Taxonomy.from_paths([("all",)] * 23, 4)
    assert wide.width.max() == 4
    with pytest.raises(DomainError, match="has no declared paths"):
        domain.taxonomy("item", 4, declared=True)
    with pytest.raises(DomainError, match="5 values needs as many paths; got 2"):
        domain.with_paths("item", paths_[:2])


@given(st.integers(2, 40), st.integers(2, 7), st.integers(0, 2**32))
def test_every_sub_partition_has_one_number(items, fanout, seed):
    """Together 2**l - 1 per split, never 2**l, and codes and masks are one to one."""
    tree = Taxonomy.by_fanout(items, fanout)
    draw = np.random.default_rng(seed)
    cuts = HierarchyCuts.whole(tree)
    for _ in range(3):
        candidates = SubPartitions.of(cuts)
        totals = np.bincount(candidates.parent, candidates.candidates, len(cuts))
        assert totals.tolist() == (2.0 ** tree.width[cuts.split] - 1).tolist()
        family = np.repeat(np.arange(len(candidates.parent)), np.minimum(candidates.candidates, 200))
        code = np.concatenate([np.arange(min(size, 200)) for size in candidates.candidates.tolist()])
        parent, masks = candidates.parent[family], candidates.masks(family, code)
        at, again = candidates.locate(parent, masks)
        assert (at.tolist(), again.tolist()) == (family.tolist(), code.tolist())
        assert ((cuts.grow(parent, masks).inner_left == 0) == candidates.leaf[family]).all()
        live = np.flatnonzero(~candidates.leaf[family])
        if len(live) == 0:
            return
        live = np.sort(draw.choice(live, min(5, len(live)), replace=False))
        cuts = cuts.grow(parent[live], masks[live])


@given(st.integers(2, 60), st.integers(2, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_every_split_takes_one_from_the_splits_left(items, fanout, longest, seed):
    """The bound for records of few items: never below what a record needs, one less per split."""
    tree = Taxonomy.by_fanout(items, fanout)
    draw = np.random.default_rng(seed)
    record = np.sort(draw.choice(items, min(items, longest), replace=False))
    first, end = tree.span
    cuts, splits, left = HierarchyCuts.whole(tree), 0, [int(HierarchyCuts.whole(tree).splits_left(longest)[0])]
    while cuts.split[0] >= tree.leaves:
        children = tree.children[cuts.split[0] - tree.leaves]
        mask = sum(1 << s for s, c in enumerate(children) if ((first[c] <= record) & (record < end[c])).any())
        cuts = cuts.grow(np.zeros(1, np.int64), np.array([mask]))
        splits += 1
        left.append(int(cuts.splits_left(longest)[0]))
    assert sorted(cuts.nodes.tolist()) == record.tolist()
    assert all(later <= before - 1 for before, later in itertools.pairwise(left))
    assert splits <= left[0] <= tree.inner
