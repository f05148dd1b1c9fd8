"""Settings of the test run: fixed examples, so that a failure is a failure every time."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100, database=None)
settings.load_profile("fixed")
