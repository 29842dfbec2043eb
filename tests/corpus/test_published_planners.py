"""On other systems' inputs, memplan's planners of the same name give the figures that those systems published."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from planner import Options, PlanStatus, plan
from planner.formats import read_problem
from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.model.instance import Instance, Placement
from solvers.model.objective import peaks
from solvers.model.registry import get
from solvers.model.solver import Silent, Task
from solvers.others.named.heuristic import Heuristic, Run
from solvers.others.named.rigid import rigid
from tests.conftest import CORPUS

FOUND = {folder: sorted((CORPUS / folder).glob("*.json")) for folder in ("usmp", "nets")}
USMP, NETS = (tuple(paths) or (CORPUS / folder / "absent.json",) for folder, paths in FOUND.items())
"""Instances by folder; without a corpus, an absent path for a test to skip."""

pytestmark = pytest.mark.skipif(
    not all(FOUND.values()), reason=f"corpus: no instances in {CORPUS.name}; set MEMPLAN_CORPUS"
)

SLACK_PERCENT = 5
"""By how many percent TVM's tests let the hill climb exceed the memory pressure."""


def read(path: Path) -> Problem:
    return read_problem(path.read_bytes(), name=path.name)[0]


def placed(solver: str, instance: Instance) -> Placement:
    """Return the planner's own placement, without checking it."""
    planner = get(solver)
    assert isinstance(planner, Heuristic)
    return planner.place(instance, rigid(instance), Run(Silent(), Task()))


@pytest.mark.parametrize("solver", ["usmp_by_size", "usmp_by_conflicts", "usmp_hill_climb"])
@pytest.mark.parametrize("path", USMP, ids=lambda path: path.stem)
def test_planners_of_tvm_give_its_published_figures(path: Path, solver: str) -> None:
    document = json.loads(path.read_bytes())
    problem = read(path)
    placement = placed(solver, lower(problem).instance)
    found = dict(zip((pool.name for pool in problem.pools), peaks(lower(problem).instance, placement), strict=True))
    expected = document.get("expected_peak", {})
    if solver in expected:
        assert found == expected[solver]
    elif "offsets" in expected:
        names = [buffer.id for buffer in problem.buffers]
        assert dict(zip(names, placement.offset.tolist(), strict=True)) == expected["offsets"]
    else:
        pressure = document["memory_pressure"]
        assert sum(found.values()) >= pressure
        if solver == "usmp_hill_climb":
            assert 100 * sum(found.values()) <= (100 + SLACK_PERCENT) * pressure


def test_a_plan_by_lists_that_are_not_symmetric_is_withheld_or_right() -> None:
    problem = read(CORPUS / "usmp" / "fanout.json")
    assert problem.constraints.listed
    for solver in ("usmp_by_size", "usmp_by_conflicts", "usmp_hill_climb"):
        made = plan(problem, Options(solver=solver))
        assert made.status is (PlanStatus.FEASIBLE if made.placements else PlanStatus.UNKNOWN)
        assert made.warnings or made.placements


@pytest.mark.parametrize(("name", "peak"), [("simple", 216096)])
def test_vela_s_hill_climb_gives_its_published_figure(name: str, peak: int) -> None:
    assert plan(read(CORPUS / "usmp" / f"{name}.json"), Options(solver="vela_hill_climb")).peak == peak


@pytest.mark.parametrize("path", NETS, ids=lambda path: path.stem)
def test_greedy_and_first_fit_give_executorch_s_figures_on_networks(path: Path) -> None:
    with (CORPUS / "nets" / "SUMMARY.csv").open() as file:
        row = next(row for row in csv.DictReader(file) if row["name"] == path.stem)
    instance = lower(read(path)).instance

    def rounded(solver: str) -> int:
        return -(-peaks(instance, placed(solver, instance))[0] // 16) * 16

    assert rounded("tflm_greedy") == int(row["first_fit_desc"])
    if row["executorch_greedy"]:
        assert rounded("exir_greedy") == int(row["executorch_greedy"])
