"""What a worker process can be asked to do. Bytes from outside are looked at here, and never in the service's own process."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol, TypeVar

import planner
from planner.drawing import memory_map, svg
from planner.facts.digest import digest
from planner.formats import read_plan, read_problem, read_sharing, write_plan, write_problem, write_sharing
from planner.formats.answers.write_map import write_map
from planner.formats.table import BYTES
from planner.generate import Request, generate
from planner.model.errors import PlannerError
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Buffer, Problem
from planner.options.capacity import planned_problem
from planner.options.options import Options
from planner.planning.placing.watching import Progress
from planner.planning.sharing import Sharing
from planner.planning.sharing.bounds import notes as notes_on_sharing
from planner.planning.sharing.findings import SharingFinding
from planner.reporting.explain import explain_bound
from planner.verifying.bounds import notes
from planner.verifying.findings import VerifyFinding
from solvers.model.errors import StopReason

from ..errors import Refusal
from ..settings import Settings
from .options import SolveOptions, from_body, from_document, options_of
from .posted_problem import Understood, below, problem_and_plan, read, read_answer, separate, understand

READY_SECONDS = 5.0
FIVE_BUFFERS = Problem(tuple(Buffer(i, 16 + 16 * i, live=((i, i + 2),)) for i in range(5)), name="five")


class Line(Protocol):
    """A task's line to whoever asked for it."""

    def understood(self, fields: dict[str, Any]) -> None:
        """What the problem is that is going to be planned."""

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
    return about(_understood(header, parts, settings)), b""


def _read_and_solve(header: dict[str, Any], parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Both in one go: what the problem is is told in between, so that whoever has its plan already can say so."""
    begun = time.monotonic()
    found = _understood(header, parts, settings)
    line.understood(about(found))
    return _planned(found.problem, found.options, list(found.warnings), line, begun, objects=found.objects)


def _understood(header: dict[str, Any], parts: list[bytes], settings: Settings) -> Understood:
    query = SolveOptions.model_validate(header["query"])
    return understand(parts[0], header["format"], query, settings, header.get("media_type", BYTES))


def about(found: Understood) -> dict[str, Any]:
    """What the service must know of a problem."""
    return {
        "key": found.key,
        "digest": found.digest,
        "name": found.problem.name,
        "format": found.format,
        "buffers": len(found.problem.buffers),
        "options": found.document,
        "notes": list(found.warnings),
    }


def _solve(header: dict[str, Any], parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Plan a problem that `read` has found sound, from the best plan that is known if there is one."""
    begun = time.monotonic()
    data, _solve_options = separate(parts[0], header["format"])
    problem, _warnings = read_problem(data, format=header["format"])
    options, objects = from_document(header["options"]), bool(header["options"].get("objects"))
    best = parts[1] if len(parts) > 1 else None
    return _planned(problem, options, header["notes"], line, begun, objects=objects, best=best)


def _planned(
    problem: Problem,
    options: Options,
    notes_before: list[str],
    line: Line,
    begun: float,
    *,
    objects: bool,
    best: bytes | None = None,
) -> Answer:
    if objects:
        known = _known(best, read_sharing)
        sharing = planner.share(problem, options, line.progress, line.cancelled, begun=begun, start=known)
        return described(sharing, notes_before)
    start = _known(best, read_plan)
    plan = planner.plan(problem, options, line.progress, line.cancelled, begun=begun, start=start)
    return described(plan, notes_before)


def _cut_short(header: dict[str, Any], parts: list[bytes], _settings: Settings, _line: Line) -> Answer:
    """The answer of a run that was killed when this was the best it had."""
    best = read_sharing(parts[0]) if header["objects"] else read_plan(parts[0])
    if best.status is PlanStatus.FEASIBLE:
        stop = StopReason(header["stop"])
        when = "when it ran out of memory" if stop is StopReason.MEMORY_LIMIT else "after its time limit"
        warning = f"the run was ended from outside, {when}: this is the best that was known by then"
        best = replace(best, stop=stop, reproducible=False, warnings=(*best.warnings, warning))
    return described(best, [])


Known = TypeVar("Known")


def _known(best: bytes | None, read_it: Callable[[bytes], Known]) -> Known | None:
    """The best answer of an earlier attempt. One that cannot be read any more, in a newer version perhaps, is found again."""
    try:
        return None if best is None else read_it(best)
    except PlannerError:
        return None


def described(plan: Plan | Sharing, notes_before: list[str]) -> Answer:
    """The plan's bytes, or the sharing's, and what the service must know of it."""
    plan = replace(plan, warnings=(*notes_before, *plan.warnings))
    final = plan.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
    data = write_sharing(plan) if isinstance(plan, Sharing) else write_plan(plan)
    return {
        "etag": f'"{hashlib.sha256(data).hexdigest()[:32]}"',
        "status": plan.status.value,
        "stop": plan.stop.value,
        "best": plan.total if isinstance(plan, Sharing) else plan.objective.value,
        "bound": plan.bound if isinstance(plan, Sharing) else plan.objective.bound,
        "gap": plan.gap,
        "lasting": final or plan.reproducible,
    }, data


def _validate(header: dict[str, Any], parts: list[bytes], settings: Settings, _line: Line) -> Answer:
    """Is this a sound problem?"""
    try:
        data, solve = separate(parts[0], header["format"])
        if solve is not None:
            from_body(solve)
        _, problem, warnings = read(data, header["format"], settings, header.get("media_type", BYTES))
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
    options = options_of(SolveOptions.model_validate(header["query"]))
    problem, warnings, plan = problem_and_plan(parts[0], header["format"], settings, read_answer)
    problem = planned_problem(problem, options.capacity, options.prefer)
    findings: Sequence[VerifyFinding | SharingFinding]
    if isinstance(plan, Sharing):
        findings, believed = planner.verify_sharing(problem, plan), notes_on_sharing(plan)
    else:
        findings, believed = planner.verify(problem, plan), notes(plan)
    listed = [asdict(finding) for finding in findings]
    answer = {"valid": not findings, "findings": listed, "notes": list(believed), "warnings": list(warnings)}
    return {}, as_json(answer)


def _explain(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """The arguments of a plan, in words."""
    data, _solve_options = separate(parts[0], header["format"])
    problem, _warnings = read_problem(data, format=header["format"])
    options = from_document(header["options"])
    problem = planned_problem(problem, options.capacity, options.prefer)
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


def _draw(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """A picture of a plan, and of what is wrong with it; or what there is to draw, for a page that draws it itself.

    One part is a problem with somebody's plan, two are a problem and the plan that was made for it here.
    """
    if len(parts) == 1:
        options = options_of(SolveOptions.model_validate(header["query"]))
        problem, _warnings, plan = problem_and_plan(parts[0], header["format"], settings, read_plan)
        problem = planned_problem(problem, options.capacity, options.prefer)
        wrong = planner.verify(problem, plan)
    else:
        data, _solve_options = separate(parts[0], header["format"])
        problem, _warnings = read_problem(data, format=header["format"])
        options = from_document(header["options"])
        problem = planned_problem(problem, options.capacity, options.prefer)
        plan, wrong = read_plan(parts[1]), ()
    try:
        drawn = memory_map(problem, plan, wrong)
    except PlannerError as error:
        raise below("plan", error) from None
    return {}, svg(drawn) if header["as"] == "svg" else write_map(drawn)


def _example(header: dict[str, Any], _parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """One of the problems that the page offers."""
    return {}, write_problem(generate(header["kind"], Request(header["buffers"], header["seed"])))


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
    "read_and_solve": _read_and_solve,
    "cut_short": _cut_short,
    "validate": _validate,
    "verify": _verify,
    "explain": _explain,
    "draw": _draw,
    "example": _example,
    "ready": _ready,
}
