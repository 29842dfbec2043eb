"""The tasks of worker processes. Bytes from outside are examined here, and never in the service's own process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import planner
from planner.facts.digest import digest
from planner.facts.variants import most_buffers
from planner.formats import read_plan, write_problem
from planner.formats.documents import Source
from planner.formats.tables.answers import answer_kind, asked, write_answer
from planner.formats.tables.format import BYTES
from planner.formats.tables.plans import plan_format
from planner.formats.tables.problems import format_named, recognised
from planner.generate import Request, generate
from planner.model.deadline import OutOfTime, time_limit
from planner.model.errors import Code, Finding, PlannerError
from planner.model.problem import Buffer, Problem
from planner.planning.options.options import Options
from planner.reporting.explain import explain_bound
from planner.verifying.findings import FindingKind
from solvers.model.errors import StopReason

from ...errors import HttpCode, Refusal, bad_option, refused_findings, takes_too_long
from ...settings import Settings
from ..kinds import kind_of
from ..kinds.kind import Answer, Instructions, Kind, Line, Subject, etag_of
from ..requests.endpoints import ENDPOINTS, PLANS
from ..requests.options import endpoint_for, from_record, placed
from ..requests.posted_problem import Understood, read, separate, understand
from ..requests.problem_and_plan import Both, below_its_part, problem_and_plan

if TYPE_CHECKING:
    from planner.formats.answers.opened import Opened
    from planner.formats.tables.plans import PlanFormat

READY_SECONDS = 5.0
FIVE_BUFFERS = Problem(tuple(Buffer(i, 16 + 16 * i, live=((i, i + 2),)) for i in range(5)), name="five")


def do(header: dict[str, Any], parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Carry out one task."""
    task, seconds = header["task"], settings.max_explain_seconds
    if task not in LOOKS:
        return TASKS[task](header, parts, settings, line)
    try:
        with time_limit(seconds):
            return TASKS[task](header, parts, settings, line)
    except OutOfTime:
        raise takes_too_long(seconds) from None


def _read(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Check that this is a problem that can be planned, and return what identifies its plan."""
    return about(_understood(header, parts, settings, time.monotonic())), b""


def _read_and_solve(header: dict[str, Any], parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Do both at once: the description is reported in between, so that a known answer can be used."""
    begun = time.monotonic()
    found = _understood(header, parts, settings, begun)
    line.understood(about(found))
    with placed(found.instructions.in_body):
        return found.kind.run(found.subject, found.instructions, line, begun, None)


def _understood(header: dict[str, Any], parts: list[bytes], settings: Settings, begun: float) -> Understood:
    endpoint = ENDPOINTS[header.get("endpoint", PLANS.name)]
    query = endpoint.loose.model_validate(header["query"])
    return understand(parts[0], header["format"], query, settings, header.get("media_type", BYTES), endpoint, begun)


def about(found: Understood) -> dict[str, Any]:
    """Return what the service must know about it."""
    return {
        "key": found.key,
        "digest": found.subject.digest,
        "name": found.subject.problem.name,
        "format": found.format,
        "buffers": most_buffers(found.subject.problem),
        "options": found.document,
        "notes": list(found.instructions.notes),
        "job_kind": found.kind.name,
    }


def _solve(header: dict[str, Any], parts: list[bytes], _settings: Settings, line: Line) -> Answer:
    """Work on what `read` has found sound, from the best known result, if any."""
    begun = time.monotonic()
    kind, subject, instructions = _again(header, parts[0], begun, line.cancelled)
    with placed(instructions.in_body):
        return kind.run(subject, instructions, line, begun, parts[1] if len(parts) > 1 else None)


def _again(
    header: dict[str, Any], problem: bytes, begun: float | None = None, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Kind, Subject, Instructions]:
    """Return a job's problem and options, which were checked before. Once its time has begun, reading counts. Raises CalledOff."""
    kind = kind_of(header.get("kind", "plan"))
    data, solve = separate(problem, header["format"])
    source = Source(data)
    row = recognised(source) if header["format"] is None else format_named(header["format"])
    options, own = from_record(header["options"], kind.name)
    with time_limit(None if begun is None else options.time_limit, begun, cancelled):
        return (
            kind,
            kind.read(row, source),
            Instructions(options, own, tuple(header.get("notes", ())), frozenset(solve or ())),
        )


def _cut_short(header: dict[str, Any], parts: list[bytes], _settings: Settings, _line: Line) -> Answer:
    """Return the answer of a run that was killed with this best result."""
    return kind_of(header["kind"]).cut_short(parts[0], StopReason(header["stop"]))


def _validate(header: dict[str, Any], parts: list[bytes], settings: Settings, _line: Line) -> Answer:
    """Check that this is a sound problem."""
    try:
        data, solve = separate(parts[0], header["format"])
        if solve is not None:
            endpoint_for(solve)
        _, problem, warnings = read(data, header["format"], settings, header.get("media_type", BYTES))
    except (PlannerError, Refusal) as error:
        if not error.findings or isinstance(error, OutOfTime):
            raise  # larger than the service examines
        errors = [asdict(found) for found in error.findings]
        return {}, as_json({"valid": False, "errors": errors, "more": error.more})
    answer = {
        "valid": True,
        "name": problem.name,
        "buffers": most_buffers(problem),
        "pools": [pool.name for pool in problem.pools],
        "digest": digest(problem),
        "warnings": list(warnings),
    }
    return {}, as_json(answer)


def _opened(header: dict[str, Any], parts: list[bytes], settings: Settings, wanted: PlanFormat | None = None) -> Both:
    query = PLANS.loose.model_validate(header["query"])
    return problem_and_plan(parts[0], header["boundary"], header["format"], settings, query, wanted)


def _verify(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Check that this is an answer to this problem, and that its claims are possible."""
    opened, warnings = _opened(header, parts, settings)
    findings = [asdict(each) for each in opened.findings]
    answer = {"valid": not findings, "findings": findings, "notes": list(opened.notes), "warnings": list(warnings)}
    return {}, as_json(answer)


def _explain(header: dict[str, Any], parts: list[bytes], _settings: Settings, _: Line) -> Answer:
    """Return the arguments of a plan, in words."""
    _kind, subject, instructions = _again(header, parts[0])
    problem = subject.planned(instructions.options)
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
    """Return a picture of an answer, of a plan with its faults; or its data, for a page that draws it itself; or its table."""
    opened, _warnings = _opened(header, parts, settings)
    try:
        return {}, opened.written(header["as"])
    except PlannerError as error:
        raise below_its_part(error) from None


def _draw_job(header: dict[str, Any], parts: list[bytes], _settings: Settings, _: Line) -> Answer:
    """Do the same for a job's answer, or a part of it."""
    kind, subject, instructions = _again(header, parts[0])
    if header["as"] == "csv":
        return {}, _figures(header, parts[0], parts[1], subject.planned(instructions.options))
    if header.get("part") is None:
        return {}, kind.draw(subject, instructions, parts[1], header["as"])
    return {}, kind.draw_part(subject, instructions, parts[1], header["part"], header["as"])


def _figures(header: dict[str, Any], given: bytes, answer: bytes, problem: Problem) -> bytes:
    """Return the table of a job's answer."""
    if header.get("part") is not None:
        raise bad_option(
            "as", "only whole answers are written as csv; ask for the part's plan, and for that one's table"
        )
    answered = answer_kind(answer)
    if json.loads(answer)["format"] != answered.format:
        raise Refusal(409, HttpCode.NO_PLAN_YET, "the job has no answer yet that could be written as csv")
    source = Source(separate(given, header["format"])[0])
    row = recognised(source) if header["format"] is None else format_named(header["format"])
    capacity = from_record(header["options"], header.get("kind", "plan"))[0].capacity
    return answered.open(asked(row, source, problem, capacity), answer).figures()


def _write(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Return a plan in the form for compilers, linkers and runtimes, or any answer as a table. A wrong one is not written."""
    row = plan_format(header["as"])
    opened, _warnings = _opened(header, parts, settings, row)
    _require_right(opened, row.read_as)
    try:
        return {}, write_answer(row, opened)
    except PlannerError as error:
        raise error if error.findings[0].code is Code.INVALID_OPTION else below_its_part(error) from None


def _report(header: dict[str, Any], parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Return what an answer does with memory. A wrong one has no report."""
    opened, _warnings = _opened(header, parts, settings)
    _require_right(opened)
    try:
        return {}, opened.report()
    except PlannerError as error:
        raise below_its_part(error) from None


def _require_right(opened: Opened, read_as: str | None = None) -> None:
    """Refuse a wrong answer, saying how the problem had to be read, if it had to be read in one way."""
    if wrong := opened.findings:
        findings = [Finding(Code.INVALID_VALUE, "/plan", each.message) for each in wrong]
        if read_as is not None and FindingKind.WRONG_DIGEST in {each.kind for each in wrong}:
            text = f"plans of problems that were read as format={read_as} can be written so: plan it as that"
            findings.append(Finding(Code.INVALID_VALUE, "/plan", text))
        raise refused_findings(findings)


def _part(header: dict[str, Any], parts: list[bytes], _settings: Settings, _: Line) -> Answer:
    """Return one of the plans of a job's answer."""
    plan = kind_of(header["kind"]).part(parts[0], header["part"])
    return {"etag": etag_of(plan)}, plan


def _example(header: dict[str, Any], _parts: list[bytes], settings: Settings, _: Line) -> Answer:
    """Return one of the page's example problems."""
    return {}, write_problem(generate(header["kind"], Request(header["buffers"], header["seed"])))


def _ready(_header: dict[str, Any], _parts: list[bytes], settings: Settings, line: Line) -> Answer:
    """Check that every enabled solver really solves five buffers."""
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
    "draw_job": _draw_job,
    "write": _write,
    "report": _report,
    "part": _part,
    "example": _example,
    "ready": _ready,
}

LOOKS = ("validate", "verify", "explain", "draw", "draw_job", "write", "report")
"""Tasks without partial results: they have the time limit of checks. Others have a problem's time limit."""
