"""Formats: between bytes and tables, one file per format."""
