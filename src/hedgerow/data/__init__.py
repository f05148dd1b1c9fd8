"""What we hold: data sets and what is public about them."""

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Axis, Domain, Source, Value
from hedgerow.data.lists import Lists
from hedgerow.data.partitions import Counted, Partitions
from hedgerow.data.sequences import Sequences
from hedgerow.data.sets import Sets
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.data.trajectories import Trajectories

__all__ = [
    "Axis",
    "Counted",
    "Dataset",
    "Domain",
    "Lists",
    "Partitions",
    "Sequences",
    "Sets",
    "Source",
    "Taxonomy",
    "Trajectories",
    "Value",
]
