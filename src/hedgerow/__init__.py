"""Hedgerow: publish rich data, not the people in it.

Names are imported on first use, so that `import hedgerow` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.data import Domain, Graph, Matrix, NumberAxis, Sequences, Sets, Trajectories
    from hedgerow.data.records import Records
    from hedgerow.data.streams import Stream
    from hedgerow.errors import GuaranteeError, HedgerowError, InputError
    from hedgerow.io import read, read_domain, read_release, write_release
    from hedgerow.privacy import All, Choose, CorrelatedDP, Criterion, Flip, Laplace, Ledger, PureDP, Shares
    from hedgerow.privacy.distortion import Distortion
    from hedgerow.privacy.kcl_criterion import KCL
    from hedgerow.privacy.tree_criteria import KAnonymity, LDiversity
    from hedgerow.publishers import METHODS, Publisher, find_method, param
    from hedgerow.publishers.graphs.degree_corrected_blocks import DegreeCorrectedBlocks
    from hedgerow.publishers.graphs.der.publisher import DER
    from hedgerow.publishers.graphs.laplace_graph import LaplaceGraph
    from hedgerow.publishers.graphs.noisy_degrees import NoisyDegrees
    from hedgerow.publishers.graphs.random_graph import RandomGraph
    from hedgerow.publishers.graphs.tmf import TopMFilter
    from hedgerow.publishers.matrices.additive_noise import AdditiveNoise
    from hedgerow.publishers.matrices.private_retrieval import PrivateRetrieval
    from hedgerow.publishers.matrices.private_wavelet.publisher import PrivateWavelet
    from hedgerow.publishers.matrices.svd import SVD
    from hedgerow.publishers.matrices.wavelet.publisher import Wavelet
    from hedgerow.publishers.records.clustree.publisher import ClusTree
    from hedgerow.publishers.records.clustree_packing.publisher import ClusTreePacking
    from hedgerow.publishers.sequences.continued_prefix_tree.publisher import ContinuedPrefixTree
    from hedgerow.publishers.sequences.ngram.publisher import NGram
    from hedgerow.publishers.sequences.ngram_markov.publisher import NGramMarkov
    from hedgerow.publishers.sequences.prefix_tree.publisher import PrefixTree
    from hedgerow.publishers.sequences.variable_order_markov.publisher import VariableOrderMarkov
    from hedgerow.publishers.sets.diffpart.publisher import DiffPart
    from hedgerow.publishers.sets.flat_laplace import FlatLaplace
    from hedgerow.publishers.sets.noisy_singletons import NoisySingletons
    from hedgerow.publishers.sets.pairwise_marginals.publisher import PairwiseMarginals
    from hedgerow.publishers.sets.raked_histogram.publisher import RakedHistogram
    from hedgerow.publishers.streams.binary_mechanism import BinaryMechanism
    from hedgerow.publishers.streams.stream_count import StreamCount
    from hedgerow.publishers.streams.stream_mean.publisher import StreamMean
    from hedgerow.publishers.trajectories.kcl.publisher import LocalSuppression
    from hedgerow.publishers.trajectories.kcl_generalisation.publisher import TrajectoryGeneralisation
    from hedgerow.publishers.trajectories.kcl_reinsertion.publisher import SuppressionWithReinsertion
    from hedgerow.publishers.trajectories.trip_synthesis.publisher import TripSynthesis
    from hedgerow.release import Release
    from hedgerow.score import Score

__version__: str

__all__ = [
    "DER",
    "KCL",
    "METHODS",
    "SVD",
    "AdditiveNoise",
    "All",
    "BinaryMechanism",
    "Choose",
    "ClusTree",
    "ClusTreePacking",
    "ContinuedPrefixTree",
    "CorrelatedDP",
    "Criterion",
    "DegreeCorrectedBlocks",
    "DiffPart",
    "Distortion",
    "Domain",
    "FlatLaplace",
    "Flip",
    "Graph",
    "GuaranteeError",
    "HedgerowError",
    "InputError",
    "KAnonymity",
    "LDiversity",
    "Laplace",
    "LaplaceGraph",
    "Ledger",
    "LocalSuppression",
    "Matrix",
    "NGram",
    "NGramMarkov",
    "NoisyDegrees",
    "NoisySingletons",
    "NumberAxis",
    "PairwiseMarginals",
    "PrefixTree",
    "PrivateRetrieval",
    "PrivateWavelet",
    "Publisher",
    "PureDP",
    "RakedHistogram",
    "RandomGraph",
    "Records",
    "Release",
    "Score",
    "Sequences",
    "Sets",
    "Shares",
    "Stream",
    "StreamCount",
    "StreamMean",
    "SuppressionWithReinsertion",
    "TopMFilter",
    "Trajectories",
    "TrajectoryGeneralisation",
    "TripSynthesis",
    "VariableOrderMarkov",
    "Wavelet",
    "find_method",
    "param",
    "read",
    "read_domain",
    "read_release",
    "write_release",
]

_HOMES = {
    "hedgerow.data": ("Domain", "NumberAxis"),
    "hedgerow.errors": ("GuaranteeError", "HedgerowError", "InputError"),
    "hedgerow.io": ("read", "read_domain", "read_release", "write_release"),
    "hedgerow.privacy": (
        *("All", "Choose", "CorrelatedDP", "Criterion", "Flip", "Laplace", "Ledger", "PureDP", "Shares"),
    ),
    "hedgerow.privacy.distortion": ("Distortion",),
    "hedgerow.privacy.kcl_criterion": ("KCL",),
    "hedgerow.privacy.tree_criteria": ("KAnonymity", "LDiversity"),
    "hedgerow.publishers": ("METHODS", "Publisher", "find_method", "param"),
    "hedgerow.release": ("Release",),
    "hedgerow.score": ("Score",),
}


def __dir__() -> list[str]:
    registry = import_module("hedgerow.publishers.registry")
    return sorted({*__all__, *(place.partition(":")[2] for place in registry.METHODS.values())})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("hedgerow")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    # kinds and methods are looked up by class name in the registries, the only lists of them
    for kind in import_module("hedgerow.kinds").KINDS.values():
        if kind.type_name == name:
            return kind.type
    registry = import_module("hedgerow.publishers.registry")
    for method, place in registry.METHODS.items():
        if place.endswith(f":{name}"):
            return registry.find_method(method)
    msg = f"module 'hedgerow' has no attribute {name!r}"
    raise AttributeError(msg)
