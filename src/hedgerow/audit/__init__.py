"""Checks of a promise: the replay law, exact enumeration of small cases, and verification of release folders."""

from hedgerow.audit.command_replay import CommandPair, CommandReplay, check_command_replay
from hedgerow.audit.exact_enumeration import output_distribution, worst_loss
from hedgerow.audit.replay import Recorder, Replay, Replayer, check_replay, release_bytes

__all__ = [
    "CommandPair",
    "CommandReplay",
    "Recorder",
    "Replay",
    "Replayer",
    "check_command_replay",
    "check_replay",
    "output_distribution",
    "release_bytes",
    "worst_loss",
]
