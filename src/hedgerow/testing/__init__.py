"""Checks for methods of your own: the replay law, exact small cases, conformance, mutants.

`hedgerow.testing.strategies` has hypothesis strategies and needs the extra `testing`.
"""

from hedgerow.audit import Replay, check_replay, output_law, worst_loss
from hedgerow.testing.conformance import Conformance, check_publisher
from hedgerow.testing.mutants import changed, mutant
from hedgerow.testing.sequences import sequences_of
from hedgerow.testing.sets import sets_of
from hedgerow.testing.shapes import awkward
from hedgerow.testing.trajectories import trajectories_of

__all__ = [
    "Conformance",
    "Replay",
    "awkward",
    "changed",
    "check_publisher",
    "check_replay",
    "mutant",
    "output_law",
    "sequences_of",
    "sets_of",
    "trajectories_of",
    "worst_loss",
]
