"""What the tests of the lab share."""

from pathlib import Path

import pytest

from millstream.lab import Laboratory

FILE = str(Path(__file__).parent / "waiting.py")


@pytest.fixture
def door(tmp_path, monkeypatch):
    """The folder of the named pipes at which the experiments of waiting.py wait."""
    monkeypatch.setenv("LAB_TEST_DOOR", str(tmp_path))
    return tmp_path


@pytest.fixture
def lab(tmp_path, door):
    """A laboratory with the experiments of waiting.py."""
    laboratory = Laboratory(tmp_path / "lab", [FILE])
    yield laboratory
    laboratory.close()
