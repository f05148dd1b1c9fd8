"""Settings of the test run: fixed examples and fixed noise, so that a failure is a failure every time.

`HEDGEROW_TEST_NOISE=system` runs the tests on the operating system's entropy instead, to look for tests whose outcome
depends on chance. Tests marked `system_noise`, and commands in a process of their own, always draw from it.

`--shuffle SEED` runs the tests in another order, to look for tests that leave something behind.
"""

import os
import random
import zlib

import pytest
from hypothesis import settings

from hedgerow.privacy import samplers

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100, database=None)
settings.load_profile("fixed")


def pytest_addoption(parser):
    """Take the seed of another order."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in another order, by this seed")


def pytest_collection_modifyitems(config, items):
    """Bring the tests into another order, if asked to."""
    if config.getoption("--shuffle") is not None:
        random.Random(config.getoption("--shuffle")).shuffle(items)


_draw_from_system = samplers._SystemBits.words
_source = samplers.bits(seed=0)


def _draw_fixed(_, size):
    return _source.words(size)


def _fix_noise(name: str, *, system: bool = False) -> None:
    """Start the noise of a test, or of a fixture that several tests share, by its name: not by what ran before it."""
    global _source  # noqa: PLW0603
    _source = samplers.bits(seed=zlib.crc32(name.encode()))
    system = system or os.environ.get("HEDGEROW_TEST_NOISE") == "system"
    samplers._SystemBits.words = _draw_from_system if system else _draw_fixed


def _short(node: str) -> str:
    """Name a test by its file, wherever that is: tests that move keep their noise."""
    return node.rpartition("/")[2]


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    _fix_noise(f"{_short(fixturedef.baseid)} {fixturedef.argname} {_short(request.node.nodeid)}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    _fix_noise(_short(item.nodeid), system=item.get_closest_marker("system_noise") is not None)


def pytest_terminal_summary(terminalreporter):
    """Print in how many examples of the replay law an exact answer moved."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")
