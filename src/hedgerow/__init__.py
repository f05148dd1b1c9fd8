"""Hedgerow: publish rich data, not the people in it.

Names are imported on first use, so that `import hedgerow` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.data import Domain, NumberAxis
    from hedgerow.errors import GuaranteeError, HedgerowError, InputError
    from hedgerow.formats.domains import read_domain
    from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity
    from hedgerow.kinds.graphs.data import Graph
    from hedgerow.kinds.graphs.merged_weights import merge_weights
    from hedgerow.kinds.graphs.methods.degree_corrected_blocks import DegreeCorrectedBlocks
    from hedgerow.kinds.graphs.methods.der import DER
    from hedgerow.kinds.graphs.methods.gaussian_weights import GaussianWeights
    from hedgerow.kinds.graphs.methods.laplace_graph import LaplaceGraph
    from hedgerow.kinds.graphs.methods.noisy_degrees import NoisyDegrees
    from hedgerow.kinds.graphs.methods.random_graph import RandomGraph
    from hedgerow.kinds.graphs.methods.tmf import TopMFilter
    from hedgerow.kinds.graphs.path_bands import PathBands
    from hedgerow.kinds.matrices.data import Matrix
    from hedgerow.kinds.matrices.methods.additive_noise import AdditiveNoise
    from hedgerow.kinds.matrices.methods.private_retrieval import PrivateRetrieval
    from hedgerow.kinds.matrices.methods.private_wavelet.publisher import PrivateWavelet
    from hedgerow.kinds.matrices.methods.svd import SVD
    from hedgerow.kinds.matrices.methods.wavelet import Wavelet
    from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
    from hedgerow.kinds.records.data import Records
    from hedgerow.kinds.records.methods.clustree.publisher import ClusTree
    from hedgerow.kinds.records.methods.clustree_packing import ClusTreePacking
    from hedgerow.kinds.records.rule_promise import PM
    from hedgerow.kinds.sequences.data import Sequences
    from hedgerow.kinds.sequences.methods.continued_prefix_tree.publisher import ContinuedPrefixTree
    from hedgerow.kinds.sequences.methods.ngram.publisher import NGram
    from hedgerow.kinds.sequences.methods.ngram_markov.publisher import NGramMarkov
    from hedgerow.kinds.sequences.methods.prefix_tree.publisher import PrefixTree
    from hedgerow.kinds.sequences.methods.variable_order_markov.publisher import VariableOrderMarkov
    from hedgerow.kinds.sets.data import Sets
    from hedgerow.kinds.sets.methods.diffpart.publisher import DiffPart
    from hedgerow.kinds.sets.methods.flat_laplace import FlatLaplace
    from hedgerow.kinds.sets.methods.noisy_singletons import NoisySingletons
    from hedgerow.kinds.sets.methods.pairwise_marginals.publisher import PairwiseMarginals
    from hedgerow.kinds.sets.methods.raked_histogram.publisher import RakedHistogram
    from hedgerow.kinds.streams.data import Stream
    from hedgerow.kinds.streams.methods.binary_mechanism import BinaryMechanism
    from hedgerow.kinds.streams.methods.stream_count import StreamCount
    from hedgerow.kinds.streams.methods.stream_mean.publisher import StreamMean
    from hedgerow.kinds.trajectories.criterion import KCL
    from hedgerow.kinds.trajectories.data import Trajectories
    from hedgerow.kinds.trajectories.methods.kcl import LocalSuppression
    from hedgerow.kinds.trajectories.methods.kcl_generalisation.publisher import TrajectoryGeneralisation
    from hedgerow.kinds.trajectories.methods.kcl_reinsertion import SuppressionWithReinsertion
    from hedgerow.kinds.trajectories.methods.trip_synthesis.publisher import TripSynthesis
    from hedgerow.methods import METHODS, find_method
    from hedgerow.privacy import All, Choose, CorrelatedDP, Criterion, Flip, Laplace, Ledger, PureDP, Shares
    from hedgerow.privacy.distortion import Distortion
    from hedgerow.publisher import Publisher, param
    from hedgerow.querying import query
    from hedgerow.reading import read
    from hedgerow.release import Release
    from hedgerow.releases.key_file import open_key
    from hedgerow.releases.writer import read_release, write_release
    from hedgerow.score import Score

__version__: str

__all__ = [
    "DER",
    "KCL",
    "METHODS",
    "PM",
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
    "GaussianWeights",
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
    "MuWeightedKAnonymity",
    "NGram",
    "NGramMarkov",
    "NoisyDegrees",
    "NoisySingletons",
    "NumberAxis",
    "PairwiseMarginals",
    "PathBands",
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
    "merge_weights",
    "open_key",
    "param",
    "query",
    "read",
    "read_domain",
    "read_release",
    "write_release",
]

_HOMES = {
    "hedgerow.data": ("Domain", "NumberAxis"),
    "hedgerow.errors": ("GuaranteeError", "HedgerowError", "InputError"),
    "hedgerow.formats.domains": ("read_domain",),
    "hedgerow.querying": ("query",),
    "hedgerow.reading": ("read",),
    "hedgerow.releases.key_file": ("open_key",),
    "hedgerow.kinds.graphs.merged_weights": ("merge_weights",),
    "hedgerow.kinds.graphs.path_bands": ("PathBands",),
    "hedgerow.releases.writer": ("read_release", "write_release"),
    "hedgerow.privacy": (
        *("All", "Choose", "CorrelatedDP", "Criterion", "Flip", "Laplace", "Ledger", "PureDP", "Shares"),
    ),
    "hedgerow.privacy.distortion": ("Distortion",),
    "hedgerow.kinds.trajectories.criterion": ("KCL",),
    "hedgerow.kinds.graphs.criterion": ("MuWeightedKAnonymity",),
    "hedgerow.kinds.records.criterion": ("KAnonymity", "LDiversity"),
    "hedgerow.kinds.records.rule_promise": ("PM",),
    "hedgerow.methods": ("METHODS", "find_method"),
    "hedgerow.publisher": ("Publisher", "param"),
    "hedgerow.release": ("Release",),
    "hedgerow.score": ("Score",),
}


def __dir__() -> list[str]:
    registry = import_module("hedgerow.methods")
    return sorted({*__all__, *(place.partition(":")[2] for place in registry.METHODS.values())})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("hedgerow")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    # kinds and methods are looked up by class name in the registries, the only lists of them
    for kind in import_module("hedgerow.kind_registry").KINDS.values():
        if kind.type_name == name:
            return kind.type
    registry = import_module("hedgerow.methods")
    for method, place in registry.METHODS.items():
        if place.endswith(f":{name}"):
            return registry.find_method(method)
    msg = f"module 'hedgerow' has no attribute {name!r}"
    raise AttributeError(msg)
