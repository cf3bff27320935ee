"""All tests here and doctests in the palette have the marker `spark`."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
PALETTE = HERE.parents[2] / "palettes" / "millstream" / "palettes" / "spark"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents or PALETTE in item.path.parents:
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
