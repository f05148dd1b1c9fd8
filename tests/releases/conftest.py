"""Fixtures of the tests of files, folders and accounts."""

from __future__ import annotations

import pytest
from accounts import EMPTY


@pytest.fixture
def account(tmp_path):
    """The path of an account of which nothing is spent."""
    path = tmp_path / "account.toml"
    path.write_text(EMPTY)
    return path
