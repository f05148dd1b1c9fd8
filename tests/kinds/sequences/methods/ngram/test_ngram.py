"""Variable-length n-grams: the paper's example, step by step, and what its printing got wrong."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import VECTORS

from hedgerow import PureDP
from hedgerow.data import Domain
from hedgerow.errors import DomainError, ParameterError
from hedgerow.frontiers import NextSymbol
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sequences.methods.ngram import draw
from hedgerow.kinds.sequences.methods.ngram.draw import Grams, extend, integer_grams
from hedgerow.kinds.sequences.methods.ngram.model import ExplorationTree, fill_missing
from hedgerow.kinds.sequences.methods.ngram.publisher import Exploration, NGram, _LiveGrams
from hedgerow.privacy.questions import CellQuestion, ExactAnswers, NoisyAnswers, ThresholdQuestion
from hedgerow.privacy.shares import Shares
from hedgerow.testing import changed

VECTOR = json.loads((VECTORS / "ngram.json").read_text())
RECORDS = [[int(item) for item in text] for text in VECTOR["records"]]
UNIT = PureDP(epsilon=1, unit="sequence")
END = "&"


def data_of(records, items):
    return Sequences.from_records(records, domain=Domain.declare(item=items))


PAPER = data_of(RECORDS, [1, 2, 3])
PLAIN = Exploration(20, 5, adaptive=True, fill="markov")


class AtThree(Exploration):
    """The example of the paper tests with a threshold of 3 throughout."""

    def _cutoff(self, share, size):
        del size
        return np.full(len(share), 3)


class Heard(ExactAnswers):
    """Answers with noise that was made up, and remembers what each context spent."""

    def __init__(self, noise=()):
        self.noise = dict(noise)
        self.names = {}
        self.shares = {}

    def answer(self, question):
        if isinstance(question, CellQuestion):
            labels = list("123")
            self.shares["root"] = question.shares.fractions()[0]
            noisy = question.exact + [self.noise.get(label, 0) for label in labels]
            self.names = {int(node) + 1: label for node, label in enumerate(labels)}
            self.next = 4
            return noisy
        assert isinstance(question, ThresholdQuestion)
        contexts = [self.names[int(node)] for node in question.under]
        for name, share in zip(contexts, question.shares.fractions(), strict=True):
            self.shares[name] = share
        exact = {
            (int(at), int(code)): int(count)
            for at, code, count in zip(question.families.at, question.families.codes, question.exact, strict=True)
        }
        passed = []
        for at, name in enumerate(contexts):
            for code, label in enumerate("123" + END):
                count = exact.get((at, code), 0) + self.noise.get(name + label, 0)
                if count >= question.families.cutoffs[at]:
                    passed.append((at, code, count))
                    self.names[self.next] = name + label
                    self.next += 1
        columns = np.array(passed, np.int64).reshape(-1, 3).T
        return type(question.answer_exactly())(*columns)


def explored(n_max, noise=()):
    heard = Heard(noise)
    exploration = AtThree(l_max=5, n_max=n_max, adaptive=True, fill="markov")
    return exploration.explore(PAPER, UNIT.open(PAPER, heard)), heard


def named(tree, context):
    return "".join(str(item + 1) for item in tree.items(context))


def rows_of(tree):
    return {
        named(tree, context): np.round(tree.counts[context], 4).tolist()
        for context in range(1, len(tree))
        if tree.known[context]
    }


#: copies of a gram that are taken off: as shipped, and two readings of the printed rule
RULES = {"clip": "min(rest, most)", "skip": "rest if most >= rest else 0", "literal": "rest"}


def peeled(levels, rule):
    with changed(draw, "extract_sequences", "min(rest, most)", RULES[rule]):
        return dict(draw.extract_sequences(levels, 3))


def written(tree, rule, longest=5):
    sequences = peeled(extend(integer_grams(tree), 3, longest), rule)
    return {"".join(str(item + 1) for item in gram): copies for gram, copies in sequences.items()}


# ---- the sample database


def test_grams_are_counted_by_occurrence_with_an_end():
    counted = PAPER.positions(20).count(NextSymbol(3))
    assert {str(code + 1): n for code, n in zip(counted.codes, counted.counts, strict=True)} == (VECTOR["unigrams"])
    pairs = counted.move(np.zeros(3, np.int64), np.arange(3)).count(NextSymbol(3))
    counts = {f"{at + 1}{'123&'[code]}": n for at, code, n in zip(pairs.cells, pairs.codes, pairs.counts, strict=True)}
    assert counts == VECTOR["bigrams"]


@pytest.mark.parametrize("n_max", [3, 5])
def test_a_run_without_noise(n_max):
    tree, heard = explored(n_max)
    assert rows_of(tree) == VECTOR["without noise"]
    unknown = [named(tree, x) for x in range(1, len(tree)) if not tree.known[x]]
    assert unknown == VECTOR["leaves"]
    assert heard.shares == {k: Fraction(v) for k, v in VECTOR["shares"][str(n_max)].items()}
    assert written(tree, "clip") == written(tree, "skip") == VECTOR["clip"]
    assert written(tree, "literal") == VECTOR["literal"]


def test_a_run_with_the_noise_of_the_example():
    tree, heard = explored(5, VECTOR["noise"])
    assert tree.counts[0, :3].tolist() == [4, 10, 9]
    assert rows_of(tree) == VECTOR["with noise"]
    shares = {k: Fraction(v) for k, v in VECTOR["shares with noise"].items()}
    assert heard.shares == {"root": Fraction(1, 5), **shares}
    assert written(tree, "clip") == written(tree, "skip") == VECTOR["clip with noise"]


def test_the_markov_parent_is_the_longest_known_suffix():
    tree, _ = explored(5)
    contexts = {named(tree, x): x for x in range(len(tree))}
    new = tree.add(np.array([contexts["23"]]), np.array([0]))
    assert named(tree, int(tree.link[new[0]])) == "31"
    assert named(tree, int(tree.nearest_known(new)[0])) == "1"  # 31 is not known


@pytest.mark.parametrize("row", VECTOR["heights"])
def test_heights(row):
    likely, threshold, count, most, height = row
    # single items say how likely the likeliest item is
    whole = int(1 / likely)
    tree = ExplorationTree(np.array([likely] * whole + [1 - whole * likely]))
    contexts = tree.add(np.zeros(1, np.int64), np.zeros(1, np.int64))
    live = _LiveGrams(*np.zeros((3, 1), np.int64), np.array([count]), np.array([threshold]))
    exploration = Exploration(20, most + 1, adaptive=True, fill="markov")
    assert exploration._heights(tree, contexts, live, 1).tolist() == [height]


@pytest.mark.parametrize("row", VECTOR["thresholds"])
def test_thresholds_let_about_one_empty_continuation_pass(row):
    size, cutoff, expected = row
    least = int(PLAIN._cutoff(Shares.of([Fraction(1, 5)]), size)[0])
    rate = 0.2 / 20
    assert least == cutoff
    assert size * np.exp(-rate * least) / (1 + np.exp(-rate)) == pytest.approx(expected, abs=1e-4)


def test_small_universes_have_a_threshold():
    """The logarithm of one or two is no threshold: they are taken for three."""
    cutoffs = {size: PLAIN._cutoff(Shares.of([Fraction(1)]), size)[0] for size in (1, 2, 3, 4)}
    assert cutoffs[1] == cutoffs[2] == cutoffs[3] < cutoffs[4]
    assert cutoffs[3] == np.ceil(20 * np.log(3 / (1 + np.exp(-1 / 20))))


# ---- consistency


def test_consistency_of_the_example():
    """Parent 4; 1, 2 and the end pass, 3 is missing; after item 1 alone only the end is known."""
    tree = ExplorationTree(np.array([4.0, 10.0, 9.0]))
    tree.add(np.zeros(3, np.int64), np.arange(3))
    tree.counts[1], tree.known[1] = [0, 0, 0, 4], True
    tree.counts[2], tree.known[2] = [1, 1, 6, 2], True
    tree.counts[3], tree.known[3] = [4, 3, 1, 1], True
    (context,) = tree.add(np.array([3]), np.array([0]))
    passed = np.array([[True, True, False, True]])
    fill_missing(tree, np.array([context]), np.array([[2.1, 4, 0, 1.9]]), passed, "markov")
    assert np.round(tree.counts[context], 2).tolist() == [1.05, 2.0, 0.0, 0.95]


@pytest.mark.parametrize("rule", ["markov", "backoff", "nothing"])
@given(data=st.data())
@settings(max_examples=60)
def test_what_follows_adds_up(rule, data):
    """After filling, the counts of a known context add up to it, and none is negative."""
    sizes = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40)
    private = data_of(data.draw(sizes), range(3))
    exploration = Exploration(4, 4, adaptive=True, fill=rule, leaf_threshold=data.draw(st.booleans()))
    ledger = PureDP(epsilon=40, unit="sequence").open(private, NoisyAnswers(data.draw(st.integers(0, 99))))
    tree = exploration.explore(private, ledger)
    assert np.all(tree.counts >= 0)
    known = np.flatnonzero(tree.known)[1:]
    assert np.allclose(tree.counts[known].sum(axis=1), tree.occurs[known])


# ---- joining and publishing


def test_joining_of_the_example():
    """c(231) = 4, c(312) = 2, c(311) = 1, c(31&) = 1, c(31) = 4: 2312 twice, 2311 and 231& once."""
    one = Grams(np.zeros(3, np.int64), np.full(3, -1), np.arange(3), np.array([9, 9, 9]))
    two = Grams(np.array([1, 2]), np.array([2, 0]), np.array([2, 0]), np.array([6, 4]))
    suffix = np.array([1, -1, -1, -1])
    three = Grams(np.array([0, 1, 1, 1]), suffix, np.array([0, 0, 1, 3]), np.array([4, 1, 2, 1]))
    four = extend([one, two, three], 3, 9)
    assert len(four) == 4
    assert four[3].label.tolist() == [0, 1, 3]
    assert four[3].count.tolist() == [1, 2, 1]


def exact_grams(records, longest):
    """The exact grams of a database, as levels."""
    counts = Counter(
        tuple(record[i:j]) for record in records for i in range(len(record)) for j in range(i + 1, len(record) + 1)
    )
    levels, numbers = [], [{(): 0}]
    for length in range(1, longest + 1):
        grams = sorted(gram for gram in counts if len(gram) == length)
        suffix = [numbers[-1].get(gram[1:], -1) if length > 1 else -1 for gram in grams]
        levels.append(
            Grams(
                np.array([numbers[-1][gram[:-1]] for gram in grams], np.int64),
                np.array(suffix, np.int64),
                np.array([gram[-1] for gram in grams], np.int64),
                np.array([counts[gram] for gram in grams], np.int64),
            )
        )
        numbers.append({gram: number for number, gram in enumerate(grams)})
    return [level for level in levels if len(level.count)]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=12))
@settings(max_examples=100)
def test_exact_grams_of_all_lengths_are_the_database(records):
    levels = exact_grams(records, 5)
    expected = Counter(map(tuple, records))
    assert Counter(dict(draw.extract_sequences(levels, 3))) == expected


# ---- the promise


def test_e1_a_height_below_one_would_overspend():
    """As printed, node 1 of the example gets 0.8 / 0.345 = 2.32 times the budget."""
    height = np.log(3 / 4) / np.log(10 / 23)
    assert 0.8 / height == pytest.approx(2.32, abs=0.01)
    exploration = AtThree(5, 5, adaptive=True, fill="backoff")
    # a height of 0 is no divisor of a budget, and the ledger would refuse anything beyond it
    with changed(Exploration, "_heights", "np.clip(np.ceil(on_count_grid(levels)), 1, most)", "np.floor(levels)"):
        with pytest.raises(ParameterError, match="divided by positive whole numbers"):
            exploration.explore(PAPER, UNIT.open(PAPER, Heard(VECTOR["noise"])))


def moved(record, longest, size):
    """How much one sequence moves the counts of each level, as the method counts them."""
    counted = data_of([list(record)], range(size)).positions(longest).count(NextSymbol(size))
    totals = [int(counted.counts.sum())]
    while True:
        inner = counted.codes < size
        if not inner.any():
            return totals
        cells = counted.cells[inner]
        counted = counted.move(cells, counted.codes[inner]).count(NextSymbol(size))
        totals.append(int(counted.counts.sum()))


def test_sensitivity_by_brute_force():
    """The largest change of any level, ends included: 4, 4, 3, 2 for two items and l_max 4.

    At the first level there is no end (E3): with it the change would be 5, more than declared.
    """
    largest = np.zeros(5, np.int64)
    for length in range(1, 7):
        for record in itertools.product(range(2), repeat=length):
            levels = moved(record, 4, 2)
            largest[: len(levels)] = np.maximum(largest[: len(levels)], levels)
    assert largest[:4].tolist() == [4, 4, 3, 2]


# ---- parameters and bad input


def test_bad_parameters():
    for name, value in (("l_max", 0), ("n_max", 0), ("budget", "x"), ("fill", "y")):
        with pytest.raises(ParameterError, match=f"NGram.{name} must be"):
            NGram(**{name: value})


def test_grams_longer_than_sequences_are_warned_of():
    with pytest.warns(UserWarning, match="n_max is too large"):
        NGram(l_max=2, n_max=4).publish(PAPER, UNIT, seed=1)


def test_noise_beyond_reason_is_refused_before_anything_is_asked():
    with pytest.raises(ParameterError, match="take a larger epsilon"):
        NGram().publish(PAPER, PureDP(epsilon="1e-9", unit="sequence"))


def test_no_gram_and_no_sequence_is_longer_than_sequences_are():
    for longest in (1, 2):
        method = NGram(l_max=longest, n_max=longest + 1)
        release = method.publish(PAPER, PureDP(epsilon=0.5, unit="sequence"), seed=4)
        assert max(map(len, release.data.records()), default=0) <= longest
        assert all(len(gram) <= longest for gram, _, _ in release.outputs["ngrams"].grams())


def test_single_items_are_written():
    assert len(NGram(l_max=5, n_max=1).publish(PAPER, PureDP(epsilon=50, unit="sequence"), seed=1).data)


def test_unknown_items_are_refused_or_dropped_before_sequences_are_cut():
    domain = Domain.declare(item=[1, 2])
    with pytest.raises(DomainError, match="record 1 holds an item that is not in the domain"):
        Sequences.from_records([[1, 3, 2]], domain=domain)
    data = Sequences.from_records([[3, 1, 3, 2], [3]], domain=domain, on_unknown="drop", on_empty="drop")
    assert data.truncated(2).distinct_records() == [((1, 2), 1)]


@given(data=st.data())
@settings(max_examples=60)
def test_what_is_written_fits(data):
    """Lengths and items are as they must be."""
    sizes = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), max_size=60)
    private = data_of(data.draw(sizes), range(3))
    method = NGram(l_max=4, n_max=3, fill=data.draw(st.sampled_from(["markov", "backoff"])))
    seed = data.draw(st.integers(0, 99))
    release = method.publish(private, PureDP(epsilon=20, unit="sequence"), seed=seed)
    lengths = [len(record) for record in release.data.records()]
    assert all(1 <= length <= 4 for length in lengths)
    grams = release.outputs["ngrams"].grams()
    assert all(count >= 1 and 1 <= len(gram) <= 3 for gram, _, count in grams)
    items = sum(count for gram, ends, count in grams if len(gram) == 1 and not ends)
    assert sum(lengths) <= items
