"""Matrices: tables of numbers."""
