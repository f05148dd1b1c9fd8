"""Trajectories at coarser places and times on public data, beside suppression of visits at fixed levels.

Writes docs/results/kcl-generalisation.json, from which `pages.py` makes docs/results/kcl-generalisation.md. The
default (`peel` or `grow`) was chosen on the data sets in TUNED; the others are only reported. What the file has under
`before` was measured with the last version that published labels in the order of visits (commit fd71a9c), by the same
attack; it stays.

Names of data sets as arguments run these alone and keep the other results.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from coarse_sources import SOURCES, Source
from floor import data_folder
from label_attack import attack
from label_figures import figures
from transit import BUS, trajectories

from hedgerow import KCL, Domain, Trajectories, find_method
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.kinds.trajectories.methods.kcl_generalisation.labelling import Labelling, Node, climb, grow, peel, refine
from hedgerow.kinds.trajectories.methods.kcl_generalisation.publisher import publishable
from hedgerow.kinds.trajectories.methods.kcl_generalisation.search import find_best_node, measure_utility
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits, Support

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "kcl-generalisation.json"
#: the default was chosen on these
TUNED = ("sube-smartcard", "foursquare-nyc")
#: suppression alone takes minutes where there are many violating sequences: it is run for this K only at exact places
EXACT_K = 10
#: the grid and the bins, in hours, at which suppression alone is run
FIXED = {
    "sube-smartcard": "0.04",
    "foursquare-nyc": "0.01",
    "singapore-bikes": "0.01",
    "oldenburg": "1",
    "geolife": "0.04",
}
#: levels that were attacked by others before
ATTACKED = {"singapore-bikes": ("0.01", 8)}
RECORDS = 1_000_000


class Bench:
    """One data set under one promise."""

    def __init__(self, source: Source, k: int, longest: int, *, one_place: bool = False) -> None:
        values = {"c": "60%", "sensitive": list(source.sensitive)} if source.sensitive else {}
        promise: Any = KCL(k=k, l=longest, **values).about(source.data)
        self.source, self.promise = source, promise
        self.levels = PlaceTimeLevels.of(source.data.domain, grid=source.grid, doublings=source.doublings)
        self.one_place = one_place
        self.visits = FineVisits.of(source.data, self.levels, promise, one_place=one_place)
        self.support = Support(self.visits, promise)
        self.names = [level.name for level in self.levels.places]

    def search(self, bound: Node) -> tuple[Node, int, float]:
        """The levels, the number of estimates and the seconds of the search."""
        start = time.process_time()
        blind = Support(self.visits, self.promise, sensitive=False)

        def estimate(node: Node) -> float:
            return measure_utility(self.visits, grow(self.visits, blind, node), "balanced", 0.25)

        node, estimates = find_best_node(estimate, bound)
        return node, len(estimates), time.process_time() - start

    def hours(self, hours: int) -> int:
        """The level of times with bins of so many hours, of a day."""
        return self.levels.times.widths.index(self.levels.times.widths[-1] * hours // 24)

    def label(self, node: Node, *, suppress: str, mixed: bool) -> Labelling:
        """Run the method at these levels."""
        visits, support = self.visits, self.support
        labelling = (
            peel(visits, support, node, np.random.default_rng(1)) if suppress == "peel" else grow(visits, support, node)
        )
        if mixed:
            climb(visits, support, labelling, node, self.levels.coarsest)
            refine(visits, support, labelling)
        return labelling

    def run(self, name: str, found: tuple[Node, int, float], *, suppress: str, mixed: bool) -> dict[str, Any]:
        """Measure the method, and verify what it would publish."""
        node, estimates, searched = found
        start = time.process_time()
        labelling = self.label(node, suppress=suppress, mixed=mixed)
        seconds = time.process_time() - start
        released = publishable(self.source.data, self.visits, labelling, one_place=self.one_place)
        violations = sum(self.promise.violations({"": released.sorted()}).values())
        k, longest = self.promise.k, self.promise.l
        return {
            **self.row(name, node),
            "seconds": seconds,
            "search": searched,
            "estimates": estimates,
            "violations": violations,
            "attack": attack(self.visits, released, k, longest),
            **({"in the order of visits": attack(self.visits, released, k, longest, by_visits=True)} if mixed else {}),
            **self.measured(labelling),
        }

    def suppressed(self, name: str, node: Node) -> dict[str, Any]:
        """Measure suppression alone: the first visit of each bin, at these levels."""
        data, item = self.recoded(node)
        start = time.process_time()
        release = find_method("kcl-reinsertion")(schedule="grow").publish(data, self.promise)
        seconds = time.process_time() - start
        kept = release.data
        record = np.repeat(kept.traits["number"], np.diff(kept.starts))
        visits, labelling = self.visits, Labelling(len(self.visits))
        size = len(self.levels.places[node[0]].regions)
        first = {(int(visits.record[at]), pair): at for pair, at in item}
        for row, pair in zip(record.tolist(), kept.pairs.tolist(), strict=True):
            at = first[row, pair]
            labelling.label[at] = self.levels.code(node[0], np.array([pair % size]), node[1], np.array([pair // size]))[
                0
            ]
        items = visits.items(*node, np.arange(len(visits)))
        labelling.represent(items)
        return {**self.row(name, node), "seconds": seconds, **self.measured(labelling)}

    def recoded(self, node: Node) -> tuple[Trajectories, list[tuple[int, int]]]:
        """The first visit of each record in each bin at these levels; and the pair and the position of each."""
        visits, (place, when) = self.visits, node
        order = np.lexsort((np.arange(len(visits)), visits.bins[when], visits.record))
        record, number = visits.record[order], visits.bins[when][order]
        new = np.append(True, (record[1:] != record[:-1]) | (number[1:] != number[:-1]))[: len(order)]
        at = order[new]
        regions, bins = self.levels.places[place].regions, self.levels.times.counts()[when]
        source = self.source.data
        traits = dict(source.traits)
        values = {name: source.domain.axis(name) for name in traits}
        domain = Domain.declare(
            place=regions,
            time=range(bins),
            number=range(len(source)),
            records_per_person=source.domain.records_per_person,
            **values,
        )
        data = Trajectories.from_columns(
            records=len(source),
            row=visits.record[at],
            time=visits.bins[when][at],
            place=visits.regions[place][at],
            sensitive={**traits, "number": np.arange(len(source))},
            domain=domain,
            persons=source.persons,
        )
        pairs = visits.bins[when][at] * len(regions) + visits.regions[place][at]
        return data, list(zip(pairs.tolist(), at.tolist(), strict=True))

    def row(self, name: str, node: Node) -> dict[str, Any]:
        """What was run."""
        width = self.levels.times.widths[node[1]]
        return {"k": self.promise.k, "l": self.promise.l, "method": name, "place": self.names[node[0]], "bin": width}

    def measured(self, labelling: Labelling) -> dict[str, float]:
        """The figures of labels."""
        return figures(self.visits, labelling, self.names.index(self.source.compared))


def run(name: str, source: Source) -> list[dict[str, Any]]:
    """All runs on one data set."""
    rows: list[dict[str, Any]] = []
    for longest in (3, 2):
        for k in (5, 10, 30):
            bench = Bench(source, k, longest)
            top = bench.levels.coarsest
            found = bench.search(top)
            rows.append(bench.run("mixed", found, suppress="peel", mixed=True))
            rows.append(bench.run("mixed, grow", found, suppress="grow", mixed=True))
            if name != "oldenburg":  # its times are steps of a simulation
                bounded = bench.search((top[0], bench.hours(4)))
                rows.append(bench.run("mixed, bins up to 4 h", bounded, suppress="peel", mixed=True))
            fixed = bench.names.index(FIXED[name])
            rows.append(bench.suppressed("suppression", (fixed, 1 if name == "oldenburg" else bench.hours(2))))
            if name in ATTACKED:
                place, hours = ATTACKED[name]
                node = (bench.names.index(place), bench.hours(hours))
                rows.append(bench.run("mixed, levels of an attack", (node, 0, 0.0), suppress="peel", mixed=True))
            if longest == 3:
                rows.append(bench.run("one level", found, suppress="peel", mixed=False))
                apart = Bench(source, k, longest, one_place=True)
                rows.append(apart.run("one place", apart.search(top), suppress="peel", mixed=False))
                if k == EXACT_K:
                    exact = (0, 0 if name == "oldenburg" else bench.hours(1))
                    rows.append(bench.suppressed("suppression, exact places", exact))
            for row in rows[-9:]:
                if (row["k"], row["l"]) == (k, longest):
                    print(name, json.dumps({key: _short(value) for key, value in row.items()}), flush=True)
    return rows


def _short(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def commuters(records: int, places: int = 300, visits: int = 5) -> Trajectories:
    """Made-up commuters by quarter of an hour: home and work in turn, every fourth visit elsewhere."""
    rng = np.random.default_rng(1)
    points = np.round(rng.normal(0, 0.05, (places, 2)), 4)
    popular = 1 / np.arange(1, places + 1) ** 0.8
    popular /= popular.sum()
    home, work = (rng.choice(places, records, p=popular) for _ in range(2))
    start = np.clip(rng.normal(32, 6, records), 0, 50).astype(np.int64)
    where: list[Any] = []
    when: list[Any] = []
    for step in range(visits):
        other = rng.random(records) < 0.25
        where.append(np.where(other, rng.choice(places, records, p=popular), work if step % 2 else home))
        when.append(np.minimum(95, start + step * 9 + rng.integers(0, 5, records)))
    domain = Domain.declare(place=[f"s{place}" for place in range(places)], time=range(96))
    return Trajectories.from_columns(
        records=records,
        row=np.tile(np.arange(records), visits),
        time=np.concatenate(when),
        place=np.concatenate(where),
        sensitive={},
        domain=domain.with_coordinates("place", points.tolist()),
        several=True,
    )


def speed() -> dict[str, Any]:
    """A million made-up records, with the search and the check of the release: over lines, and over a grid."""
    jobs = {
        "bus, peel": (trajectories(BUS, RECORDS), {"suppress": "peel"}),
        "bus, grow": (trajectories(BUS, RECORDS), {"suppress": "grow"}),
        "commuters, peel": (commuters(RECORDS), {"grid": "0.01"}),
    }
    runs: dict[str, Any] = {}
    for name, (data, settings) in jobs.items():
        start, wall = time.process_time(), time.time()
        find_method("kcl-generalisation")(**settings).publish(data, KCL(k=30, l=3))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        seconds = {"seconds": time.process_time() - start, "wall": time.time() - wall}
        runs[name] = {"records": len(data), "visits": len(data.pairs), "gigabytes": memory, **seconds}
        print(name, runs[name], flush=True)
    return runs


def main() -> None:
    """Run the named data sets, or all and the speed, and write the results."""
    warnings.simplefilter("ignore")
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"data": {}}
    known = [*SOURCES, "speed"]
    for name in [name for name in sys.argv[1:] if name in known] or known:
        if name == "speed":
            results["speed"] = speed()
        else:
            source = SOURCES[name](data_folder())
            persons = source.data.count_units("person") if source.data.persons is not None else None
            results["data"][name] = {
                **{key: value for key, value in results["data"].get(name, {}).items() if key == "before"},
                "what": source.what,
                "tuned": name in TUNED,
                "records": len(source.data),
                "persons": persons,
                "visits": len(source.data.pairs),
                "places": source.data.domain.size("place"),
                "compared": source.compared,
                "period": PlaceTimeLevels.of(source.data.domain).times.widths[-1],
                "runs": run(name, source),
            }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
