"""The command itself: help, drawings, completion, and what happens when a part is missing."""

import os
import sys
import xml.etree.ElementTree as ET

import pytest

from millstream.cli import COMMANDS


def test_help_names_every_command(millstream):
    text = millstream("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_help(millstream, name):
    assert f"Usage: millstream {name}" in millstream(name, "--help").stdout


def test_unknown_command_names_the_known_ones(millstream):
    failed = millstream("rnu", status=2)
    assert f"No such command 'rnu'; the commands are {', '.join(sorted(COMMANDS))}." in failed.stderr


def test_missing_part_takes_only_its_own_command_away(millstream, write):
    hide = "import sys\nsys.modules['millstream.cli.draw'] = None\n"
    write("sitecustomize.py", hide)
    assert "run " in millstream("--help", PYTHONPATH=here_first()).stdout
    failed = millstream("draw", "query.py", status=2, PYTHONPATH=here_first())
    assert failed.stderr.startswith("Error: draw is not available here:")


def here_first():
    """The path on which the command's own folder comes first, and with it its sitecustomize."""
    return os.pathsep.join([".", *(p for p in sys.path if p)])


def test_draw_by_suffix(millstream, tmp_path):
    assert millstream("draw", "query.py").stdout.startswith("flowchart LR\n")
    assert millstream("draw", "query.py", "-o", "q.svg").stderr == "wrote q.svg\n"
    assert ET.fromstring((tmp_path / "q.svg").read_text()).tag.endswith("svg")
    millstream("draw", "query.py:both", "-o", "q.dot")
    assert (tmp_path / "q.dot").read_text().startswith("digraph")
    failed = millstream("draw", "query.py", "-o", "q.png", status=2)
    assert "the file must end in .svg, .dot or .mmd, got 'q.png'" in failed.stderr


@pytest.mark.parametrize(
    ("shell", "begins"),
    [
        ("bash", "_millstream_completion"),
        ("zsh", "#compdef millstream"),
        ("fish", "function _millstream_comp"),
    ],
)
def test_completion_script(millstream, shell, begins):
    assert millstream("completion", shell).stdout.startswith(begins)


def complete(millstream, words):
    """What bash would offer for the last of the words."""
    given = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    out = millstream(_MILLSTREAM_COMPLETE="bash_complete", **given).stdout
    return [line.partition(",")[2] or line for line in out.split()]


def test_completion_of_commands_options_and_files(millstream):
    assert complete(millstream, ["millstream", "ch"]) == ["check"]
    assert "--follow" in complete(millstream, ["millstream", "run", "--fo"])
    assert complete(millstream, ["millstream", "run", "--to", "j"]) == ["json"]
    assert complete(millstream, ["millstream", "run", "que"]) == ["que"]  # a file: the shell does the rest
