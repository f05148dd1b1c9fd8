"""Anatomy of nested records: groups of records of which the link between labels and sensitive values is cut."""
