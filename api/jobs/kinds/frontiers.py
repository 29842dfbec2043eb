"""The frontier of memory and cost: a plan for each point, stored and reported as found."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import planner
from planner.drawing import frontier_curve
from planner.facts.variants import most_buffers
from planner.formats import read_frontier, read_plan, write_frontier
from planner.formats.answers.frontier import point_fields
from planner.model.plan import Frontier, Plan, PlanStatus
from planner.model.problem import measures_bytes
from planner.planning.placing.solving import frontier_problem
from solvers.model.errors import StopReason

from .kind import Answer, Instructions, Kind, Line, Subject, answer, no_such_part, stop_in_words
from .plans import as_written, drawn, known, require_solver

MOST_POINTS = 1024
MOST_PLACEMENTS = 1_000_000
"""The most placements of all points together. Larger frontiers are cut off there."""


class FrontierKind(Kind):
    """A frontier. Its parts are named by their costs."""

    name = "frontier"

    def check(self, subject: Subject, instructions: Instructions) -> None:
        frontier_problem(subject.problem, instructions.options, instructions.own.get("points"))
        require_solver(instructions.options.solver)

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        before = known(best, read_frontier)
        start = () if before is None else before.points
        points = _Points(subject, instructions, line, begun, start)
        wanted = instructions.own.get("points")
        found = planner.pareto(subject.problem, instructions.options, wanted, points.add, points.are_over, begun, start)
        notes = instructions.notes
        if found.stop is StopReason.CANCELLED and not line.cancelled():
            found = replace(found, stop=StopReason.WORK_LIMIT)
            notes = (*notes, f"the frontier was cut off after {points.most} points: ask for fewer with points")
        return described(found, notes)

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        found = read_frontier(best)
        warnings = json.loads(best).get("warnings", ())
        return described(replace(found, stop=stop, reproducible=False), (*warnings, stop_in_words(stop)))

    def part(self, answer: bytes, name: str) -> bytes:
        points = {str(point["cost"]): point for point in json.loads(answer)["points"]}
        if name not in points:
            raise no_such_part(name, points)
        return as_written(points[name]["plan"])

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        problem = frontier_problem(subject.problem, instructions.options, None)
        if wanted == "svg":
            return frontier_curve(problem, read_frontier(answer))
        document = json.loads(answer)
        for point in document["points"]:
            point["plan"] = str(point["cost"])
        return json.dumps({"problem": problem.name, "in_bytes": measures_bytes(problem), **document}).encode("ascii")

    def draw_part(self, subject: Subject, instructions: Instructions, answer: bytes, name: str, wanted: str) -> bytes:
        problem = frontier_problem(subject.problem, instructions.options, None)
        return drawn(problem, read_plan(self.part(answer, name)), wanted)


def described(found: Frontier, notes: Sequence[str]) -> Answer:
    """Return the frontier with its plans, and what the service must know about it."""
    status = PlanStatus.FEASIBLE if found.points else PlanStatus.UNKNOWN
    if found.is_complete or found.is_infeasible:
        status = PlanStatus.OPTIMAL if found.points else PlanStatus.INFEASIBLE
    gaps = [plan.gap for plan in found.points]
    return answer(
        write_frontier(found, None, notes),
        status=status.value,
        stop=found.stop.value,
        gap=None if None in gaps else max((gap for gap in gaps if gap is not None), default=None),
        lasting=status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE) or found.reproducible,
    )


def _worth(plan: Plan) -> tuple[int, int]:
    """Return the point's cost and memory."""
    assert plan.choice is not None
    assert plan.objective.value is not None
    return plan.choice.cost, plan.objective.value


def _undominated(plans: Iterable[Plan]) -> tuple[Plan, ...]:
    """Return the Pareto-optimal ones in cost and memory, the cheapest first. Of equal ones the first stays."""
    found: list[Plan] = []
    for plan in sorted(plans, key=_worth):
        if not found or _worth(plan)[1] < _worth(found[-1])[1]:
            found.append(plan)
    return tuple(found)


class _Points:
    """The points found so far, by this attempt and by earlier ones."""

    def __init__(
        self, subject: Subject, instructions: Instructions, line: Line, begun: float, before: Sequence[Plan]
    ) -> None:
        self.most = max(min(MOST_POINTS, MOST_PLACEMENTS // max(most_buffers(subject.problem), 1)), 1)
        self._found = tuple(before)
        self._digest, self._notes, self._line, self._begun = subject.digest, instructions.notes, line, begun

    def add(self, plan: Plan) -> None:
        found = _undominated((*self._found, plan))
        if not any(each is plan for each in found):  # an earlier attempt knew it, or a better one
            return
        self._found = found
        self._line.point({"part": str(_worth(plan)[0]), **self._figures(plan)}, self._so_far)

    def are_over(self) -> bool:
        """True if that is enough, or no client waits any more."""
        return self._line.cancelled() or len(self._found) >= self.most

    def _figures(self, plan: Plan) -> dict[str, Any]:
        return {**point_fields(plan), "seconds": round(time.monotonic() - self._begun, 6)}

    def _so_far(self) -> Answer:
        found = Frontier(
            points=self._found,
            is_complete=False,
            is_infeasible=False,
            stop=StopReason.CANCELLED,
            reproducible=False,
            problem_digest=self._digest,
            most_cost=next((plan.choice.most_cost for plan in self._found if plan.choice is not None), None),
        )
        return described(found, self._notes)
