"""Nested records: one tree per person."""
