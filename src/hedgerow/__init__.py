"""Hedgerow: publish rich data, not the people in it."""

from hedgerow.data import Domain, Sets
from hedgerow.errors import (
    BudgetExceeded,
    GuaranteeError,
    HedgerowError,
    InputError,
    NotSatisfied,
    UndeclaredDomain,
)
from hedgerow.privacy import All, Choose, Criterion, Flip, Laplace, Ledger, PureDP
from hedgerow.publishers import METHODS, Publisher, find_method, param
from hedgerow.publishers.sets.flat_laplace import FlatLaplace
from hedgerow.release import Release
from hedgerow.score import Score

__all__ = [
    "METHODS",
    "All",
    "BudgetExceeded",
    "Choose",
    "Criterion",
    "Domain",
    "FlatLaplace",
    "Flip",
    "GuaranteeError",
    "HedgerowError",
    "InputError",
    "Laplace",
    "Ledger",
    "NotSatisfied",
    "Publisher",
    "PureDP",
    "Release",
    "Score",
    "Sets",
    "UndeclaredDomain",
    "find_method",
    "param",
]
