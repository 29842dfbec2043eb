"""Options of a plan over HTTP: what may be asked for, and what of it the service's limits leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from planner.checks.report import printable
from planner.model.errors import MAX_ECHO, Code, Finding
from planner.options.options import DECLARED, GREATEST, Declared, OptionKind, Options, chosen

from ..errors import Refusal, bad_option, refused_findings
from ..settings import Settings

Size = Annotated[int, Field(ge=0, le=GREATEST)]
OFFERED = {row.said: row for row in DECLARED.values() if row.over_http}
"""The library's options, by their names over HTTP."""


def meant(row: Declared, word: object) -> object:
    """A choice may be written in more than one way."""
    with suppress(ValueError):
        return chosen(row, word).value if isinstance(word, str) else word
    return word


def field_of(row: Declared) -> tuple[Any, Any]:
    """The option as pydantic reads it."""
    types: dict[OptionKind, Any] = {
        OptionKind.SECONDS: Annotated[float, Field(gt=0, allow_inf_nan=False)],
        OptionKind.COUNT: Annotated[int, Field(ge=row.least, lt=GREATEST)],
        OptionKind.BYTES: Annotated[int, Field(ge=row.least, lt=GREATEST)],
        OptionKind.NAME: Annotated[str, Field(min_length=1, max_length=100)],
        OptionKind.CHOICE: Annotated[
            Literal[tuple(each.value for each in row.choices or ())], BeforeValidator(partial(meant, row))
        ],
        OptionKind.FLAG: bool,
        OptionKind.SIZES: Size | dict[str, Size],
    }
    default = None if row.kind is OptionKind.SECONDS else row.default  # the service has a limit of its own
    return (types[row.kind] | None if default is None else types[row.kind]), Field(
        default=default, description=row.help
    )


FIELDS: dict[str, Any] = {name: field_of(row) for name, row in OFFERED.items()}


class RequestOptions(BaseModel):
    """What a request may ask for, wherever it says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    objects: bool = Field(
        default=False,
        description="Let buffers share storage objects instead of giving them offsets: the answer is a memplan-sharing/1.",
    )

    def said(self) -> dict[str, Any]:
        """What was asked for, without what was left to defaults."""
        return self.model_dump(exclude_unset=True)


class StrictRequestOptions(RequestOptions):
    """The same in JSON, where a number is no string."""

    model_config = ConfigDict(strict=True)


SolveOptions = create_model("SolveOptions", __base__=RequestOptions, **FIELDS)
StrictSolveOptions = create_model("StrictSolveOptions", __base__=StrictRequestOptions, **FIELDS)


@dataclass(frozen=True, slots=True)
class Clipped:
    """Options as they will be used, and a sentence for each that is less than was asked for."""

    options: Options
    notes: tuple[str, ...]
    objects: bool = False


def from_body(solve: object) -> RequestOptions:
    """The options under `solve`. Raises Refusal."""
    try:
        return StrictSolveOptions.model_validate(solve)
    except ValidationError as error:
        raise wrong_options(error.errors(include_url=False, include_input=False), "/solve") from None


def merged(query: RequestOptions, body: RequestOptions | None) -> RequestOptions:
    """Both together; to say one thing in both places is to be sure of it only if it is the same. Raises Refusal."""
    if body is None:
        return query
    said, also = query.said(), body.said()
    for name in said.keys() & also.keys():
        if said[name] != also[name]:
            raise bad_option(name, "the query and the body's 'solve' say different things")
    return SolveOptions.model_validate(said | also)


def options_of(request: RequestOptions) -> Options:
    """The library's options: what was asked for, and the library's defaults."""
    said = request.said()
    return from_document({OFFERED[name].name: value for name, value in said.items() if name in OFFERED})


def clipped(wanted: RequestOptions, settings: Settings) -> Clipped:
    """What the service's limits leave of it. Raises Refusal for a solver that this service does not offer."""
    asked, said = options_of(wanted), wanted.model_fields_set
    if asked.solver != "auto" and settings.allowed_solvers and asked.solver not in settings.allowed_solvers:
        found = Finding(Code.UNKNOWN_SOLVER, "/options/solver", "this service does not offer that solver")
        raise refused_findings([found])
    longest = min(settings.max_time_limit, settings.max_explain_seconds) if asked.explain else settings.max_time_limit
    options = replace(
        asked,
        time_limit=(asked.time_limit if "time_limit" in said else None) or min(settings.default_time_limit, longest),
        memory_limit_bytes=asked.memory_limit_bytes or settings.max_solver_memory,
        workers=asked.workers or settings.max_workers_per_job,
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
    return Clipped(options, tuple(notes), wanted.objects)


def as_document(options: Options, *, objects: bool = False) -> dict[str, Any]:
    """The options as JSON can hold them, for a job's record and on the way to a worker. `objects` is there only if it is asked for."""
    document = {row.name: getattr(options, row.name) for row in OFFERED.values()}
    return document | {"objects": True} if objects else document


def from_document(document: Mapping[str, Any]) -> Options:
    """Options that as_document has written; that of an older version, perhaps, which did not have all of them."""
    known = {name: value for name, value in document.items() if name in DECLARED}
    for name, value in known.items():
        choices = DECLARED[name].choices
        if choices is not None and value is not None:
            known[name] = choices(value)
    return Options(**known)


def wrong_options(errors: Sequence[Any], root: str = "/options") -> Refusal:
    """What pydantic objects to, in the words of the command line's refusals."""
    findings = []
    for each in errors:
        place = "".join(f"/{str(step)[:60]}" for step in each["loc"] if step not in ("query", "int", "constrained-int"))
        unknown = each["type"] == "extra_forbidden"
        message = "there is no such option" if unknown else each["msg"][0].lower() + each["msg"][1:]
        findings.append(Finding(Code.INVALID_OPTION, pointer_text(root + place), message[:MAX_ECHO]))
    return refused_findings(findings)


def pointer_text(pointer: str) -> str:
    """With nothing in it that could move a cursor."""
    return printable(pointer)[:MAX_ECHO]
