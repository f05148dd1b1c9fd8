"""Attacks on releases, one per file: what somebody who has the release can recover of the original."""
