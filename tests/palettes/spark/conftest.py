"""One Spark session for all tests that need one; all here and in the palette has the marker `spark`."""

from pathlib import Path

import pytest

from millstream.palettes.spark import local_session

HERE = Path(__file__).parent
PALETTE = HERE.parents[2] / "palettes" / "millstream" / "palettes" / "spark"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents or PALETTE in item.path.parents:
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark():
    session = local_session(2)
    session.sparkContext.setLogLevel("FATAL")  # the errors that tests provoke
    yield session
    session.stop()
