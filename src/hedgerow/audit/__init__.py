"""Checks of a promise: the replay law, exact enumeration of small cases, and verification of release folders."""

from hedgerow.audit.exact_enumeration import output_distribution, worst_loss
from hedgerow.audit.replay import Recorder, Replay, Replayer, check_replay, release_bytes

__all__ = [
    "Recorder",
    "Replay",
    "Replayer",
    "check_replay",
    "output_distribution",
    "release_bytes",
    "worst_loss",
]
