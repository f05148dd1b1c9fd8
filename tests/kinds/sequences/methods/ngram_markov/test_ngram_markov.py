"""ngram-markov: what is written fits the counts, and keeps the promise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, PureDP, Sequences
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.kinds.sequences.methods.ngram.publisher import Exploration
from hedgerow.kinds.sequences.methods.ngram_markov.publisher import NGramMarkov
from hedgerow.testing import changed, check_publisher, mutant

SEQUENCE = PureDP(epsilon=1, unit="sequence")
BALANCE = pytest.mark.parametrize("balance", [True, False])


def data_of(records, items):
    return Sequences.from_records(records, domain=Domain.declare(item=items))


PAPER = data_of([[2, 3, 1], [2, 3], [3, 2], [2, 3, 1], [3, 2, 1], [2, 3, 1, 2, 3], [3, 2], [3, 1, 2, 3]], [1, 2, 3])


@BALANCE
def test_no_gram_and_no_sequence_is_longer_than_sequences_are(balance):
    for longest in (1, 2):
        method = NGramMarkov(l_max=longest, n_max=longest + 1, balance=balance)
        release = method.publish(PAPER, PureDP(epsilon=0.5, unit="sequence"), seed=4)
        assert max(map(len, release.data.records()), default=0) <= longest
        assert all(len(gram) <= longest for gram, _, _ in release.outputs["ngrams"].grams())


@BALANCE
def test_single_items_are_written(balance):
    method = NGramMarkov(l_max=5, n_max=1, balance=balance)
    assert len(method.publish(PAPER, PureDP(epsilon=50, unit="sequence"), seed=1).data)


@BALANCE
@given(data=st.data())
@settings(max_examples=60)
def test_what_is_written_fits(balance, data):
    """Lengths, items and, with balance, the number of sequences are as they must be."""
    records = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), max_size=60))
    method = NGramMarkov(l_max=4, n_max=3, balance=balance)
    promise = PureDP(epsilon=20, unit="sequence")
    release = method.publish(data_of(records, range(3)), promise, seed=data.draw(st.integers(0, 99)))
    lengths = [len(record) for record in release.data.records()]
    assert all(1 <= length <= 4 for length in lengths)
    grams = release.outputs["ngrams"].grams()
    assert all(count >= 1 and 1 <= len(gram) <= 3 for gram, _, count in grams)
    items = sum(count for gram, ends, count in grams if len(gram) == 1 and not ends)
    if balance:
        assert items / 4 - 1 <= len(lengths) <= items + 1


def test_bad_parameters():
    for name, value in (("l_max", 0), ("n_max", 0), ("budget", "x"), ("balance", 1)):
        with pytest.raises(ParameterError, match=f"NGramMarkov.{name} must be"):
            NGramMarkov(**{name: value})


def test_every_way_to_run_keeps_the_promise():
    check_publisher(NGramMarkov(budget="uniform", balance=False), SEQUENCE)


def test_the_number_of_sequences_taken_from_the_data_is_caught():
    old = "row=row, item=item, domain=data.domain"
    new = "row=row[row < len(data)], item=item[row < len(data)], domain=data.domain"
    with pytest.raises(GuaranteeError, match="publishes something else of a neighbour"):
        check_publisher(mutant(NGramMarkov, old, new)(balance=False), SEQUENCE)


def test_coins_that_depend_on_the_data_are_caught():
    old, new = "self.write(tree, ledger.coins())", "self.write(tree, np.random.default_rng(len(data)))"
    with pytest.raises(GuaranteeError, match="publishes something else of a neighbour"):
        check_publisher(mutant(NGramMarkov, old, new)(), SEQUENCE)


def test_more_positions_than_tokens_are_caught():
    with changed(Exploration, "explore", "data.positions(self.l_max)", "data.positions(99)"):
        with pytest.raises(GuaranteeError, match=r"loses .* between neighbours"):
            check_publisher(NGramMarkov(l_max=4), SEQUENCE)
