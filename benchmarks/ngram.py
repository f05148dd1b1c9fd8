"""ngram and ngram-markov on MSNBC and other public sequences: frequent n-grams, lengths, queries.

Writes docs/results/ngram.json, from which `pages.py` makes docs/results/ngram.md. Sequences are generated in
three ways from the same noisy n-grams. Every experiment runs in a separate process.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from floor import best, data_folder, floor
from plans import growth_plans, means, run_plans

from hedgerow import Domain, PureDP, Sequences, find_method, read
from hedgerow.jobs.publish import run_job
from hedgerow.jobs.recipe import Job
from hedgerow.kinds.sequences.measures import drawn_queries, uniform_queries
from hedgerow.kinds.sequences.methods.ngram.model import ExplorationTree
from hedgerow.kinds.sequences.methods.ngram.publisher import Exploration, join_grams
from hedgerow.kinds.sequences.methods.ngram_markov.publisher import NGramMarkov
from hedgerow.kinds.sequences.patterns import SequenceIndex, top_sequential_patterns
from hedgerow.measures.scoring import relative_errors
from hedgerow.privacy import Ledger
from hedgerow.privacy.questions import NoisyAnswers

RUNS = 10
TOPS = (20, 40, 60, 80, 100)
#: ngram-markov, the same without balance, and ngram: method and parameters of each
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "flow": ("ngram-markov", {}),
    "markov": ("ngram-markov", {"balance": False}),
    "join": ("ngram", {"fill": "backoff"}),
}
LONGEST = 20
MSNBC_ITEMS = range(1, 18)


def lines(folder: Path, name: str) -> Sequences:
    """Sequences that are lines of a file; their items are assumed to be public."""
    return read(folder / name, kind="sequences", assert_public_domain=True)


def msnbc(folder: Path) -> Sequences:
    """Page categories of a day at a news site."""
    path = folder / "msnbc/msnbc990928.seq.gz"
    domain, head = Domain.declare(item=MSNBC_ITEMS), {"skip_lines": "7"}
    return read(path, kind="sequences", domain=domain, options=head)


def sube(folder: Path) -> Sequences:
    """Lines of public transport that a smart card took on a day."""
    table = pl.read_csv(folder / "sube-smartcard/transactions.csv.gz").sort("card", "hour")
    table = table.with_columns(pl.col("id_linea").cast(pl.String))
    names = {"unit": "card", "item": "id_linea"}
    return read(table, kind="sequences", columns=names, assert_public_domain=True)


SOURCES: dict[str, Callable[[Path], Sequences]] = {
    "msnbc": msnbc,
    "sube-smartcard": sube,
    "kosarak-subset": lambda f: lines(f, "kosarak-subset/kosarak_first70k.seq.gz"),
    "fifa": lambda f: lines(f, "fifa/fifa.seq.gz"),
    "spmf bible": lambda f: lines(f, "spmf-text-sequences/bible.seq.gz"),
    "spmf leviathan": lambda f: lines(f, "spmf-text-sequences/leviathan.seq.gz"),
    "spmf sign": lambda f: lines(f, "spmf-text-sequences/sign.seq.gz"),
}


class Truth:
    """The original, whole and truncated, its most frequent patterns, and queries with their answers."""

    def __init__(self, data: Sequences) -> None:
        self.whole, self.cut = SequenceIndex.of(data), SequenceIndex.of(data.truncated(LONGEST))
        most = max(TOPS)
        self.top = {
            "whole": self.whole.top(most),
            "cut": self.cut.top(most),
            "with gaps": top_sequential_patterns(self.cut, most),
        }
        rng = np.random.default_rng(1)
        self.workloads = {
            **uniform_queries(self.whole, rng, 1_000, LONGEST),
            **drawn_queries(self.whole, rng, 4_000),
        }
        self.queries = [query for queries in self.workloads.values() for query in queries]
        self.exact = self.whole.count(self.queries)[0]
        self.lengths = self.cut.lengths(LONGEST) / max(1, self.cut.records)

    def score(self, data: Sequences) -> dict[str, Any]:
        """Compare one release."""
        index = SequenceIndex.of(data)
        grams = list(index.top(max(TOPS)))
        released = {"whole": grams, "cut": grams, "with gaps": list(top_sequential_patterns(index, max(TOPS)))}
        errors = relative_errors(self.exact, index.count(self.queries)[0], self.whole.records)
        ends = np.cumsum([len(queries) for queries in self.workloads.values()])[:-1]
        parts = dict(zip(self.workloads, np.split(errors, ends), strict=True))
        lengths = index.lengths(LONGEST) / max(1, index.records)
        return {
            **{
                f"top {most} {which}": len({*list(top)[:most]} & {*released[which][:most]}) / most
                for which, top in self.top.items()
                for most in TOPS
            },
            "number": index.records / max(1, self.whole.records),
            "length": float(0.5 * np.abs(lengths - self.lengths).sum()) if index.records else 1.0,
            **{name: float(part.mean()) for name, part in parts.items() if len(part)},
            "error": float(np.mean([part.mean() for part in parts.values() if len(part)])),
        }


def explore(data: Sequences, n_max: int, ledger: Ledger) -> ExplorationTree:
    """The noisy n-grams from which sequences are generated."""
    return Exploration(LONGEST, n_max, adaptive=True, fill="backoff").explore(data, ledger)


def generate(tree: ExplorationTree, way: str, domain: Domain, coins: np.random.Generator) -> Sequences:
    """Generate sequences in one of the ways."""
    if way == "join":
        return join_grams(tree, LONGEST, domain)
    row, item = NGramMarkov(l_max=LONGEST, balance=way == "flow").write(tree, coins)
    return Sequences.from_columns(row=row, item=item, domain=domain)


def run_source(name: str, epsilon: str, runs: int) -> dict[str, Any]:
    """Publish several times, in each way and from single items alone; means and standard errors."""
    data = SOURCES[name](data_folder())
    truth = Truth(data)
    promise = PureDP(epsilon=epsilon, unit="sequence")
    scores: dict[str, list[dict[str, Any]]] = {}
    contexts = []
    for seed in range(runs):
        for n_max, names in ((5, tuple(WAYS)), (1, ("single items",))):
            ledger = promise.open(data, NoisyAnswers(seed))
            tree = explore(data, n_max, ledger)
            if n_max > 1:
                contexts.append(len(tree))
            for way in names:
                released = generate(tree, way if n_max > 1 else "flow", data.domain, ledger.coins())
                scores.setdefault(way, []).append(truth.score(released))
    scores["original, cut"] = [truth.score(data.truncated(LONGEST))]
    nothing = np.zeros(0, np.int64)
    empty = Sequences.from_columns(row=nothing, item=nothing, domain=data.domain)
    scores["empty release"] = [truth.score(empty)]
    return {
        "records": len(data),
        "items": data.domain.size("item"),
        "runs": runs,
        "contexts": statistics.mean(contexts),
        "scores": {way: means(several) for way, several in scores.items()},
    }


def run_limits() -> dict[str, Any]:
    """The limit of n-grams of up to five and eight items on MSNBC: nearly no noise (epsilon 1,000), one run."""
    data = msnbc(data_folder())
    truth = Truth(data)
    scores: dict[str, Any] = {}
    for n_max in (5, 8):
        ledger = PureDP(epsilon=1_000, unit="sequence").open(data, NoisyAnswers(1))
        tree = explore(data, n_max, ledger)
        scores[str(n_max)] = truth.score(generate(tree, "flow", data.domain, ledger.coins()))
    return scores


def run_speed() -> dict[str, Any]:
    """Time publishing MSNBC, and the floor in the same run."""
    folder = data_folder()
    data, promise = msnbc(folder), PureDP(epsilon=1, unit="sequence")
    seconds = {"floor": best(lambda: floor(folder / "msnbc/msnbc990928.seq.gz"), 3)[0]}
    for way, (name, parameters) in WAYS.items():
        method = find_method(name)(**parameters)
        seconds[way] = best(lambda method=method: method.publish(data, promise), 3)[0]
    seconds["reading"] = best(lambda: msnbc(folder), 3)[0]
    seconds["whole"] = _time_job(folder / "msnbc/msnbc990928.seq.gz")
    return seconds


def _time_job(source: Path) -> float:
    """Time the whole job: read, publish, compress, write, read back, check."""
    with tempfile.TemporaryDirectory() as name:
        job = Job(
            data=str(source),
            kind="sequences",
            method="ngram-markov",
            promise={"epsilon": "1", "unit": "sequence"},
            assert_public_domain=True,
            out=str(Path(name) / "release"),
            overwrite=True,
        )
        return best(lambda: run_job(job), 3)[0]


def made_up(records: int, items: int) -> Sequences:
    """Walks over items: a skewed start, four neighbours each, a jump now and then; mean 5."""
    rng = np.random.default_rng(2012)
    sizes = 1 + rng.poisson(4, records)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    weights = 1 / np.arange(1, items + 1)
    near = rng.integers(0, items, (items, 4))
    item = np.empty(starts[-1], np.int32)
    now = rng.choice(items, records, p=weights / weights.sum())
    for step in range(int(sizes.max())):
        on = np.flatnonzero(sizes > step)
        if step:
            jump = rng.random(len(on)) < 0.1
            onward = near[now[on], rng.integers(0, 4, len(on))]
            now[on] = np.where(jump, rng.choice(items, len(on), p=weights / weights.sum()), onward)
        item[starts[on] + step] = now[on]
    row = np.repeat(np.arange(records, dtype=np.int32), sizes)
    domain = Domain.declare(item=range(items))
    return Sequences.from_columns(row=row, item=item, domain=domain)


PLANS: dict[str, Callable[[], dict[str, Any]]] = {
    **{f"msnbc {eps}": lambda eps=eps: run_source("msnbc", eps, RUNS) for eps in ("0.1", "1")},
    **{f"{name} 1": lambda name=name: run_source(name, "1", 3) for name in SOURCES if name != "msnbc"},
    "limits": run_limits,
    "speed": run_speed,
    **growth_plans("ngram-markov", made_up),
}


if __name__ == "__main__":
    run_plans(__file__, PLANS, "ngram")
