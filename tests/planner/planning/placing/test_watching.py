"""Each plan that a run reports on its way keeps every rule and claims nothing unproven."""

from __future__ import annotations

import pytest

from planner.generate import Request, generate
from planner.model.plan import Plan, PlanStatus
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.planning.placing.watching import Progress
from planner.verifying.verify import verify


@pytest.mark.parametrize("kind", ["random", "pools"])
def test_every_plan_so_far_can_be_written_out_and_keeps_every_rule(kind: str) -> None:
    problem = generate(kind, Request(40, seed=3))
    moments: list[Progress] = []
    plan(problem, Options(work_limit=100_000), on_progress=moments.append)
    with_plan = [moment for moment in moments if moment.answer is not None]
    assert [moment.value is None for moment in moments] == [moment.answer is None for moment in moments]
    assert with_plan
    for moment in with_plan:
        assert moment.answer is not None
        so_far = moment.answer()  # called after the run, it returns the plan of that moment
        assert isinstance(so_far, Plan)
        assert verify(problem, so_far) == ()
        assert (so_far.status, so_far.objective.value, so_far.bound) == (PlanStatus.FEASIBLE, moment.value, 0)
        assert not so_far.reproducible


@pytest.mark.parametrize("kind", ["packing", "pools"])
def test_who_wants_to_know_is_told_what_each_solver_did(kind: str) -> None:
    problem = generate(kind, Request(60, seed=3))
    lines: list[str] = []
    plan(problem, Options(work_limit=100_000), on_log=lines.append)
    assert not lines
    found = plan(problem, Options(work_limit=100_000, verbose=True), on_log=lines.append)
    mine = [line for line in lines if line.startswith(f"{found.solver}: ")]
    assert any(f"value {found.objective.value}" in line and "units of work" in line for line in mine)
