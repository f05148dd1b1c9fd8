"""(K,C)_L-privacy: what a release tells beyond its promise, and what must not decide it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kcl_cases import databases, promise_for, trajectories

from hedgerow.evaluate import evaluate
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.generated_walks import Walks, walks
from hedgerow.kinds.trajectories.methods import kcl_reinsertion as reinsertion
from hedgerow.kinds.trajectories.methods.kcl import METRICS, LocalSuppression
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import SuppressionWithReinsertion
from hedgerow.kinds.trajectories.record_linkage import Visits, _InformedAttacker, truly_beyond

WAYS = [
    *(LocalSuppression(mode=mode, metric=metric, k_prime=2) for mode in ("local", "global") for metric in METRICS),
    *(
        SuppressionWithReinsertion(schedule=schedule, metric=metric, k_prime=2)
        for schedule in ("auto", "batch", "grow")
        for metric in METRICS
    ),
]


# ---- a visit at the limit C does not tell that its true share is beyond


def told_by(release, data, promise):
    """Whether visits at the limit are truly beyond it, and others."""
    visits = Visits.of(data, data), Visits.of(release.data, data)
    return truly_beyond(*visits, promise.sensitive, promise.c)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["auto", "grow"])
@pytest.mark.parametrize(("k", "known", "c"), [(5, 3, "21%"), (10, 2, "22%")])
def test_a_visit_at_the_limit_tells_no_more_than_in_a_release_blind_to_values(schedule, k, known, c):
    """Chance puts visits from beyond C at the limit; choosing records by their value puts more."""
    data = walks(Walks(10_000, 60, 24))
    method, sensitive = SuppressionWithReinsertion(schedule=schedule), [("diagnosis", "HIV")]
    told = {}
    for name, promise in {
        "ours": KCL(k=k, l=known, c=c, sensitive=sensitive),
        "blind": KCL(k=k, l=known),
    }.items():
        release = method.publish(data, promise)
        told[name], _ = told_by(release, data, KCL(k=k, l=known, c=c, sensitive=sensitive))
    assert all(len(flags) > 50 for flags in told.values())
    assert told["ours"].mean() <= told["blind"].mean()


def single_visits():
    """Make records of one visit each, at 200 places of five to forty people; a quarter is ill."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(5, 40, 200).tolist()
    visits = [[(place, 1)] for place, size in enumerate(sizes) for _ in range(size)]
    ill = ["x" if draw < 0.25 else "y" for draw in rng.random(len(visits)).tolist()]
    return sizes, Trajectories.from_records(visits, sensitive={"diagnosis": ill})


ONE_VISIT = KCL(k=5, l=1, c="30%", sensitive=["diagnosis=x"])


def test_a_visit_is_reinserted_in_all_records_or_in_none():
    sizes, data = single_visits()
    release = SuppressionWithReinsertion().publish(data, ONE_VISIT)
    at, others = told_by(release, data, ONE_VISIT)
    assert len(at) > 10
    assert not at.any()
    assert not others.any()
    kept, counts = np.unique(release.data.arrays()[1], return_counts=True)
    assert counts.tolist() == [sizes[int(place)] for place, _ in release.data.decode_pairs(kept)]


def test_leaving_out_one_holder_of_a_value_at_a_time_is_noticed(monkeypatch):
    """The planted bug keeps the promise, and tells: what is at the limit comes from beyond."""
    whole = reinsertion._violating

    def one_at_a_time(sequences, inserted, kept, units, limits):
        drop = whole(sequences, inserted, kept, units, limits)
        marked = np.flatnonzero(drop & units.flags.any(axis=0))
        return np.isin(np.arange(len(drop)), marked[:1]) if len(marked) else drop

    monkeypatch.setattr(reinsertion, "_violating", one_at_a_time)
    _, data = single_visits()
    release = SuppressionWithReinsertion().publish(data, ONE_VISIT)
    assert release.verdict.satisfied
    at, others = told_by(release, data, ONE_VISIT)
    assert at.mean() > 0.5
    assert not others.any()


@given(databases(), st.sampled_from(WAYS))
@settings(max_examples=500)
@pytest.mark.filterwarnings("ignore")
def test_records_with_equal_visits_fare_equally(database, way):
    """Neither a sensitive value nor a place in the file decides who loses a visit."""
    sets, flags, *_ = database
    promise = promise_for(database)
    left = {frozenset(record): set() for record in sets}
    # each value as often as it is, in other records of equal visits too: told apart by a column
    data = trajectories(sets, flags)
    named = Trajectories.from_records(
        [[("here", pair) for pair in sorted(record)] for record in sets],
        sensitive={
            "number": [str(number) for number in range(len(sets))],
            **{name: _values(data, name) for name in data.sensitive},
        },
    )
    release = way.publish(named, promise)
    for visits, known in release.data.records():
        left[frozenset(sets[int(known[0])])].add(visits)
    assert all(len(results) == 1 for results in left.values())


def _values(data, name):
    values, (_, _, traits) = data.domain.values(name), data.arrays()
    return [None if code < 0 else values[code] for code in traits[name].tolist()]


@given(databases(), st.sampled_from(WAYS), st.randoms(use_true_random=False))
@settings(max_examples=150)
@pytest.mark.filterwarnings("ignore")
def test_the_order_of_records_changes_nothing(database, way, random):
    sets, flags, *_ = database
    promise = promise_for(database)
    order = random.sample(range(len(sets)), len(sets))
    other = [sets[row] for row in order], [[flag[row] for row in order] for flag in flags]
    first, second = (way.publish(trajectories(*some), promise).data.records() for some in ((sets, flags), other))
    assert first == second


@pytest.mark.parametrize("schedule", ["auto", "grow"])
def test_the_order_of_many_records_changes_nothing(schedule):
    visits = walks(Walks(3_000, 20, 12)).records()
    promise = KCL(k=5, l=2, c="25%", sensitive=["diagnosis=HIV"])
    results = []
    for seed in (1, 2):
        order = np.random.default_rng(seed).permutation(len(visits)).tolist()
        data = Trajectories.from_records(
            [visits[row][0] for row in order],
            sensitive={"diagnosis": [visits[row][1][0] for row in order]},
        )
        results.append(SuppressionWithReinsertion(schedule=schedule).publish(data, promise).data.records())
    assert results[0] == results[1]


# ---- the minimality attack: a limit of the promise that its statement names


def released(visitors, way):
    """Publish four people, two of them with HIV, some of whom were at the clinic."""
    data = Trajectories.from_records(
        [[("clinic", 9)] if person in visitors else [] for person in range(4)],
        sensitive={"diagnosis": ["HIV", "HIV", "flu", "flu"]},
    )
    promise = KCL(k=2, l=1, c="50%", sensitive=["diagnosis=HIV"])
    return way.publish(data, promise)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_the_minimality_attack_in_every_mode(way):
    """The clinic is missing. Whoever knows that K people were there knows: most of them have HIV.

    All sets of visitors are tried; those that give this release are the ones the attacker is left
    with. Of the visitors of those, 7 in 9 have HIV, where C is a half and a half of all have it.
    """
    seen = released({0, 1, 2}, way)
    assert seen.verdict.satisfied
    assert not len(seen.data.arrays()[1])
    possible = [
        set(visitors)
        for size in (2, 3, 4)
        for visitors in itertools.combinations(range(4), size)
        if released(set(visitors), way).data.records() == seen.data.records()
    ]
    shares = [Fraction(len(visitors & {0, 1}), len(visitors)) for visitors in possible]
    assert all(share > Fraction(1, 2) for share in shares)
    assert sum(shares) / len(shares) == Fraction(7, 9)


def test_the_statement_names_the_minimality_attack():
    release = released({0, 1, 2}, SuppressionWithReinsertion())
    (said,) = [text for text in release.guarantee.limits(release.domain) if "minimality" in text]
    assert "a visit that is missing" in said
    assert said in release.statement()


# ---- the attack by linkage


def scored(data, promise):
    release = SuppressionWithReinsertion().publish(data, promise)
    return {score.name: score for score in evaluate(release, data, seed=1)}


def test_an_attacker_without_a_match_guesses():
    """All visits are suppressed: still one in six is right, and a third has the value."""
    data = Trajectories.from_records(
        [[(place, 1)] for place in range(6)], sensitive={"diagnosis": ["HIV"] * 2 + ["flu"] * 4}
    )
    scores = scored(data, KCL(k=2, l=1, c="50%", sensitive=["diagnosis=HIV"]))
    for how in ("", ", aware of suppression"):
        for what, share in {"identity": 1 / 6, "attribute": 1 / 3}.items():
            score = scores[f"{what} linkage, 1 known visit{how}"]
            assert score.value == pytest.approx(share) == dict(score.controls)["guessing"]
    assert dict(scores["identity linkage, 1 known visit"].controls)["original"] == 1


def test_an_attacker_who_knows_of_suppression_leaves_out_who_was_elsewhere():
    """Ten were at home; five, each somewhere else and all with HIV, lost that visit."""
    visits = [[("home", 1), ("work", 2)]] * 10 + [[(place, 1), ("work", 2)] for place in "abcde"]
    data = Trajectories.from_records(visits, sensitive={"diagnosis": ["flu"] * 10 + ["HIV"] * 5})
    promise = KCL(k=2, l=1, c="50%", sensitive=["diagnosis=HIV"])
    release = SuppressionWithReinsertion().publish(data, promise)
    truth, ours = Visits.of(data, data), Visits.of(release.data, data)
    informed, names = _InformedAttacker(truth, ours), data.decode_pairs(truth.seen)
    (lost,), home, work = (
        [[names.index(visit)] for visit in visits] for visits in ([("a", 1)], [("home", 1)], [("work", 2)])
    )
    (ill,) = ours.marks(promise.sensitive)
    assert np.array_equal(informed.weights(lost) > 0, ill)
    assert np.array_equal(informed.weights([*lost, *work[0]]) > 0, ill)
    assert np.array_equal(informed.weights(home[0]), np.where(ill, 0, 1))
    assert informed.weights(work[0]).tolist() == [1] * 15
    scores = scored(data, promise)
    sure = scores["attribute linkage, 1 known visit, aware of suppression"]
    plain = scores["attribute linkage, 1 known visit"]
    # half of the known visits are at work; a third of the others was lost
    assert sure.value == pytest.approx(1 / 2 * 1 / 3 + 1 / 2 * 1 / 3, abs=0.05)
    assert plain.value < sure.value
