"""Options over HTTP: from the query and the body, limited by the service's settings."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from planner.checks.report import pointer
from planner.formats.json.sentences import describe_error
from planner.formats.tables.problems import FORMATS
from planner.model.errors import MAX_ECHO, Code, Finding, PlannerError
from planner.planning.options.options import DECLARED, Options

from ...errors import Refusal, bad_option, refused_findings
from ...settings import Settings
from .endpoints import ENDPOINT_OF, ENDPOINTS, OFFERED, PLANS, SIZES, Endpoint, RequestOptions

OPTIONS = "/options/"
"""Where the planner says that options are."""


@dataclass(frozen=True, slots=True)
class Clipped:
    """Options as they will be used, and a sentence for each that was reduced."""

    options: Options
    notes: tuple[str, ...]
    own: Mapping[str, Any]
    """The endpoint's own options, without those left at defaults."""


def from_body(solve: object, endpoint: Endpoint = PLANS) -> RequestOptions:
    """Return the options under `solve`. Raises Refusal."""
    try:
        return endpoint.strict.model_validate(solve)
    except ValidationError as error:
        raise wrong_options(error.errors(include_url=False), "solve") from None


def endpoint_for(solve: object, usual: Endpoint = PLANS) -> Endpoint:
    """Return the path that takes these options, this one if it does. Raises its Refusal if none does."""
    for endpoint in (usual, *ENDPOINTS.values()):
        with suppress(Refusal):
            from_body(solve, endpoint)
            return endpoint
    from_body(solve, usual)
    return usual


@contextmanager
def placed(solve: Container[str]) -> Iterator[None]:
    """Report what is wrong with options where they are: under `solve` in the body if that has them, otherwise in the query (`/options`)."""
    try:
        yield
    except (PlannerError, Refusal) as error:
        findings = [_placed(found, solve) for found in error.findings]
        if findings == [*error.findings]:
            raise
        raise refused_findings(findings, error.more) from None


def _placed(found: Finding, solve: Container[str]) -> Finding:
    name, *rest = found.pointer.removeprefix(OPTIONS).split("/")
    public = DECLARED[name].public_name if name in DECLARED else name
    if not found.pointer.startswith(OPTIONS) or public not in solve:
        return found
    return replace(found, pointer="/".join(("/solve", public, *rest)))


def merged(query: RequestOptions, body: RequestOptions | None, endpoint: Endpoint = PLANS) -> RequestOptions:
    """Return the options of query and body, and those that the endpoint always has.

    Raises Refusal if one is given in both with different values, or with another than it always has.
    """
    in_query, in_body = query.given(), {} if body is None else body.given()
    for name in in_query.keys() & in_body.keys():
        if in_query[name] != in_body[name]:
            raise bad_option(name, "the query and the body's 'solve' say different things")
    given = in_query | in_body
    for name, value in endpoint.always.items():
        if given.get(name, value) != value:
            message = f"is always {json.dumps(value)} here; leave it out, or send the problem to /v1/{PLANS.name}"
            with placed(in_body):
                raise bad_option(name, message)
    return endpoint.loose.model_validate({**given, **endpoint.always})


def options_of(request: RequestOptions, endpoint: Endpoint = PLANS) -> Options:
    """Return the library's options: the given ones, and defaults."""
    given = {name: value for name, value in request.given().items() if name in OFFERED and name not in endpoint.own}
    return from_document({OFFERED[name].name: value for name, value in given.items()})


def own_of(request: RequestOptions, endpoint: Endpoint) -> dict[str, Any]:
    """Return the endpoint's own options that differ from their defaults."""
    fields = type(request).model_fields
    return {
        name: value for name, value in request.given().items() if name in endpoint.own and value != fields[name].default
    }


def clipped(wanted: RequestOptions, settings: Settings, endpoint: Endpoint = PLANS) -> Clipped:
    """Return the options within the service's limits. Raises Refusal for a solver that this service does not offer."""
    options, given = options_of(wanted, endpoint), wanted.model_fields_set
    if options.solver != "auto" and settings.allowed_solvers and options.solver not in settings.allowed_solvers:
        found = Finding(Code.UNKNOWN_SOLVER, "/options/solver", "this service does not offer that solver")
        raise refused_findings([found])
    longest = min(settings.max_time_limit, settings.max_explain_seconds) if options.explain else settings.max_time_limit
    options = replace(
        options,
        time_limit=(options.time_limit if "time_limit" in given else None) or min(settings.default_time_limit, longest),
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
    return Clipped(options, tuple(notes), own_of(wanted, endpoint))


def as_document(options: Options, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the options for JSON, for a job's record and for workers, with `own` as the endpoint's own options."""
    return {row.name: getattr(options, row.name) for row in OFFERED.values()} | dict(own or {})


def from_document(document: Mapping[str, Any]) -> Options:
    """Return the options that as_document wrote, possibly in an older version with fewer options."""
    known = {name: value for name, value in document.items() if name in DECLARED}
    for name, value in known.items():
        choices = DECLARED[name].choices
        if choices is not None and value is not None:
            known[name] = choices(value)
    return Options(**known)


def from_record(document: Mapping[str, Any], kind: str) -> tuple[Options, dict[str, Any]]:
    """Return the options of a job of that kind, and its endpoint's own options."""
    own = {name: value for name, value in document.items() if name in ENDPOINT_OF[kind].own}
    return from_document({name: value for name, value in document.items() if name not in own}), own


def wrong_options(errors: Sequence[Any], root: str = "options") -> Refusal:
    """Return pydantic's errors as a refusal in the words of the command line."""
    findings = []
    for each in errors:
        steps = (str(step)[:60] for step in each["loc"] if step not in ("query", *SIZES))
        unknown = each["type"] == "extra_forbidden"
        message = no_such_option(each["loc"][-1]) if unknown else describe_error(each)[2]
        findings.append(Finding(Code.INVALID_OPTION, pointer((root, *steps)), message[:MAX_ECHO]))
    return refused_findings(findings)


def no_such_option(name: object) -> str:
    """Return what is wrong with an option that does not exist, or not here; what a format's reader may be told is no option, but goes with the format."""
    paths = [f"/v1/{endpoint.name}" for endpoint in ENDPOINTS.values() if name in endpoint.own]
    if paths:
        return f"there is no such option here, only for {', '.join(paths)}; leave it out"
    wanted = str(name).replace("-", "_")
    for row in FORMATS.values():
        for setting in row.settings:
            if setting.name == wanted:
                value = "=..." if setting.words or setting.metavar else ""
                return f"there is no such option; it is a setting of a format, and is given with it: ?format={row.name}:{wanted}{value}"
    return "there is no such option"
