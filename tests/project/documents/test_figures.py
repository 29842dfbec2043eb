"""The table of each planner's gaps and proofs on @graphs, in the README and in docs/figures.md, is right.

The hill climbs are checked at night, and only their worst gaps and proofs: on three networks ten seconds end them, so
that the other figures depend on the machine's speed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

from planner import Options, Plan, PlanStatus, plan
from planner.bench.running.suites import SUITES
from planner.generate import generate
from planner.planning.placing.pipeline import WORK_PER_SECOND

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("README.md", "docs/figures.md")
COMMAND = re.compile(r"memplan bench @graphs --solvers (\S+) --time-limit 10")
ROW = re.compile(r"^\| [^|]+ \| ([\d.]+) % \| ([\d.]+) % \| (?:(\d+) of 30)?", re.MULTILINE)
NAMES = {
    "auto": "memplan",
    "vela_hill_climb": "Vela's hill climb",
    "tflm_greedy": "TensorFlow Lite Micro's greedy",
    "usmp_hill_climb": "USMP",
    "xla_heap": "XLA's heap simulator",
}
CLIMBS = {"vela_hill_climb", "usmp_hill_climb"}
"""Solvers that take minutes."""
PATIENT = Options(workers=1, time_limit=None, work_limit=10 * WORK_PER_SECOND)
"""Options that stand for the command's ten seconds, however busy the machine is."""


@cache
def plans(solver: str) -> tuple[Plan, ...]:
    """Return one plan for each network."""
    options = Options(solver=solver, workers=1) if solver in CLIMBS else replace(PATIENT, solver=solver)
    return tuple(plan(generate(kind, request), options) for kind, request in SUITES["graphs"])


@cache
def measured(solver: str) -> tuple[tuple[float, ...], int]:
    """Return the gap on each network in percent of the bound of `auto`, and how many plans are optimal."""
    values = [made.objective.value for made in plans(solver)]
    bounds = [made.objective.bound for made in plans("auto")]
    gaps = [100 * (value - bound) / bound for value, bound in zip(values, bounds, strict=True) if value and bound]
    assert len(gaps) == 30
    return tuple(gaps), sum(made.status is PlanStatus.OPTIMAL for made in plans(solver))


@pytest.mark.parametrize("page", PAGES)
def test_the_figures_beside_other_planners_equal_the_command_s(page: str, nightly: bool) -> None:
    text = (ROOT / page).read_text("utf-8")
    (names,) = COMMAND.findall(text)
    assert set(names.split(",")) == NAMES.keys()
    for solver, name in NAMES.items():
        (line,) = [line for line in text.splitlines() if line.startswith("| ") and name in line and " % |" in line]
        shown = ROW.match(line)
        assert shown, line
        if solver in CLIMBS and not nightly:
            continue
        gaps, proven = measured(solver)
        figures = [(max(gaps), shown[2])] if solver in CLIMBS else [(fmean(gaps), shown[1]), (max(gaps), shown[2])]
        for percent, figure in figures:
            decimals = len(figure.partition(".")[2])
            assert f"{percent:.{decimals}f}" == figure, (solver, gaps)
        assert shown[3] in (None, str(proven)), solver
