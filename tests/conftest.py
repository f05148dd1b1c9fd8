"""Settings of the test run: fixed examples, so that a failure is a failure every time."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100, database=None)
settings.load_profile("fixed")


def pytest_terminal_summary(terminalreporter):
    """Print in how many examples of the replay law an exact answer moved."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")
