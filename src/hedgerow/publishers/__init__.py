"""The methods, one module or folder each, and their common base."""

from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.registry import METHODS, find_method

__all__ = ["METHODS", "Publisher", "find_method", "param"]
