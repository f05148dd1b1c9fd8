"""Checks of a promise by running the method: the replay law and exact small cases."""

from hedgerow.audit.exact import output_law, worst_loss
from hedgerow.audit.replay import Recorder, Replay, Replayer, check_replay, release_bytes

__all__ = [
    "Recorder",
    "Replay",
    "Replayer",
    "check_replay",
    "output_law",
    "release_bytes",
    "worst_loss",
]
