"""How the constants of degree-corrected-blocks were chosen: variations, on networks that are not reported on.

Writes docs/results/graph-choices.json, a section of docs/results/networks.md. One constant is varied at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from der import Truth
from floor import data_folder
from graph_workloads import CHOOSING, GENERATED, Way, read_graph
from plans import means, run_plans

from hedgerow.kinds.graphs.cut_queries import cut_errors, ego_cuts
from hedgerow.kinds.graphs.data import Graph

EPSILONS = ("0.2", "1", "3")
RUNS, QUERIES = 3, 300
NAME = "degree-corrected-blocks"
VARIATIONS = {
    "default": Way(NAME),
    "degrees 0.35": Way(NAME, {"degrees": 0.35}),
    "degrees 0.65": Way(NAME, {"degrees": 0.65}),
    "least 8": Way(NAME, {"least": 8.0}),
    "contrast 16": Way(NAME, {"contrast": 16.0}),
    "contrast 256": Way(NAME, {"contrast": 256.0}),
}


def run_choice(data: Graph) -> dict[str, Any]:
    """Publish with each variation; means over runs."""
    truth = Truth(data, QUERIES)
    egos = list(ego_cuts(data, queries=QUERIES, rng=np.random.default_rng(1)))

    def score(released: Graph) -> dict[str, float]:
        errors = cut_errors(data, {"": released}, egos)[""]
        return {**truth.score(released), "ego cuts": float(errors.mean())}

    return {
        epsilon: {
            name: means([score(way.publish(data, epsilon, seed=seed)) for seed in range(RUNS)])
            for name, way in VARIATIONS.items()
        }
        for epsilon in EPSILONS
    }


PLANS = {
    **{name: lambda make=make: run_choice(make()) for name, make in GENERATED.items()},
    **{name: lambda path=path: run_choice(read_graph(data_folder() / path)) for name, path in CHOOSING.items()},
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "graph-choices")
