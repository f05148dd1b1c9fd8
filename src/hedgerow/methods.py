"""All methods, one line each: the id, the kind, and the module of its folder `methods` in which the class is."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from hedgerow.errors import UnknownMethod
from hedgerow.publisher import Publisher
from hedgerow.settings import parameters_of

#: a method is imported only when it is used, so that listing the methods is cheap
METHODS: dict[str, str] = {
    "additive-noise": "matrices.additive_noise:AdditiveNoise",
    "affinity-weights": "graphs.affinity_weights:AffinityWeights",
    "anatomy": "records.anatomy.publisher:Anatomy",
    "anatomy-matching": "records.anatomy_matching:AnatomyMatching",
    "binary-mechanism": "streams.binary_mechanism:BinaryMechanism",
    "clustree": "records.clustree.publisher:ClusTree",
    "clustree-packing": "records.clustree_packing:ClusTreePacking",
    "continued-prefix-tree": "sequences.continued_prefix_tree.publisher:ContinuedPrefixTree",
    "degree-corrected-blocks": "graphs.degree_corrected_blocks:DegreeCorrectedBlocks",
    "der": "graphs.der:DER",
    "diffpart": "sets.diffpart.publisher:DiffPart",
    "flat-laplace": "sets.flat_laplace:FlatLaplace",
    "gaussian-weights": "graphs.gaussian_weights:GaussianWeights",
    "greedy-weights": "graphs.greedy_weights:GreedyWeights",
    "kcl": "trajectories.kcl:LocalSuppression",
    "kcl-generalisation": "trajectories.kcl_generalisation.publisher:TrajectoryGeneralisation",
    "kcl-reinsertion": "trajectories.kcl_reinsertion:SuppressionWithReinsertion",
    "laplace-graph": "graphs.laplace_graph:LaplaceGraph",
    "ngram": "sequences.ngram.publisher:NGram",
    "ngram-markov": "sequences.ngram_markov.publisher:NGramMarkov",
    "noisy-degrees": "graphs.noisy_degrees:NoisyDegrees",
    "noisy-singletons": "sets.noisy_singletons:NoisySingletons",
    "pairwise-marginals": "sets.pairwise_marginals.publisher:PairwiseMarginals",
    "prefix-tree": "sequences.prefix_tree.publisher:PrefixTree",
    "private-retrieval": "matrices.private_retrieval:PrivateRetrieval",
    "private-wavelet": "matrices.private_wavelet.publisher:PrivateWavelet",
    "raked-histogram": "sets.raked_histogram.publisher:RakedHistogram",
    "random-graph": "graphs.random_graph:RandomGraph",
    "stream-count": "streams.stream_count:StreamCount",
    "stream-mean": "streams.stream_mean.publisher:StreamMean",
    "svd": "matrices.svd:SVD",
    "tmf": "graphs.tmf:TopMFilter",
    "trip-synthesis": "trajectories.trip_synthesis.publisher:TripSynthesis",
    "variable-order-markov": "sequences.variable_order_markov.publisher:VariableOrderMarkov",
    "wavelet": "matrices.wavelet:Wavelet",
}


def method_modules() -> list[str]:
    """The modules in which the classes are.

    Examples
    --------
    >>> method_modules()[0]
    'hedgerow.kinds.matrices.methods.additive_noise'
    """
    return [_home(name)[0] for name in METHODS]


def _home(name: str) -> tuple[str, str]:
    place, _, publisher = METHODS[name].partition(":")
    kind, _, module = place.partition(".")
    return f"hedgerow.kinds.{kind}.methods.{module}", publisher


def find_method(name: str) -> type[Publisher[Any]]:
    """Return the method with this id.

    Examples
    --------
    >>> find_method("flat-laplace").__name__
    'FlatLaplace'
    """
    if name not in METHODS:
        msg = f"there is no method {name!r}; there are: {', '.join(METHODS)}"
        raise UnknownMethod(msg)
    module, publisher = _home(name)
    return getattr(import_module(module), publisher)


# What a method says of itself, for lists, help and documents.

#: formulas, citations and names of parameters, as docstrings mark them
_MARKUP = re.compile(r"\s*\[\d+\]_|[$`]")


def list_methods(kind: str) -> list[dict[str, Any]]:
    """Return the facts of all methods for a kind of data: recommended ones first, then by name.

    Examples
    --------
    >>> [facts["name"] for facts in list_methods("records")]
    ['anatomy-matching', 'clustree-packing', 'anatomy', 'clustree']
    """
    methods = [facts_of(find_method(name)) for name in METHODS]
    return sorted((facts for facts in methods if kind in facts["kinds"]), key=lambda facts: not facts["recommended"])


def facts_of(method: type[Publisher[Any]]) -> dict[str, Any]:
    """Return what a method is, keeps and takes, as plain values without markup.

    Examples
    --------
    >>> facts_of(find_method("wavelet"))["summary"]
    'Publish a matrix after shrinking the detail coefficients of its wavelet transform.'
    """
    text = inspect.getdoc(method) or ""
    papers = re.split(r"\.\. \[\d+\] ", text.partition("References\n----------\n")[2])
    return {
        "name": method.name,
        "class": method.__name__,
        "summary": _MARKUP.sub("", text.splitlines()[0]),
        "kinds": list(method.kinds),
        "keeps": [kept.name for kept in method.keeps],
        "units": list(method.units),
        "recommended": method.recommended,
        "papers": [" ".join(paper.split()) for paper in papers if paper.strip()],
        "parameters": [parameter._asdict() for parameter in parameters_of(method)],
    }
