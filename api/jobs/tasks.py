"""What a worker process can be asked to do. Bytes from outside are looked at here, and never in the service's own process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Protocol

import planner
from planner.digest import digest
from planner.errors import PlannerError
from planner.explain import explain_bound
from planner.formats import read_plan, read_problem, write_plan
from planner.options import Options
from planner.plan import Plan, PlanStatus
from planner.problem import Buffer, Problem
from planner.proven import notes
from planner.watching import Progress

from ..errors import Refusal
from ..settings import Settings
from .options import SolveOptions, as_document, from_body, from_document
from .posted import problem_and_plan, read, separate, understand

READY_SECONDS = 5.0
FIVE_BUFFERS = Problem(tuple(Buffer(i, 16 + 16 * i, live=((i, i + 2),)) for i in range(5)), name="five")


class Line(Protocol):
    """A task's line to whoever asked for it."""

    def progress(self, moment: Progress) -> None:
        """Something got better."""

    def cancelled(self) -> bool:
        """Is the answer not wanted any more?"""


Answer = tuple[dict[str, Any], bytes]
"""A header, and bytes that are passed on as they are."""


def do(header: dict[str, Any], parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Carry out one task."""
    return TASKS[header["task"]](header, parts, settings, line)


def _read(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Is this a problem that can be planned, and what plan would be the same?"""
    query = SolveOptions.model_validate(header["query"])
    found = understand(parts[0], header["format"], query, settings)
    return {
        "key": found.key,
        "digest": digest(found.problem),
        "name": found.problem.name,
        "buffers": len(found.problem.buffers),
        "options": as_document(found.options),
        "notes": list(found.warnings),
    }, b""


def _solve(header: dict[str, Any], parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Plan a problem that `read` has found sound."""
    begun = time.monotonic()
    data, _solve_options = separate(parts[0], header["format"])
    problem, _warnings = read_problem(data, format=header["format"])
    plan = planner.plan(
        problem,
        from_document(header["options"]),
        on_progress=line.progress,
        cancelled=line.cancelled,
        begun=begun,
    )
    return described(plan, header["notes"])


def described(plan: Plan, notes_before: list[str]) -> Answer:
    """The plan's bytes, and what the service must know of it."""
    plan = replace(plan, warnings=(*notes_before, *plan.warnings))
    final = plan.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
    return {
        "status": plan.status.value,
        "stop": plan.stop.value,
        "best": plan.objective.value,
        "bound": plan.objective.bound,
        "gap": plan.gap,
        "lasting": final or plan.reproducible,
    }, write_plan(plan)


def _validate(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Is this a sound problem?"""
    try:
        data, solve = separate(parts[0], header["format"])
        if solve is not None:
            from_body(solve)
        problem, warnings = read(data, header["format"], settings)
    except (PlannerError, Refusal) as error:
        if not error.findings:
            raise  # larger than is looked at
        errors = [asdict(found) for found in error.findings]
        return {}, as_json({"valid": False, "errors": errors, "more": error.more})
    answer = {
        "valid": True,
        "name": problem.name,
        "buffers": len(problem.buffers),
        "pools": [pool.name for pool in problem.pools],
        "digest": digest(problem),
        "warnings": list(warnings),
    }
    return {}, as_json(answer)


def _verify(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Is this plan a plan of this problem, and are its claims possible?"""
    query = SolveOptions.model_validate(header["query"])
    problem, warnings, plan = problem_and_plan(parts[0], header["format"], settings)
    problem = planner.with_capacity(problem, query.capacity)
    findings = planner.verify(problem, plan)
    listed = [asdict(finding) for finding in findings]
    answer = {"valid": not findings, "findings": listed, "notes": list(notes(plan)), "warnings": list(warnings)}
    return {}, as_json(answer)


def _explain(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """The arguments of a plan, in words."""
    data, _solve_options = separate(parts[0], header["format"])
    problem, _warnings = read_problem(data, format=header["format"])
    problem = planner.with_capacity(problem, from_document(header["options"]).capacity)
    plan = read_plan(parts[1])
    document = json.loads(parts[1])
    answer = {
        "status": plan.status.value,
        "sentences": explain_bound(problem, plan).splitlines(),
        "peak": plan.peak,
        "bound": plan.bound,
        "gap": plan.gap,
        "certificate": document["certificate"],
        "shortage": document["shortage"],
        "warnings": list(plan.warnings),
    }
    return {}, as_json(answer)


def _ready(_header: dict[str, Any], _parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Does every enabled solver really solve five buffers?"""
    answers: dict[str, str | None] = {}
    for solver in planner.solver_list():
        if (
            solver.available
            and (not settings.allowed_solvers or solver.name in settings.allowed_solvers)
            and not line.cancelled()
        ):
            try:
                plan = planner.plan(FIVE_BUFFERS, Options(solver=solver.name, time_limit=READY_SECONDS, workers=1))
            except PlannerError as error:
                answers[solver.name] = str(error)
            else:
                answers[solver.name] = None if plan.placements else f"no plan: {plan.status} ({plan.stop})"
    return {"solvers": answers}, b""


def as_json(value: object) -> bytes:
    return json.dumps(value, allow_nan=False).encode("ascii")


TASKS: dict[str, Callable[[dict[str, Any], list[bytes], Settings, Line], Answer]] = {
    "read": _read,
    "solve": _solve,
    "validate": _validate,
    "verify": _verify,
    "explain": _explain,
    "ready": _ready,
}
