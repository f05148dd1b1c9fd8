"""Checks of a promise by running the method: the replay law and exact small cases."""

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
