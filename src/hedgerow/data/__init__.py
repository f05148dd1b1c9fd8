"""Data sets, and what is public about them."""

from hedgerow.data.axis import Axis, Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source
from hedgerow.data.lists import Lists
from hedgerow.data.number_axis import NumberAxis
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sequences.labels import Labels
from hedgerow.kinds.sequences.ngrams.data import NGrams
from hedgerow.kinds.sets.data import Sets
from hedgerow.kinds.trajectories.data import Trajectories

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
