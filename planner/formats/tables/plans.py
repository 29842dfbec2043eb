"""Every format of plans. Whatever writes, names or explains them reads this table.

A format is a function from the problem, the plan and the bytes from which the problem was read, and a row here; docs/firmware.md explains each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...checks.names import require_ids_as_texts
from ...checks.report import bad_answer, bad_input, quoted
from ...model.columns.buffers import ids
from ...model.errors import BadInput, Code
from .endings import of_ending
from .format import BYTES, CSV, JSON, TEXT, found
from .settings import AS, NOTHING, Setting, parsed_settings

if TYPE_CHECKING:
    from ...model.plan import Plan
    from ...model.problem import Problem
    from ..documents import Source


class PlanFormat(NamedTuple):
    """One way to write a plan."""

    name: str
    title: str
    endings: tuple[str, ...]
    writer: str
    """module:function, from a Problem, its Plan and the bytes from which it was read; imported on first use. Raises BadInput."""
    read_as: str | None = None
    """The default format for reading the problem, including settings; None: the recognised one."""
    settings: tuple[Setting, ...] = ()
    media_type: str = TEXT
    arguments: Mapping[str, Any] = NOTHING
    ids_are_texts: bool = True
    """True if the numbers and the texts among ids look alike in it."""
    check: str | None = None
    """module:function, from a Problem and the bytes: raises BadInput if the writer could write no plan of it."""

    def require_source(self, source: Source) -> None:
        """Raise BadInput if plans in this format are made of problems in one format alone, and this is another."""
        if self.read_as is not None:
            from .problems import require_content

            require_content(self.read_as.partition(":")[0], source, f"a {self.endings[0]} file is written from")

    def require_expressible(self, problem: Problem, source: bytes) -> None:
        """Raise BadInput if no plan of the problem can be written in this format, as far as this shows without one."""
        if self.ids_are_texts:
            require_ids_as_texts(problem, ids(problem.buffers))
        if self.check is not None:
            found(self.check)(problem, source, **self.arguments)

    def write(self, problem: Problem, plan: Plan, source: bytes) -> bytes:
        """Return the plan in this format. Raises BadInput for what it cannot express: only memplan's own can lack addresses."""
        if self.name != USUAL and not plan.status.has_plan:
            text = f"there is nothing to write: the plan is {plan.status.value}"
            raise bad_answer(Code.NO_PLAN_FOUND, ("status",), text)
        if self.name != USUAL:
            from ...reporting.report import require_names

            require_names(problem, plan)
        if self.read_as is not None:
            from ..documents import Source

            self.require_source(Source(source))
        if self.ids_are_texts:
            require_ids_as_texts(problem, [placement.id for placement in plan.placements])
        written: bytes = found(self.writer)(problem, plan, source, **self.arguments)
        return written


PREFIX = (Setting("prefix", "What names begin with.", metavar="NAME"),)
_MICRO = "tflite:like=tflm"
PLAN_FORMATS: dict[str, PlanFormat] = {
    row.name: row
    for row in (
        PlanFormat(
            "plan",
            "memplan-plan/1 JSON",
            (".json", ".plan"),
            "planner.formats.tables.plans:plan_document",
            media_type=JSON,
            ids_are_texts=False,
        ),
        PlanFormat(
            "tflite",
            "the TensorFlow Lite model with its offsets",
            (".tflite", ".lite"),
            "planner.formats.models.tflite.write:write_into",
            _MICRO,
            media_type=BYTES,
            ids_are_texts=False,
            check="planner.formats.models.tflite.write:check",
        ),
        PlanFormat(
            "c",
            "C header",
            (".h",),
            "planner.formats.firmware.headers:c_header",
            settings=PREFIX,
            check="planner.formats.firmware.headers:check_c",
        ),
        PlanFormat(
            "cpp",
            "C++ header",
            (".hpp", ".hh", ".hxx"),
            "planner.formats.firmware.headers:cpp_header",
            settings=PREFIX,
            check="planner.formats.firmware.headers:check_cpp",
        ),
        PlanFormat(
            "ld",
            "linker script",
            (".ld", ".lds"),
            "planner.formats.firmware.linker:linker_script",
            settings=PREFIX,
            check="planner.formats.firmware.linker:check_script",
        ),
        PlanFormat("map", "memory map", (".map",), "planner.formats.firmware.linker:memory_map"),
        PlanFormat(
            "cadence",
            "Cadence's tables",
            (".cadence",),
            "planner.formats.firmware.cadence:cadence_document",
            ids_are_texts=False,
        ),
        PlanFormat(
            "tflm",
            "TFLite Micro's BufferPlan, C++",
            (".cc", ".cpp"),
            "planner.formats.firmware.buffer_plan:buffer_plan",
            _MICRO,
            PREFIX,
            check="planner.formats.firmware.buffer_plan:check",
        ),
        PlanFormat(
            "csv",
            "CSV with offsets",
            (".csv",),
            "planner.formats.planners.minimalloc_writer:write_plan_csv",
            media_type=CSV,
        ),
        PlanFormat(
            "chrome-trace",
            "Chrome trace",
            (".trace", ".trace.json"),
            "planner.formats.dumps.chrome:write_plan",
            media_type=JSON,
            check="planner.formats.dumps.chrome:check_times",
        ),
    )
}
USUAL = "plan"
INSTEAD = "for another one, name the format (--as); pictures are made of a written plan, with `memplan draw`"


def plan_format(name: str | None, file: str = "") -> PlanFormat:
    """Return the format NAME (or with settings: NAME:prefix=net), or the one of the file's ending; JSON if it has none. Raises BadInput."""
    if name is None:
        return of_ending(file, PLAN_FORMATS.values(), PLAN_FORMATS[USUAL], INSTEAD)
    base, _, settings = name.partition(":")
    if base not in PLAN_FORMATS:
        known = ", ".join(PLAN_FORMATS)
        raise bad_input(Code.INVALID_OPTION, AS, f"plans are not written as {quoted(base)}; known are {known}")
    row = PLAN_FORMATS[base]
    try:
        return row._replace(arguments=parsed_settings(base, row.settings, settings))
    except BadInput as error:
        raise bad_input(Code.INVALID_OPTION, AS, error.findings[0].message) from None


def plan_document(_problem: Problem, plan: Plan, _source: bytes) -> bytes:
    """Return the plan as every other command reads it."""
    from ..answers.plan_writer import write_plan_json

    return write_plan_json(plan)
