"""An exported CP-SAT model, read from its file, has the optimum that memplan finds."""

from __future__ import annotations

import re
import time

import pytest
from ortools.sat.python import cp_model

from planner import CannotSolve, export_model, plan
from planner.generate import Request, generate
from planner.model.deadline import OutOfTime, time_limit
from planner.model.problem import Buffer, Pool, Problem
from planner.planning.interfaces.model_export import ModelFormat


@pytest.mark.parametrize("kind", ["transformer", "random"])
def test_the_model_in_the_file_has_the_same_optimum(kind: str) -> None:
    problem = generate(kind, Request(8, 3, 4))
    text = export_model(problem, "cpsat")
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(text)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 5.0
    assert solver.solve(model) == cp_model.OPTIMAL
    assert solver.objective_value == plan(problem).peak


def test_variables_are_called_as_buffers_and_pools_are() -> None:
    problem = Problem((Buffer("a", 8, live=((0, 2),)), Buffer(7, 8, live=((0, 1),))), (Pool("p", 32), Pool("q", 64)))
    names = re.findall(r'name: "(.+)"', export_model(problem, "cpsat"))
    assert {"in[a, p]", "k[7, q]"} <= set(names)


def test_a_problem_with_a_buffer_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(CannotSolve):
        export_model(Problem((Buffer("a", 64, live=((0, 2),)),), (Pool("p", 32),)), "cpsat")


def test_a_problem_of_very_many_places_is_refused() -> None:
    pools = tuple(Pool(f"p{i}", 64) for i in range(50))
    few = tuple(Buffer(i, 8, pools=("p0",), live=((i, i + 1),)) for i in range(1_001))
    assert export_model(Problem(few, pools), "cpsat")
    many = tuple(Buffer(i, 8, live=((i, i + 1),)) for i in range(1_050))
    counts: dict[ModelFormat, int] = {"cpsat": 52_500, "lp": 51_450}
    for kind, count in counts.items():
        with pytest.raises(CannotSolve) as caught:
            export_model(Problem(many, pools), kind)
        assert f"{count} pairs of a buffer and a pool, 50000 at most" in caught.value.findings[0].message


@pytest.mark.parametrize("kind", ["cpsat", "lp"])
def test_writing_ends_at_the_time_limit(kind: ModelFormat) -> None:
    """A child writes, which takes half a second to begin alone."""
    problem = generate("transformer", Request(8, 3, 4))
    with time_limit(1.0, time.monotonic() - 1.0), pytest.raises(OutOfTime, match="while writing the program of the"):
        export_model(problem, kind)
