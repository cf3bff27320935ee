"""What millstream depends on: declared, explained, permissively licensed; and what is built installs."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
USED = {
    extra: names
    for extra, names in {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}.items()
    if extra not in ("dev", "docs", "all")
}
PERMISSIVE = re.compile(r"MIT|BSD|Apache|Python Software Foundation|PSF|ISC|HPND|MPL", re.IGNORECASE)


def name_of(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0]


def direct() -> list[str]:
    return sorted({name_of(r) for names in USED.values() for r in names})


def test_every_dependency_is_explained():
    text = (ROOT / "SECURITY.md").read_text()
    table = text.partition("| package | extra |")[2]
    explained = {
        name.strip() for row in re.findall(r"^\| ([^|]+) \|", table, re.M) for name in row.split(",")
    }
    assert explained - {"---"} == set(direct())


def test_every_dependency_has_a_lower_bound():
    assert [r for names in USED.values() for r in names if ">=" not in r] == []


@pytest.mark.parametrize("package", direct())
def test_licence_is_permissive(package):
    found = metadata(package)
    told = [found.get("License-Expression"), found.get("License"), *found.get_all("Classifier", [])]
    licences = [t for t in told if t and ("License" in t or t in told[:2])]
    assert any(PERMISSIVE.search(t) for t in licences), f"{package}: {licences}"


def test_installed_package_declares_what_the_project_does():
    assert {name_of(r) for r in requires("millstream") if "extra ==" not in r} == {
        name_of(r) for r in PROJECT["dependencies"]
    }


def run(*command: object, **options) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_installs_in_a_clean_environment(kind, tmp_path):
    run(sys.executable, "-m", "build", f"--{kind}", "--outdir", tmp_path, ROOT)
    (built,) = tmp_path.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", built)
    told = run(
        python,
        "-c",
        "from millstream.processors import Count, Filter, X\n"
        "from millstream.palettes.ltl import Monitor\n"
        "from millstream.palettes.slicer import Slice\n"
        "import millstream.concurrency, millstream.palettes.cep\n"
        "print(list((Filter(X > 1) | Count())([1, 2, 3])), list(Monitor('G a')([{'a': False}])))",
        cwd=tmp_path,
    )
    assert told == "[1, 2] [FALSE]\n"
    trace = tmp_path / "trace.csv"
    trace.write_text("a,b\n1,0\n0,1\n")
    assert "holds" in run(tmp_path / "venv" / "bin" / "millstream", "check", "G (a == 1 -> F b == 1)", trace)


@pytest.mark.slow
def test_oldest_allowed_versions_pass_the_tests(tmp_path):
    """The lower bounds of what processors and columns need, installed exactly, run their tests."""
    bounds = [r.replace(">=", "==").split(",")[0] for extra in ("", "columns") for r in USED[extra]]
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pinned = [re.sub(r"==(\d+)$", r"==\1.*", b) for b in bounds]
    tools = [
        "pytest",
        "hypothesis",
        "pytest-xdist",
        "pytest-benchmark",
        "prometheus-client",
        "opentelemetry-sdk",
    ]
    run(python, "-m", "pip", "install", "-q", *pinned, *tools)
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--editable", ROOT)
    tests = ["tests/processors", "tests/palettes/columns", "tests/palettes/windows"]
    told = run(python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests, cwd=ROOT)
    assert " passed" in told
