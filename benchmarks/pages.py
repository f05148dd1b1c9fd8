"""Make the result pages of the documents from the JSON that the benchmarks wrote."""

from __future__ import annotations

import json
from pathlib import Path

from pages_affinity import affinity_page
from pages_anatomy import anatomy_page
from pages_clustree import clustree_pages
from pages_gaussian_weights import gaussian_weights_page
from pages_generalisation import generalisation_page
from pages_graphs import network_pages
from pages_kcl import kcl_pages
from pages_matrices import matrix_pages
from pages_mobility import mobility_page
from pages_ngram import ngram_pages
from pages_pairwise import pairwise_page
from pages_prefix import prefix_pages, times_page
from pages_private_retrieval import private_retrieval_page
from pages_private_wavelet import private_wavelet_page
from pages_records import record_pages
from pages_sets import sets_page
from pages_stream_count import stream_count_page
from pages_stream_mean import stream_mean_page
from pages_trip import trip_page
from pages_variable_order import variable_order_page
from pages_weights import weight_pages
from pages_weights_greedy import weights_greedy_page
from score_names import with_current_names

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def pages() -> dict[str, str]:
    """Every page and chart by file name, from the stored results."""
    results = {
        path.stem: json.loads(path.read_text(), object_pairs_hook=with_current_names) for path in RESULTS.glob("*.json")
    }
    return {
        "anatomy.md": anatomy_page(results["anatomy"], results["anatomy-sources"]),
        **{f"{method}.md": sets_page(method, results[method]) for method in ("diffpart", "raked-histogram")},
        **clustree_pages(results["clustree"]),
        **kcl_pages(results["kcl"], results["kcl-reinsertion"]),
        "kcl-generalisation.md": generalisation_page(results["kcl-generalisation"]),
        **network_pages(results["der"], results["degree-corrected-blocks"], results["graph-choices"]),
        **matrix_pages(results["matrix-distortion"]),
        "mobility-baselines.md": mobility_page(results["mobility-baselines"]),
        **ngram_pages(results["ngram"]),
        "pairwise-marginals.md": pairwise_page(results["pairwise-marginals"]),
        **prefix_pages(results["prefix-tree"]),
        "private-retrieval.md": private_retrieval_page(results["private-retrieval"]),
        "private-wavelet.md": private_wavelet_page(results["private-wavelet"]),
        **record_pages(results["nested-records"], results["two-releases"]),
        "stream-count.md": stream_count_page(results["stream-count"]),
        "prefix-tree-times.md": times_page(results["prefix-tree-times"]),
        "stream-mean.md": stream_mean_page(results["stream-mean"]),
        "trip-synthesis.md": trip_page(results["trip-synthesis"]),
        **variable_order_page(results["variable-order-markov"]),
        **weight_pages(results["weights-leakage"]),
        "weights-gaussian.md": gaussian_weights_page(results["weights-gaussian"]),
        "weights-affinity.md": affinity_page(results["weights-affinity"]),
        **weights_greedy_page(results["weights-greedy"]),
    }


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (RESULTS / name).write_text(text)


if __name__ == "__main__":
    main()
