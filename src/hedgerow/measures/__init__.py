"""Utility measures, one module per kind of data: functions that return scores, each compared with controls."""
