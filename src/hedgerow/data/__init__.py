"""Data sets, and what is public about them."""

from hedgerow.data.axis import Axis, Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source
from hedgerow.data.lists import Lists
from hedgerow.data.number_axis import NumberAxis
from hedgerow.data.taxonomy import Taxonomy

__all__ = [
    "Axis",
    "Dataset",
    "Domain",
    "Lists",
    "NumberAxis",
    "Source",
    "Taxonomy",
    "Value",
]
