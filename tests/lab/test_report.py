"""Reports, plots and the command line."""

import io
import json
import os
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from rich.console import Console

from millstream.cli import main
from millstream.lab import Laboratory, Missing
from millstream.lab.plots import bars, lines, load_over_time, render
from millstream.lab.report import markdown, write
from millstream.lab.store import Sample
from millstream.lab.tour import measured
from millstream.lab.view import view_run

from .conftest import FILE


def command(*arguments: str):
    return CliRunner().invoke(main, ["lab", *arguments])


@pytest.fixture
def options(tmp_path, door):
    return ["--folder", str(tmp_path / "lab"), "--file", FILE]


def test_command_lists_experiments(options):
    done = command("list", *options, "wa*")
    assert done.exit_code == 0, done.output
    assert "waits" in done.output
    assert "measures" not in done.output


def test_command_runs_and_writes_the_report(options, tmp_path):
    done = command("run", *options, "waits")
    assert done.exit_code == 0, done.output
    assert "squares are squares" in done.output
    folder = tmp_path / "lab" / "run-1"
    assert {"report.html", "report.md", "data.json", "loads.csv", "machine.json", "plots"} <= {
        p.name for p in folder.iterdir()
    }
    assert f"report: {folder / 'report.html'}" in done.output


def test_command_run_that_fails_has_status_1(options):
    done = command("run", *options, "ends", "--quick")
    assert done.exit_code == 1
    assert "ValueError: on purpose" in done.output


def test_command_resumes(options, tmp_path):
    lab = Laboratory(tmp_path / "lab", [FILE])
    lab.plan(["waits"])
    lab.close()
    done = command("run", *options, "--resume")
    assert done.exit_code == 0, done.output
    assert "run 1: 4 points to measure" in done.output


def test_command_that_is_interrupted_can_be_continued(options, door):
    os.mkfifo(door / "door1")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-m", "millstream.lab", "run", *options, "waits"]
    running = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)
    with (door / "door1").open("wb"):  # opens when the second point waits on the other side
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate()
    assert running.returncode == 130
    assert "stopped; `millstream lab run --resume --run 1` continues" in printed
    (door / "door1").unlink()
    assert "run 1: 3 points to measure" in command("run", *options, "--resume").output


def test_command_says_what_is_wrong_without_a_traceback(options):
    for arguments, words in (
        (["run", *options, "nothing"], "no experiment matches 'nothing'"),
        (["report", *options], "has no run (there are 0); `millstream lab run` makes one"),
        (["list", "--folder", options[1], "--file", "gone.py"], "there is no such file"),
        (["run", *options, "--resume", "--quick"], "--resume continues a run as it was begun"),
    ):
        done = command(*arguments)
        assert done.exit_code != 0
        assert words in " ".join(done.output.split())
        assert "Traceback" not in done.output


def test_command_report_writes_a_zip(options, tmp_path):
    command("run", *options, "measures")
    done = command("report", *options, "--zip", "--quiet")
    assert (tmp_path / "lab" / "millstream-lab-run-1.zip").exists(), done.output


def test_module_is_the_command(options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-m", "millstream.lab", "list", *options]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "waits" in done.stdout) == (0, True)


def test_markdown_has_tables_and_claims(lab):
    run = lab.run(["waits"])
    text = markdown(view_run(lab, run), {"waits": [("Plot", "plots/x.svg")]})
    assert "| n | part | square |" in text
    assert "| confirmed | squares are squares | 4 |  |" in text
    assert "![Plot](plots/x.svg)" in text


def test_trouble_is_said_in_the_report(lab):
    run = lab.run(["ends"], quick=True)
    path = write(lab, run)
    for text in (path.read_text(), path.with_suffix(".md").read_text()):
        assert "one and one make three" in text
        assert "ValueError: on purpose" in text
        assert "no Java here" in text
    assert len(json.loads((path.parent / "data.json").read_text())["experiments"]["ends"]["troubles"]) == 4


ROWS = [{"n": 1, "Hz": 10, "paper": 3}, {"n": 2, "Hz": 30, "paper": None}, {"n": 4, "Hz": 40}]
SAMPLES = [Sample(0.25 * k, [0.5, 1.0], 0.4, 80.0) for k in range(1, 5)]


@pytest.mark.parametrize(
    "draw",
    [
        lambda figure: lines(figure, ROWS, "n", ["Hz", "paper"], log="xy", dashed=["paper"]),
        lambda figure: lines(figure, ROWS, "n", ["Hz"], by="paper"),
        lambda figure: bars(figure, ROWS, "n", ["Hz", "paper"], log=True),
        lambda figure: load_over_time(figure, [("push", SAMPLES), ("pull", SAMPLES), ("none", [])]),
    ],
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_plots_are_drawn_as_svg_and_png(draw, theme):
    assert ElementTree.fromstring(render(draw, "svg", theme)).tag.endswith("svg")
    assert render(draw, "png", theme).startswith(b"\x89PNG")


def test_plot_without_figures_is_missing():
    with pytest.raises(Missing, match=r"no row has 'n' and one of \['Hz'\]"):
        render(lambda figure: lines(figure, [{"n": 1}], "n", ["Hz"]))
    with pytest.raises(Missing, match="no point took long enough"):
        render(lambda figure: load_over_time(figure, [("push", [])]))


def test_lines_show_the_figures_that_rows_have():
    drawn = []
    render(lambda figure: drawn.append(lines(figure, ROWS, "n", ["Hz", "paper"])))
    assert [list(line.get_ydata()) for line in drawn[0].lines] == [[10, 30, 40], [3]]


def test_main_job_shows_tables_and_writes_the_report(tmp_path):
    out = io.StringIO()
    report, well = measured(Console(file=out, width=200), tmp_path, ["engine", "nothing*"])
    assert well
    assert "Events per second, and ratios to the naive form" in out.getvalue()
    assert report == tmp_path / "run-1" / "report.html"
    assert report.exists()
