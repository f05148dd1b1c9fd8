"""Frontiers count private rows where they are: `count` returns small tables, `move` passes rows on."""

from hedgerow.frontiers.base import ENGINES, Counts, Engine, Frontier, find_engine
from hedgerow.frontiers.local import LOCAL, LocalEngine, LocalFrontier
from hedgerow.frontiers.region_rules import LatticeBin, Position, Quadrant
from hedgerow.frontiers.rows import Rows, Rule, SymbolLists
from hedgerow.frontiers.rules import (
    AtStart,
    Children,
    Duration,
    FirstAndLast,
    InnerVisit,
    ListSize,
    Mask,
    NextSymbol,
    PairRank,
    Step,
    StepType,
    SymbolBySize,
    TransitionType,
)

__all__ = [
    "ENGINES",
    "LOCAL",
    "AtStart",
    "Children",
    "Counts",
    "Duration",
    "Engine",
    "FirstAndLast",
    "Frontier",
    "InnerVisit",
    "LatticeBin",
    "ListSize",
    "LocalEngine",
    "LocalFrontier",
    "Mask",
    "NextSymbol",
    "PairRank",
    "Position",
    "Quadrant",
    "Rows",
    "Rule",
    "Step",
    "StepType",
    "SymbolBySize",
    "SymbolLists",
    "TransitionType",
    "find_engine",
]
