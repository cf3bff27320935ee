"""Prints, after the benchmarks, how many times faster than the naive form each form of a workload is."""

from collections import defaultdict

import pytest

from millstream.lab.measure import rate, table


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    """Print the ratios; all figures are of this one run."""
    session = getattr(config, "_benchmarksession", None)
    groups: dict[str, dict[str, float]] = defaultdict(dict)
    for bench in session.benchmarks if session else ():
        if bench.extra_info.get("form") and not bench.has_error:
            groups[bench.group][bench.extra_info["form"]] = bench.extra_info["events"] / bench.stats.min
    rows = [row(name, rates) for name, rates in groups.items() if {"naive", "push", "pull"} <= rates.keys()]
    if rows:
        terminalreporter.section("events per second, and ratios to the naive form")
        header = ("workload", "naive", "push", "pull", "push/naive", "pull/naive")
        terminalreporter.write_line(table([header, *rows]))


def row(name: str, rates: dict[str, float]) -> tuple[str, ...]:
    """Make a row of the table."""
    naive, push, pull = (rates[form] for form in ("naive", "push", "pull"))
    return (name, rate(naive), rate(push), rate(pull), f"{push / naive:.1f}", f"{pull / naive:.1f}")
