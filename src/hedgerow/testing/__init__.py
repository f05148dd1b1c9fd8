"""Checks for methods of your own: the replay law, exact small cases, conformance, mutants, whole commands.

`hedgerow.testing.strategies` has hypothesis strategies and needs the extra `testing`.
"""

from hedgerow.audit import Replay, check_replay, output_distribution, worst_loss
from hedgerow.audit.command_replay import CommandPair, CommandReplay, check_command_replay
from hedgerow.kinds.sequences.cases import sequences_of
from hedgerow.kinds.sets.cases import sets_of
from hedgerow.kinds.trajectories.cases import trajectories_of
from hedgerow.testing.conformance import Conformance, check_publisher
from hedgerow.testing.edge_cases import build_edge_cases
from hedgerow.testing.mutants import changed, mutant

__all__ = [
    "CommandPair",
    "CommandReplay",
    "Conformance",
    "Replay",
    "build_edge_cases",
    "changed",
    "check_command_replay",
    "check_publisher",
    "check_replay",
    "mutant",
    "output_distribution",
    "sequences_of",
    "sets_of",
    "trajectories_of",
    "worst_loss",
]
