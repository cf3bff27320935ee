"""The documentation builds without a warning, and what is to be found on its pages is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    options = [
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-c",
        "examples/docs",
        "-d",
        str(folder / "doctrees"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ".", str(folder / "html")],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.mark.xdist_group("site")
def test_site_begins_at_its_root(site):
    target = re.search(r'href="([^"]+)"', (site / "index.html").read_text())[1]
    assert "<h1>millstream" in (site / target).read_text()


@pytest.mark.xdist_group("site")
def test_site_has_pictures_names_examples_and_commands(site):
    docs = site / "examples" / "docs"
    assert "<svg" in (docs / "tutorial.html").read_text()
    assert "<svg" in (site / "palettes" / "README.html").read_text()
    assert 'id="millstream.processors.Filter"' in (docs / "reference" / "processors.html").read_text()
    assert "Usage: millstream check" in (docs / "reference" / "command.html").read_text()
    gallery = (docs / "gallery.html").read_text()
    for path in (ROOT / "examples").glob("*.py"):
        assert f"<h2>{path.name}" in gallery


@pytest.mark.xdist_group("site")
def test_site_links_lead_somewhere(site):
    for page in site.rglob("*.html"):
        for link in re.findall(r'<a[^>]* href="([^"#:?]+)(?:#[^"]*)?"', page.read_text()):
            assert (page.parent / link).exists(), f"{page.relative_to(site)} links to {link}"


@pytest.mark.xdist_group("site")
def test_site_needs_nothing_from_elsewhere(site):
    """Pages can be read without a network: no script, style or picture comes from another host."""
    for page in site.rglob("*.html"):
        assert (
            re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text()) == []
        )
