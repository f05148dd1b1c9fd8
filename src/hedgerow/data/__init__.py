"""Data sets, and what is public about them."""

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Axis, Domain, Source, Value
from hedgerow.data.graphs import Graph
from hedgerow.data.labels import Labels
from hedgerow.data.lists import Lists
from hedgerow.data.matrices import Matrix
from hedgerow.data.ngrams import NGrams
from hedgerow.data.number_axis import NumberAxis
from hedgerow.data.sequences import Sequences
from hedgerow.data.sets import Sets
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.data.trajectories import Trajectories

__all__ = [
    "Axis",
    "Dataset",
    "Domain",
    "Graph",
    "Labels",
    "Lists",
    "Matrix",
    "NGrams",
    "NumberAxis",
    "Sequences",
    "Sets",
    "Source",
    "Taxonomy",
    "Trajectories",
    "Value",
]
