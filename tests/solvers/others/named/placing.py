"""Plans by one named planner, short to write in tests."""

from __future__ import annotations

from collections.abc import Sequence

from planner import Buffer, Constraints, Options, Plan, Pool, Problem, plan
from planner.model.problem import BufferId


def inclusive(*rows: tuple[int, int, int], alignment: int = 1) -> tuple[Buffer, ...]:
    """Buffers from (first use, last use, size), numbered."""
    return tuple(Buffer(n, size, alignment, ((first, last + 1),)) for n, (first, last, size) in enumerate(rows))


def planned(solver: str, buffers: Sequence[Buffer], *pools: Pool, constraints: Constraints | None = None) -> Plan:
    """The planner's plan; without pools there is one without limits."""
    problem = Problem(tuple(buffers), pools or (Pool("arena"),), constraints or Constraints())
    return plan(problem, Options(solver=solver, time_limit=60.0, workers=1))


def offsets(made: Plan) -> list[int]:
    """In the order of the buffers."""
    return [place.offset for place in made.placements]


def places(made: Plan) -> dict[BufferId, tuple[str, int]]:
    """Pool and offset of each buffer."""
    return {place.id: (place.pool, place.offset) for place in made.placements}
