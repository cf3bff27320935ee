"""Settings shared by all tests."""

import pytest
from hypothesis import settings

# A slow or busy machine is not a failure: no deadlines. The test command has ten minutes; who has more says
# --hypothesis-profile=thorough.
settings.register_profile("millstream", deadline=None, print_blob=True, max_examples=50)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile("millstream")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Send all tests that need Spark to one worker, so that they share one session."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark():
    """The Spark session of all tests, doctests and examples; starting one takes seconds."""
    from millstream.palettes.spark import local_session

    session = local_session(2)
    session.sparkContext.setLogLevel("FATAL")  # the errors that tests provoke
    yield session
    session.stop()
