"""Utility measures, one file a kind: functions that return scores, with controls beside them."""
