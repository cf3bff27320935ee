"""Settings shared by all tests."""

import os

import pytest
from hypothesis import settings

# A slow or busy machine is not a failure: no deadlines. The test command has ten minutes; who has more says
# --hypothesis-profile=thorough.
settings.register_profile("millstream", deadline=None, print_blob=True, max_examples=25)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile("millstream")


def takes_the_session(item: pytest.Item) -> bool:
    """Tell whether a test takes the session, or is a doctest that starts one."""
    if isinstance(item, pytest.DoctestItem):
        return any("local_session" in example.source for example in item.dtest.examples)
    return "spark" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Spark, and send them to one worker, so that they share one session.

    What can be tested of the palette without a session is not among them: the tests on Spark are the longest
    part of a run, to which nothing is added that the other workers can do.
    """
    for item in items:
        if takes_the_session(item):
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
    if not any(item.get_closest_marker("bench") for item in items):
        # Java's second compiler takes more time than hundreds of tiny jobs win by it
        os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.fixture(scope="session")
def spark():
    """The Spark session of all tests, doctests and examples; starting one takes seconds."""
    from millstream.palettes.spark import local_session

    session = local_session(2)
    session.sparkContext.setLogLevel("FATAL")  # the errors that tests provoke
    yield session
    session.stop()
