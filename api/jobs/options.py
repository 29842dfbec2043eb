"""Options of a plan over HTTP: what may be asked for, and what of it the service's limits leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner.checks.report import printable
from planner.errors import MAX_ECHO, Code, Finding
from planner.options.options import GREATEST, Options, help_of
from planner.options.preference import Preference
from solvers.model.solver import Goal, Warm

from ..errors import Refusal, bad_option, refused_findings
from ..settings import Settings

Size = Annotated[int, Field(ge=0, le=GREATEST)]


class CommonOptions(BaseModel):
    """What a request may ask for, wherever it says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time_limit: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description=help_of("time_limit")
    )
    work_limit: Annotated[int, Field(ge=0, lt=GREATEST)] | None = Field(
        default=None,
        description=help_of("work_limit"),
    )
    memory_limit: Annotated[int, Field(ge=1, lt=GREATEST)] | None = Field(
        default=None, description=help_of("memory_limit_bytes")
    )
    solver: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        default="auto", description="`auto`, or a name that `/v1/solvers` lists."
    )
    workers: Annotated[int, Field(ge=1, lt=GREATEST)] | None = Field(default=None, description=help_of("workers"))
    seed: Annotated[int, Field(ge=0, lt=GREATEST)] = Field(default=0, description=help_of("seed"))
    goal: Literal["minimise", "fit"] = Field(default="minimise", description=help_of("goal"))
    prefer: Literal["size", "balanced", "speed"] | None = Field(
        default=None,
        description=help_of("prefer"),
    )
    warm: Literal["none", "bound", "hint", "both"] | None = Field(default=None, description=help_of("warm"))
    explain: bool = Field(default=False, description=help_of("explain"))
    objects: bool = Field(
        default=False,
        description="Let buffers share storage objects instead of giving them offsets: the answer is a memplan-sharing/1.",
    )


class SolveOptions(CommonOptions):
    """Options as they stand under `solve` in a body."""

    capacity: Size | dict[str, Size] | None = Field(default=None, description=help_of("capacity"))


class StrictSolveOptions(SolveOptions):
    """The same in JSON, where a number is no string."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class Clipped:
    """Options as they will be used, and a sentence for each that is less than was asked for."""

    options: Options
    notes: tuple[str, ...]
    objects: bool = False


def from_body(solve: object) -> SolveOptions:
    """The options under `solve`. Raises Refusal."""
    try:
        return StrictSolveOptions.model_validate(solve)
    except ValidationError as error:
        raise wrong_options(error.errors(include_url=False, include_input=False), "/solve") from None


def merged(query: SolveOptions, body: SolveOptions | None) -> SolveOptions:
    """Both together; to say one thing in both places is to be sure of it only if it is the same. Raises Refusal."""
    if body is None:
        return query
    said, also = query.model_dump(exclude_unset=True), body.model_dump(exclude_unset=True)
    for name in said.keys() & also.keys():
        if said[name] != also[name]:
            raise bad_option(name, "the query and the body's 'solve' say different things")
    return SolveOptions.model_validate(said | also)


def clipped(wanted: SolveOptions, settings: Settings) -> Clipped:
    """What the service's limits leave of it. Raises Refusal for a solver that this service does not offer."""
    if wanted.solver != "auto" and settings.allowed_solvers and wanted.solver not in settings.allowed_solvers:
        found = Finding(Code.UNKNOWN_SOLVER, "/options/solver", "this service does not offer that solver")
        raise refused_findings([found])
    notes: list[str] = []
    longest = settings.max_time_limit
    if wanted.explain:
        longest = min(longest, settings.max_explain_seconds)
    seconds = wanted.time_limit if wanted.time_limit is not None else min(settings.default_time_limit, longest)
    if seconds > longest:
        notes.append(f"the time limit was clipped from {seconds:g} to {longest:g} seconds, the most that is allowed")
        seconds = longest
    options = Options(
        time_limit=seconds,
        work_limit=wanted.work_limit,
        memory_limit_bytes=wanted.memory_limit or settings.max_solver_memory,
        solver=wanted.solver,
        workers=wanted.workers or settings.max_workers_per_job,
        seed=wanted.seed,
        capacity=wanted.capacity,
        goal=Goal(wanted.goal),
        prefer=None if wanted.prefer is None else Preference(wanted.prefer),
        warm=None if wanted.warm is None else Warm(wanted.warm),
        explain=wanted.explain,
    )
    for name, most, what in (
        ("work_limit", settings.max_work_limit, "work limit"),
        ("memory_limit_bytes", settings.max_solver_memory, "memory limit"),
        ("workers", settings.max_workers_per_job, "number of workers"),
    ):
        value = getattr(options, name)
        if value is not None and value > most:
            notes.append(f"the {what} was clipped from {value} to {most}, the most that is allowed")
            options = replace(options, **{name: most})  # type: ignore[arg-type]
    return Clipped(options, tuple(notes), wanted.objects)


def as_document(options: Options, *, objects: bool = False) -> dict[str, Any]:
    """The options as JSON can hold them, for a job's record and on the way to a worker. `objects` is there only if it is asked for."""
    document = {name: value for name, value in asdict(options).items() if name != "verbose"}
    return document | {"objects": True} if objects else document


def from_document(document: dict[str, Any]) -> Options:
    """Options that as_document has written; that of an older version, perhaps, which did not have all of them."""
    warm, prefer = document["warm"], document.get("prefer")
    known = {name: value for name, value in document.items() if name != "objects"}
    named = {
        "goal": Goal(document["goal"]),
        "prefer": None if prefer is None else Preference(prefer),
        "warm": None if warm is None else Warm(warm),
    }
    return Options(**(known | named))


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
