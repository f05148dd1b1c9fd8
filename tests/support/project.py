"""Where the files of the project are, for tests in any folder."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
VECTORS = TESTS / "vectors"
