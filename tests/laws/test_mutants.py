"""Planted bugs: each guard has one it must catch, through the same check call as the shipped class.

That the shipped classes and the toys pass this call, for records and persons, is in `test_conformance`.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from toys import MinimumSupport, PassOn, PickAndFlip, TokenTree

from hedgerow import FlatLaplace, PureDP, publisher
from hedgerow.data import Lists
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.kinds.sets.data import Sets
from hedgerow.privacy import Choose, Flip, Guarantee, Laplace, ledger, path_budget, survivors
from hedgerow.testing import changed, check_publisher, mutant

RECORD = PureDP(epsilon=1, unit="record")
PERSON = PureDP(epsilon=1, unit="person")
NAMES = {"np": np, "Fraction": Fraction, "Laplace": Laplace, "Sets": Sets}


def caught(original, old, new, message, guarantee=RECORD, **parameters):
    """The shipped class with one line changed is refused by the same call."""
    broken = mutant(original, old, new, **NAMES)(**parameters)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken, guarantee)


def test_halved_sensitivity_is_caught():
    caught(FlatLaplace, "Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))", "loses 2 between neighbours")


def test_peeking_at_the_longest_record_is_caught():
    old = "cutoff = max(1,"
    new = "cutoff = max(1, *[len(itemset) for itemset, _ in data.itemsets()],"
    caught(FlatLaplace, old, new, "asked differently of a neighbour", threshold=0.0)


def test_pruning_on_exact_counts_is_caught():
    old = "return Sets.from_masks(ids + 1, noisy, data.domain)"
    new = "kept = np.isin(ids + 1, masks); return Sets.from_masks(ids[kept] + 1, noisy[kept], data.domain)"
    caught(FlatLaplace, old, new, "publishes something else of a neighbour", threshold=0.0)


def test_skipping_empty_candidates_is_caught():
    old = "masks, exact = data.histogram()"
    new = "masks, exact = data.histogram(); itemsets = int(masks.max(initial=1))"
    caught(FlatLaplace, old, new, "asked differently of a neighbour")


def test_leaking_a_row_is_caught():
    old = "return Sets.from_masks(ids + 1, noisy, data.domain)"
    new = "return Sets.from_masks(np.append(ids + 1, masks[:1]), np.append(noisy, exact[:1]), data.domain)"
    caught(FlatLaplace, old, new, "publishes something else of a neighbour")


def test_spending_twice_is_caught():
    old = "masks, exact = data.histogram()"
    new = "masks, exact = data.histogram(); ledger.ask(exact.sum()[None], Laplace(l1=1), spend=ledger.budget, label='size')"
    caught(FlatLaplace, old, new, "would spend 1 where 0 of 1 is left")


def test_spending_twice_below_one_node_is_caught():
    old = "tree.close()"
    new = "tree.ask(pairs[:1], Laplace(l1=1), under=tree.root, spend=growth.budget / 3, label='pairs')"
    caught(TokenTree, old, new, "asks twice below the same node")


def test_stopping_on_an_exact_count_is_caught():
    old = "masks, exact = data.histogram()"
    new = "masks, exact = data.histogram(); ledger.note('many', 1) if exact.sum() >= 5 else None"
    caught(FlatLaplace, old, new, "publishes something else of a neighbour")


def test_not_asking_at_all_on_an_exact_count_is_caught():
    old = "held = np.flatnonzero(pairs)"
    new = "held = np.flatnonzero(pairs)\n        if pairs.sum() < 3: return Sets.from_masks(held[:0], held[:0], data.domain)"
    caught(TokenTree, old, new, "was not asked of a neighbour|was asked of a neighbour only")


def test_a_universe_taken_from_the_data_is_caught():
    old = 'itemsets = 2 ** data.domain.size("item") - 1'
    new = "itemsets = 2 ** int(data.histogram()[0].max(initial=1)).bit_length() - 1"
    caught(FlatLaplace, old, new, "asked differently of a neighbour")


def test_a_domain_taken_from_the_data_is_caught():
    old = "noisy, data.domain)"
    new = "noisy, data.domain.with_records_per_person(1 + len(data)))"
    caught(FlatLaplace, old, new, "over a domain that is not the declared one")


def test_original_order_is_caught():
    """The one line that forgets the order, left out."""
    with changed(publisher, "publish_with", "output.canonical()", "output"):
        with pytest.raises(GuaranteeError, match=r"not canonical|depends on the order"):
            check_publisher(PassOn(), MinimumSupport(2))
    merged = "merge_equal(self.starts, self.items, self.weights)"
    with changed(Lists, "canonical", merged, "(self.starts, self.items, self.weights)"):
        with pytest.raises(GuaranteeError, match="depends on the order or the numbers of the input"):
            check_publisher(PassOn(), MinimumSupport(1))


def test_original_id_is_caught():
    """Published under the row number of its first record."""
    with changed(
        Lists,
        "canonical",
        "return replace(self, numbers=numbers,",
        "return self if len(numbers) else replace(self, numbers=numbers,",
    ):
        with pytest.raises(GuaranteeError, match="depends on the order or the numbers of the input"):
            check_publisher(PassOn(), MinimumSupport(1))


def test_a_maximum_of_records_that_is_not_kept_is_caught():
    """All records of a person, where two were declared."""
    old, new = "count_earlier_records(persons) < most", "count_earlier_records(persons) >= 0"
    with changed(Sets, "bounded", old, new), pytest.raises(GuaranteeError, match="loses 3/2"):
        check_publisher(FlatLaplace(), PERSON)


@pytest.mark.parametrize(
    ("owner", "where", "old", "new"),
    [
        (PureDP, "records_per_unit", "data.records_per(self.unit)", "1"),
        (Guarantee, "open", "Fraction(0)) / records, answers, records=records", "Fraction(0)), answers"),
    ],
)
def test_a_person_charged_as_one_record_is_caught(owner, where, old, new):
    """The group privacy of the ledger left out."""
    with changed(owner, where, old, new):
        with pytest.raises(GuaranteeError, match="loses 2 between neighbours"):
            check_publisher(FlatLaplace(), PERSON)


def test_a_ledger_that_does_not_count_is_caught():
    old = "self._spent + spend > self._budget"
    with changed(ledger.Ledger, "_charge", old, "spend > self._budget"):
        twice = mutant(
            FlatLaplace,
            "masks, exact = data.histogram()",
            "masks, exact = data.histogram(); ledger.ask(exact.sum()[None], Laplace(l1=1), spend=ledger.budget, label='size')",
            **NAMES,
        )
        with pytest.raises(GuaranteeError, match=r"loses 2|exceeds the promise"):
            check_publisher(twice(), RECORD)


def test_a_forest_that_does_not_count_is_caught():
    """Without the sum along a path, a branch may spend its whole share at every node."""
    greedy = mutant(TokenTree, "spend=below,", "spend=growth.budget,")
    with pytest.raises(GuaranteeError, match="along a path"):
        check_publisher(greedy(), RECORD)
    with changed(path_budget.PathBudget, "_enter", "most > self._spend", "False"):
        with pytest.raises(GuaranteeError, match=r"loses|more than 0"):
            check_publisher(greedy(), RECORD)


def test_tokens_that_are_not_stretched_are_caught():
    with changed(path_budget.PathBudget, "survivors", "require_known(mechanism).over(self._touches)", "mechanism"):
        with pytest.raises(GuaranteeError, match="loses"):
            check_publisher(TokenTree(), RECORD)


@pytest.mark.parametrize("mechanism", [Choose, Flip])
def test_choices_and_bits_that_are_not_stretched_are_caught(mechanism):
    """A record owns two tokens: priced for one, its choice or its bit costs twice its share."""
    with changed(mechanism, "over", "return replace(self", "return self or replace(self"):
        with pytest.raises(GuaranteeError, match="loses 3/2"):
            check_publisher(PickAndFlip(), RECORD)


def test_a_question_below_other_nodes_is_caught():
    """The same cells, asked below another parent because of the data."""
    old = "tree.left(grown.nodes) / np.where(grown.codes == favourite, 1, 2)"
    new = (
        "tree.left(grown.nodes) / np.where(grown.codes == favourite, 1, 2); "
        "grown = grown._replace(nodes=grown.nodes[::-1] if pairs[0] % 2 else grown.nodes)"
    )
    caught(TokenTree, old, new, "asked differently of a neighbour")


def test_a_method_may_change_its_answers_in_place():
    """The record is a copy: this harmless line is no broken promise."""
    harmless = mutant(FlatLaplace, "return Sets", "noisy += 1; return Sets", **NAMES)
    check_publisher(harmless(), RECORD)


def test_evidence_of_parts_is_in_terms_of_the_unit():
    """A ledger cut in two for a person: the shares still add up to epsilon."""
    from hedgerow.testing import sets_of

    # so many records that a path is asked to its end, whatever the noise
    data = sets_of([[0, 1]] * 4_000, 2)
    release = TokenTree().publish(data, PureDP(epsilon=3, unit="person"), seed=1)
    assert release.evidence.total() == 3


def test_survivors_in_order_of_discovery_are_caught():
    """Real ones first: the replay cannot see it, the test of the order does (`test_survivors`)."""
    from test_survivors import test_the_order_of_survivors_tells_nothing as guard

    with changed(survivors, "_sorted", "order = _order(at, codes)", "order = np.arange(len(at))"):
        with pytest.raises(AssertionError):
            guard()


def test_an_inferred_domain_let_through_is_caught():
    """Inferred domains are narrowed to what is published, which then is not the declared one; and without that, too."""
    from hedgerow.data import Domain

    with changed(Domain, "require_public", "self.source is Source.INFERRED", "False"):
        with pytest.raises(GuaranteeError, match="over a domain that is not the declared one"):
            check_publisher(FlatLaplace(), RECORD)
        with changed(publisher, "publish_with", "data.domain.source is Source.INFERRED", "False"):
            with pytest.raises(GuaranteeError, match="must refuse this with UndeclaredDomain"):
                check_publisher(FlatLaplace(), RECORD)


def test_an_unverified_criterion_is_caught():
    """A method that publishes what breaks the promise gets nothing out."""
    from hedgerow.errors import NotSatisfied
    from hedgerow.testing import sets_of

    data = sets_of([[0], [0], [1]], 2)
    with pytest.raises(NotSatisfied, match="did not keep MinimumSupport \\(1 x rare itemsets\\)"):
        PassOn().publish(data, MinimumSupport(2))
    with changed(publisher, "publish_with", "if checked is not None and not checked.satisfied", "if False"):
        assert not publisher.publish_with(PassOn(), data, MinimumSupport(2), _quiet()).verdict.satisfied


def _quiet():
    from hedgerow.privacy import ExactAnswers

    return ExactAnswers()


def test_an_error_that_the_data_causes_is_caught():
    """A crash on rare data tells that the data is rare."""
    old = "masks, exact = data.histogram()"
    new = "masks, exact = data.histogram(); exact[0]"
    caught(FlatLaplace, old, new, "on 'no records': index 0 is out of bounds")


def test_what_is_rare_and_stands_last_is_caught():
    old = "masks, exact = data.histogram()"
    new = "masks, exact = data.histogram(); ledger.note('rare', int(exact.max(initial=0) >= 11 and (exact == 1).any()))"
    caught(FlatLaplace, old, new, "publishes something else of a neighbour")


def test_what_happens_to_large_counts_only_is_caught():
    old = "return Sets.from_masks(ids + 1, noisy, data.domain)"
    new = (
        "noisy = np.where((noisy >= 20) & np.isin(ids + 1, masks), "
        "exact[np.searchsorted(masks, ids + 1).clip(max=max(0, len(masks) - 1))] "
        "if len(masks) else noisy, noisy); return Sets.from_masks(ids + 1, noisy, data.domain)"
    )
    caught(FlatLaplace, old, new, "publishes something else of a neighbour")


def test_a_swallowed_mismatch_is_caught():
    """A method that catches the refusal of the replay does not get away with it."""
    from hedgerow.audit import Recorder, Replayer
    from hedgerow.privacy import ExactAnswers, Ledger

    recorder = Recorder(ExactAnswers())
    Ledger(Fraction(1), recorder).ask(np.zeros(2, np.int64), Laplace(l1=1), spend=Fraction(1), label="two")
    replayer = Replayer(recorder.transcript, publishable=recorder.publishable)
    with pytest.raises(GuaranteeError, match="asked differently"):
        Ledger(Fraction(1), replayer).ask(np.zeros(3, np.int64), Laplace(l1=1), spend=Fraction(1), label="three")
    with pytest.raises(GuaranteeError, match="asked differently"):
        replayer.finish()


def test_a_warning_that_the_data_causes_is_caught():
    old = "masks, exact = data.histogram()"
    new = "masks, exact = data.histogram(); __import__('warnings').warn(f'{len(masks)} sets')"
    with pytest.warns(UserWarning, match="sets"):
        caught(FlatLaplace, old, new, "warns differently on a neighbour")


def test_shares_that_depend_on_the_data_are_caught():
    old = "spend=tree.left(leaves.nodes[again])"
    new = "spend=tree.left(leaves.nodes[again]) / (1 + tokens[items[again]] % 2)"
    caught(TokenTree, old, new, "asked differently of a neighbour")


def test_a_note_without_a_budget_is_caught():
    caught(
        PassOn,
        "del ledger",
        "ledger.note('records', len(data))",
        "no noisy answers to note",
        MinimumSupport(1),
    )


def test_a_method_that_releases_nothing_was_not_checked():
    with pytest.raises(GuaranteeError, match="released 1 of the edge cases"):
        check_publisher(PassOn(), MinimumSupport(10**6))


def test_owned_rows_are_single_records():
    from dataclasses import replace as swap

    from hedgerow.errors import InternalError
    from hedgerow.testing import sets_of

    data = sets_of([[0], [1]], 2)
    heavy = swap(data, weights=data.weights * 5)
    with pytest.raises(InternalError, match="a row with an owner must be one record"):
        heavy.bounded("person")


def test_a_mutant_changes_one_place():
    with pytest.raises(ParameterError, match="occurs 0 times"):
        mutant(FlatLaplace, "no such line", "")


def counted():
    return listed() + 1


def listed():
    return 1


def test_mutants_of_one_module_see_each_other_and_are_taken_back():
    """One of them calls the other; one is changed a second time; each context ends with what was there before."""
    here = sys.modules[__name__]
    first = here.listed
    with changed(here, "listed", "1", "10"):
        assert counted() == 11
        with changed(here, "counted", "+ 1", "+ more", more=5):
            assert here.counted() == 15
            with changed(here, "listed", "10", "100"), changed(here, "counted", "+ more", "- more", more=5):
                assert here.counted() == 95
            assert here.counted() == 15
        assert here.counted() == 11
    assert here.listed is first
    assert here.counted() == 2
