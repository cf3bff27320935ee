"""The layout of the project: namespace portions, the root's entries, and what an installation contains."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parent.parent
PORTIONS = ("processors", "concurrency", "palettes", "lab")
REQUIRED = {"pyproject.toml", "README.md", *PORTIONS, "examples", "tests"}
PERMITTED = REQUIRED | {"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md", "mill.py"}
LEFT_BY_TOOLS = {"__pycache__", "build", "dist"}


def packages() -> list[Path]:
    """Every importable package right below the namespace, palettes included."""
    found = [ROOT / portion / "millstream" / portion for portion in PORTIONS if portion != "palettes"]
    found.append(ROOT / "processors" / "millstream" / "cli")
    found += (ROOT / "palettes" / "millstream" / "palettes").glob("[!_]*")
    return [path for path in found if path.is_dir() and any(path.rglob("*.py"))]


def sources() -> set[str]:
    """The files that a wheel must contain, as paths inside it."""
    files = {(path, portion) for portion in PORTIONS for path in (ROOT / portion / "millstream").rglob("*")}
    return {
        path.relative_to(ROOT / portion).as_posix()
        for path, portion in files
        if path.is_file() and "__pycache__" not in path.parts
    }


def build(version: str, directory: Path) -> zipfile.ZipFile:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(directory), versions=[version])
    return zipfile.ZipFile(wheel)


def test_namespace_has_no_init_file():
    forbidden = [ROOT / portion / "millstream" / "__init__.py" for portion in PORTIONS]
    forbidden += [ROOT / portion / "__init__.py" for portion in PORTIONS]
    forbidden.append(ROOT / "palettes" / "millstream" / "palettes" / "__init__.py")
    assert [path for path in forbidden if path.exists()] == []


@pytest.mark.parametrize("package", packages(), ids=lambda path: path.name)
def test_package_is_regular_and_typed(package):
    assert (package / "__init__.py").exists()
    assert (package / "py.typed").exists()


def test_root_has_exactly_the_permitted_entries():
    entries = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} - LEFT_BY_TOOLS
    assert entries - PERMITTED == set()
    assert REQUIRED - entries == set()


def test_portion_has_a_readme():
    assert [
        folder for folder in (*PORTIONS, "examples", "tests") if not (ROOT / folder / "README.md").exists()
    ] == []


def test_wheel_contains_all_portions(tmp_path):
    with build("standard", tmp_path) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == sources()
    assert {"millstream/processors/py.typed", "millstream/lab/py.typed"} <= names


def test_editable_install_links_every_portion(tmp_path):
    with build("editable", tmp_path) as wheel:
        (link,) = (name for name in wheel.namelist() if name.endswith(".pth"))
        lines = wheel.read(link).decode().split()
    assert sorted(lines) == sorted(str(ROOT / portion) for portion in PORTIONS)


@pytest.mark.parametrize("removed", ["concurrency", "lab"])
def test_portion_can_be_deleted(removed, tmp_path):
    remaining = [portion for portion in PORTIONS if portion != removed]
    for portion in remaining:
        shutil.copytree(ROOT / portion, tmp_path / portion, ignore=shutil.ignore_patterns("__pycache__"))
    script = """
import importlib, sys
sys.path[:0] = sys.argv[2:]
try:
    importlib.import_module("millstream." + sys.argv[1])
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("still importable: " + sys.argv[1])
for name in sys.stdin.read().split():
    importlib.import_module(name)
"""
    names = [".".join(path.relative_to(ROOT).parts[1:]) for path in packages() if path.parts[-3] != removed]
    # -I leaves out the installed (editable) millstream; the packages it needs come in by their own folders.
    paths = [str(tmp_path / portion) for portion in remaining] + library_paths()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, removed, *paths],
        input=" ".join(names),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def library_paths() -> list[str]:
    """Where the third-party packages are; -S leaves out the links of editable installations in there."""
    import attrs

    return [str(Path(attrs.__file__).parent.parent)]
