"""The methods: one file each, and what they have in common."""

from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.registry import METHODS, find_method

__all__ = ["METHODS", "Publisher", "find_method", "param"]
