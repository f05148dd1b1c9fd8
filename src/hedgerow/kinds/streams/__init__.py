"""Streams: events in order."""
