"""Who only proves, asked for by name: greedy's placement, and a bound that says how good it is."""

from __future__ import annotations

import pytest

from planner import Options, plan, verify
from planner.generate import Request, generate
from solvers.model.registry import SolverKind, names


@pytest.mark.parametrize("name", names(SolverKind.BOUNDER))
@pytest.mark.parametrize("kind", ["pool_packing", "random"])
def test_greedys_placement_and_a_bound(name: str, kind: str) -> None:
    problem = generate(kind, Request(40, 3))
    greedy, made = (plan(problem, Options(solver=each)) for each in ("greedy", name))
    assert made.placements == greedy.placements
    bound, greedys = made.objective.bound, greedy.objective.bound
    assert bound is not None
    assert greedys is not None
    assert verify(problem, made) == ()
    if kind == "pool_packing" and name in {"room_prices", "pool_sharing"}:
        assert bound > greedys
    else:
        assert bound == greedys
