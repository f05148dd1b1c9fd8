"""What we hold: data sets and what is public about them."""

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Axis, Domain, Source, Value
from hedgerow.data.sets import Sets

__all__ = ["Axis", "Dataset", "Domain", "Sets", "Source", "Value"]
