"""Options over HTTP: from the query and the body to what the service's limits leave of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from planner.checks.report import printable
from planner.formats.json.sentences import describe_error
from planner.model.errors import MAX_ECHO, Code, Finding
from planner.planning.options.options import DECLARED, Options

from ...errors import Refusal, bad_option, refused_findings
from ...settings import Settings
from .doors import DOOR_OF, OFFERED, PLANS, SIZES, Door, RequestOptions


@dataclass(frozen=True, slots=True)
class Clipped:
    """Options as they will be used, and a sentence for each that is less than was asked for."""

    options: Options
    notes: tuple[str, ...]
    own: Mapping[str, Any]
    """What the door alone knows, without what was left to defaults."""


def from_body(solve: object, door: Door = PLANS) -> RequestOptions:
    """The options under `solve`. Raises Refusal."""
    try:
        return door.strict.model_validate(solve)
    except ValidationError as error:
        raise wrong_options(error.errors(include_url=False), "/solve") from None


def merged(query: RequestOptions, body: RequestOptions | None, door: Door = PLANS) -> RequestOptions:
    """Both together; to say one thing in both places is to be sure of it only if it is the same. Raises Refusal."""
    if body is None:
        return query
    said, also = query.said(), body.said()
    for name in said.keys() & also.keys():
        if said[name] != also[name]:
            raise bad_option(name, "the query and the body's 'solve' say different things")
    return door.loose.model_validate(said | also)


def options_of(request: RequestOptions, door: Door = PLANS) -> Options:
    """The library's options: what was asked for, and the library's defaults."""
    said = {name: value for name, value in request.said().items() if name in OFFERED and name not in door.own}
    return from_document({OFFERED[name].name: value for name, value in said.items()})


def own_of(request: RequestOptions, door: Door) -> dict[str, Any]:
    """What was asked for of the door's own, without what says no more than the default."""
    fields = type(request).model_fields
    return {name: value for name, value in request.said().items() if name in door.own and value != fields[name].default}


def clipped(wanted: RequestOptions, settings: Settings, door: Door = PLANS) -> Clipped:
    """What the service's limits leave of it. Raises Refusal for a solver that this service does not offer."""
    options, said = options_of(wanted, door), wanted.model_fields_set
    if options.solver != "auto" and settings.allowed_solvers and options.solver not in settings.allowed_solvers:
        found = Finding(Code.UNKNOWN_SOLVER, "/options/solver", "this service does not offer that solver")
        raise refused_findings([found])
    longest = min(settings.max_time_limit, settings.max_explain_seconds) if options.explain else settings.max_time_limit
    options = replace(
        options,
        time_limit=(options.time_limit if "time_limit" in said else None) or min(settings.default_time_limit, longest),
        memory_limit_bytes=options.memory_limit_bytes or settings.max_solver_memory,
        workers=options.workers or settings.max_workers_per_job,
    )
    notes: list[str] = []
    for name, most, what, unit in (
        ("time_limit", longest, "time limit", " seconds"),
        ("work_limit", settings.max_work_limit, "work limit", ""),
        ("memory_limit_bytes", settings.max_solver_memory, "memory limit", ""),
        ("workers", settings.max_workers_per_job, "number of workers", ""),
    ):
        value = getattr(options, name)
        if value is not None and value > most:
            notes.append(f"the {what} was clipped from {value:.15g} to {most:.15g}{unit}, the most that is allowed")
            options = replace(options, **{name: most})  # type: ignore[arg-type]
    return Clipped(options, tuple(notes), own_of(wanted, door))


def as_document(options: Options, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The options as JSON can hold them, for a job's record and on the way to a worker; a door's own only if they are asked for."""
    return {row.name: getattr(options, row.name) for row in OFFERED.values()} | dict(own or {})


def from_document(document: Mapping[str, Any]) -> Options:
    """Options that as_document has written; that of an older version, perhaps, which did not have all of them."""
    known = {name: value for name, value in document.items() if name in DECLARED}
    for name, value in known.items():
        choices = DECLARED[name].choices
        if choices is not None and value is not None:
            known[name] = choices(value)
    return Options(**known)


def from_record(document: Mapping[str, Any], kind: str) -> tuple[Options, dict[str, Any]]:
    """The options of a job of that kind, and what its door alone knows of them."""
    own = {name: value for name, value in document.items() if name in DOOR_OF[kind].own}
    return from_document({name: value for name, value in document.items() if name not in own}), own


def wrong_options(errors: Sequence[Any], root: str = "/options") -> Refusal:
    """What pydantic objects to, in the words of the command line's refusals."""
    findings = []
    for each in errors:
        place = "".join(f"/{str(step)[:60]}" for step in each["loc"] if step not in ("query", *SIZES))
        unknown = each["type"] == "extra_forbidden"
        message = "there is no such option" if unknown else describe_error(each)[2]
        findings.append(Finding(Code.INVALID_OPTION, pointer_text(root + place), message[:MAX_ECHO]))
    return refused_findings(findings)


def pointer_text(pointer: str) -> str:
    """With nothing in it that could move a cursor."""
    return printable(pointer)[:MAX_ECHO]
