"""Checks for methods of your own: the replay law, exact small cases, conformance, mutants.

`hedgerow.testing.strategies` has hypothesis strategies and needs the extra `testing`.
"""

from hedgerow.audit import Replay, check_replay, output_law, worst_loss
from hedgerow.testing.catalogue import awkward, sequences_of, sets_of, trajectories_of
from hedgerow.testing.conformance import Conformance, check_publisher
from hedgerow.testing.mutants import changed, mutant

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
