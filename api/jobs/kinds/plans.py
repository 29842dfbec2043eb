"""An address for every buffer, or shared storage objects: jobs whose answers improve until nothing better is possible."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import planner
from planner.drawing import MemoryMap, memory_map, svg
from planner.drawing.objects import objects_map
from planner.formats import read_plan, read_sharing, write_plan, write_sharing
from planner.formats.answers.write_map import write_map
from planner.model.errors import Code, Finding, PlannerError
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Problem
from planner.planning.placing.pipeline import cannot_solve
from planner.planning.sharing import Sharing
from solvers.model.errors import SolverError, StopReason
from solvers.sharing.solver import AUTO, get

from ...errors import refused_findings
from .kind import Answer, Instructions, Kind, Line, Subject, answer, stop_in_words

Known = TypeVar("Known")


class PlanKind(Kind):
    """An address for every buffer."""

    name = "plan"

    def check(self, subject: Subject, instructions: Instructions) -> None:
        subject.planned(instructions.options)
        require_solver(instructions.options.solver)

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        start = known(best, read_plan)
        plan = planner.plan(
            subject.problem, instructions.options, line.progress, line.cancelled, begun=begun, start=start
        )
        return described(plan, instructions.notes)

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        return described(ended(read_plan(best), stop))

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        return drawn(
            subject.planned(instructions.options),
            read_plan(answer),
            wanted,
        )


class SharingKind(PlanKind):
    """Storage objects."""

    name = "sharing"

    def check(self, subject: Subject, instructions: Instructions) -> None:
        subject.planned(instructions.options)
        if instructions.options.solver != AUTO:
            try:
                get(instructions.options.solver)
            except SolverError as error:
                raise refused_findings(cannot_solve(error).findings) from error

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        start = known(best, read_sharing)
        sharing = planner.share(
            subject.problem, instructions.options, line.progress, line.cancelled, begun=begun, start=start
        )
        return described(sharing, instructions.notes)

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        return described(ended(read_sharing(best), stop))

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        return as_wanted(objects_map(subject.planned(instructions.options), read_sharing(answer)), wanted)


def described(plan: Plan | Sharing, notes: tuple[str, ...] = ()) -> Answer:
    """Return the bytes of the plan or sharing, and what the service must know about it."""
    plan = replace(plan, warnings=(*notes, *plan.warnings))
    final = plan.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
    return answer(
        write_sharing(plan) if isinstance(plan, Sharing) else write_plan(plan),
        status=plan.status.value,
        stop=plan.stop.value,
        best=plan.total if isinstance(plan, Sharing) else plan.objective.value,
        bound=plan.bound if isinstance(plan, Sharing) else plan.objective.bound,
        gap=plan.gap,
        lasting=final or plan.reproducible,
    )


Ended = TypeVar("Ended", Plan, Sharing)


def ended(best: Ended, stop: StopReason) -> Ended:
    """Return the best known result of a run that was ended from outside."""
    if best.status is not PlanStatus.FEASIBLE:
        return best
    return replace(best, stop=stop, reproducible=False, warnings=(*best.warnings, stop_in_words(stop)))


def known(best: bytes | None, read_it: Callable[[bytes], Known]) -> Known | None:
    """Return the usable part of an earlier attempt's best answer. An unreadable one, for example from an older version, is found again."""
    try:
        return None if best is None else read_it(best)
    except (PlannerError, LookupError, TypeError, ValueError):
        return None


def drawn(problem: Problem, plan: Plan, wanted: str) -> bytes:
    """Return the memory map of a plan made here, as a picture or as data."""
    return as_wanted(memory_map(problem, plan, ()), wanted)


def as_wanted(drawing: MemoryMap, wanted: str) -> bytes:
    return svg(drawing) if wanted == "svg" else write_map(drawing)


def plan_within(document: dict[str, Any]) -> Plan:
    """Return a plan from within another document."""
    return read_plan(json.dumps(document).encode("ascii"))


def as_written(document: dict[str, Any]) -> bytes:
    """Return it in the form of a separate document."""
    return write_plan(plan_within(document))


def require_solver(name: str) -> None:
    """Raise Refusal at once for a solver that does not exist or cannot run here."""
    if name == "auto":
        return
    listed = {solver.name: solver for solver in planner.solver_list()}
    if name not in listed:
        text = f"there is no such solver; known are {', '.join(listed)}"
        raise refused_findings([Finding(Code.UNKNOWN_SOLVER, "/options/solver", text)])
    if not listed[name].available:
        raise refused_findings([Finding(Code.UNAVAILABLE, "/options/solver", listed[name].reason or "not available")])
