"""Attacks on distorted matrices, one family per file."""
