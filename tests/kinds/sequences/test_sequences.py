"""Sequences: reading, writing, measures, and the whole way by command."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

from hedgerow import Domain, PureDP, Sequences, find_method
from hedgerow.errors import ParameterError, ReadError, UndeclaredDomain
from hedgerow.evaluate import evaluate
from hedgerow.kinds.sequences.patterns import SequenceIndex
from hedgerow.reading import read
from hedgerow.report import report

PATHS = [["a", "b", "a"], ["b"], ["b"]]
EXPECTED = [(("b",), 2), (("a", "b", "a"), 1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.dat", b"a b a\nb\nb\n"),
        ("a.csv", b"unit,item\n7,a\n7,b\n9,b\n7,a\n8,b\n"),
        ("a.jsonl", b'["a","b","a"]\n["b"]\n["b"]\n'),
    ],
)
def test_every_format_gives_the_same_sequences(tmp_path, name, content):
    """Also where the lines of a record stand apart: their order is what counts."""
    (tmp_path / name).write_bytes(content)
    assert read(tmp_path / name, kind="sequences").distinct_records() == EXPECTED


def test_spmf_is_read_and_written_again(tmp_path):
    path = tmp_path / "a.spmf"
    path.write_text("@ITEM=1=home\n1 -1 2 -1 1 -1 -2\n2 -1 -2\n")
    data = read(path, kind="sequences", assert_public_domain=True)
    assert data.distinct_records() == [((2,), 1), ((1, 2, 1), 1)]
    ran = run(
        "publish a.spmf --kind sequences --method ngram-markov --epsilon 900 --unit sequence "
        "--assert-public-domain --set l_max=4 --out R --seed 1",
        tmp_path,
    )
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "R" / "data.spmf").read_text().endswith("-2\n")


@pytest.mark.parametrize(
    "line",
    ["1 -1 2 -2", "1 -1 -1 -2", "1 2 -1 -2", "1 -1", "-1 1 -1 -2", "1 -1 x -1 -2", "1 -3 -2"],
)
def test_broken_spmf_is_refused(tmp_path, line):
    (tmp_path / "a.spmf").write_text(f"1 -1 -2\n{line}\n")
    with pytest.raises(ReadError, match=r"a\.spmf:2: not a"):
        read(tmp_path / "a.spmf", kind="sequences")


def test_bad_sequences_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('["a","b"]\n[]\n["a","z"]\n')
    domain = Domain.declare(item=["a", "b"])
    with pytest.raises(ReadError, match="2: the record has no items"):
        read(tmp_path / "a.jsonl", kind="sequences", domain=domain)
    drop = {"on_empty": "drop"}
    with pytest.raises(ReadError, match="3: an item is not in the domain"):
        read(tmp_path / "a.jsonl", kind="sequences", domain=domain, options=drop)
    held = read(
        tmp_path / "a.jsonl",
        kind="sequences",
        domain=domain,
        options={**drop, "on_unknown": "drop"},
    )
    assert held.distinct_records() == [(("a",), 1), (("a", "b"), 1)]
    with pytest.raises(UndeclaredDomain, match="the domain was inferred"):
        find_method("ngram-markov")().publish(Sequences.from_records(PATHS), PureDP(epsilon=1, unit="sequence"))


def test_persons_are_bounded_by_what_is_declared():
    domain = Domain.declare(item=["a", "b"], records_per_person=2)
    data = Sequences.from_records(PATHS, domain=domain, persons=["x", "x", "x"])
    assert data.bounded("person").distinct_records() == [(("b",), 1), (("a", "b", "a"), 1)]
    assert data.count_units("person") == 1
    assert len(data.without(0, unit="person")) == 0


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=15),
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=8),
)
@settings(max_examples=200)
def test_grams_are_counted_as_by_hand(records, queries):
    held = SequenceIndex.of(Sequences.from_records(records, domain=Domain.declare(item=range(3))))
    asked = [tuple(query) for query in queries]
    found = [
        [tuple(record[i : i + len(query)]) == query for record in records for i in range(len(record))]
        for query in asked
    ]
    occurrences, holders = held.count(asked)
    assert occurrences.tolist() == [sum(hits) for hits in found]
    text = ["".join(map(str, record)) for record in records]
    assert holders.tolist() == [sum("".join(map(str, q)) in t for t in text) for q in asked]
    every = {
        tuple(record[i:j]) for record in records for i in range(len(record)) for j in range(i + 2, len(record) + 1)
    }
    counts = dict(zip(every, held.count(list(every))[0].tolist(), strict=True))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:4]
    assert list(held.top(4).items()) == ranked


def walks(records=3_000):
    rng = np.random.default_rng(5)
    return [["abc"[int(c)] for c in rng.integers(0, 3, 1 + rng.poisson(2))] for _ in range(records)]


def test_the_console_of_sequences(tmp_path):
    """From file to report; grams are published beside the sequences."""
    (tmp_path / "s.dat").write_text("".join(" ".join(path) + "\n" for path in walks()))
    for line in (
        "describe s.dat --kind sequences",
        "publish s.dat --kind sequences --method ngram-markov --epsilon 2 --unit sequence --assert-public-domain --set l_max=8 --out R",
        "verify R",
        "evaluate R --against s.dat --scores s.json",
        "report R --scores s.json --html p.html",
    ):
        ran = run(line, tmp_path)
        assert (ran.code, ran.err) == (0, ""), line
    grams = pl.read_parquet(tmp_path / "R" / "data.ngrams.parquet")
    assert grams.columns == ["item", "ends", "count"]
    assert "data.ngrams.parquet" in (tmp_path / "R" / "STATEMENT.md").read_text()
    page = (tmp_path / "p.html").read_text()
    assert "Transitions between the most frequent items: this release" in page
    assert "The most frequent n-grams" in page


@pytest.mark.parametrize(
    "spoil",
    [
        lambda grams: grams.with_columns(pl.col("count").cast(pl.String)),
        lambda grams: grams.with_columns(pl.col("count").cast(pl.Float64)),
        lambda grams: grams.with_columns(pl.lit(2).alias("ends")),
        lambda grams: grams.with_columns(pl.lit(1 << 60).alias("count")),
        lambda grams: pl.concat([grams, grams]),
        lambda grams: grams.with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("item")),
        lambda grams: grams.drop("ends"),
    ],
)
def test_damaged_grams_are_refused(tmp_path, spoil):
    (tmp_path / "s.dat").write_text("a b\nb\n" * 300)
    given = "--epsilon 5 --unit sequence --assert-public-domain --set l_max=3 --set n_max=3 --out R"
    assert run(f"publish s.dat --kind sequences --method ngram-markov {given}", tmp_path).code == 0
    path = tmp_path / "R" / "data.ngrams.parquet"
    spoil(pl.read_parquet(path)).write_parquet(path)
    assert run("verify R", tmp_path).code == 3


def test_measures_stand_beside_controls():
    data = Sequences.from_records(walks(), domain=Domain.declare(item=list("abc")))
    release = find_method("ngram-markov")(l_max=8).publish(data, PureDP(epsilon=20, unit="sequence"), seed=2)
    scores = {score.name: score for score in evaluate(release, data, seed=2)}
    number = scores["ratio of released to original sequences"]
    assert number.value == pytest.approx(1, abs=0.05)
    lengths = scores["total variation of lengths, cut at 8"]
    assert lengths.value < 0.1 < dict(lengths.controls)["single items"]
    error = scores["mean relative error of queries drawn from records, frequency 1% to 10%, occurrences"]
    assert error.value < dict(error.controls)["single items"]
    assert dict(error.controls)["empty release"] == 1
    told = scores["share of next items predicted correctly from the item before"]
    assert told.value <= dict(told.controls)["original"]
    assert report([("R", release)], [list(scores.values())])


def test_a_release_of_sequences_is_not_compared_with_sets():
    data = Sequences.from_records(walks(300), domain=Domain.declare(item=list("abc")))
    release = find_method("ngram-markov")().publish(data, PureDP(epsilon=1, unit="sequence"), seed=1)
    other = read([["a"]], kind="sets")
    with pytest.raises(ParameterError, match="cannot be compared with sets"):
        evaluate(release, other)
