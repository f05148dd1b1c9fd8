"""Short names of the shared measures of trajectories, for the columns of tables."""

SHORT_NAMES = {
    "total variation of times of first visits": "start",
    "total variation of times of last visits": "end",
    "total variation of times of visits": "times",
    "total variation of origin-destination pairs": "OD",
    "mean relative error of origin-destination counts": "OD error",
    "share of the 50 most frequent origin-destination pairs": "top OD",
    "total variation of places of visits": "places",
    "total variation of transitions between places": "transitions",
    "total variation of durations": "duration",
}
