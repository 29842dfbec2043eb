"""Answers beside their problems: each is verified, drawn and written as its kind allows, whichever door it comes in by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from ...checks.names import require_ids_as_texts
from ...checks.report import bad_answer
from ...drawing import (
    STANDARD,
    MemoryMap,
    Sheet,
    frontier_curve,
    memory_map,
    nested_maps,
    shapes_curve,
    svg,
    sweep_curve,
)
from ...drawing.objects import objects_map
from ...graph.problem import ProgramFile
from ...graph.verify import CheckedArenas, check_arenas
from ...model.errors import MAX_FINDINGS, BadAnswer, Code, Finding
from ...model.plan import Plan, PlanStatus
from ...model.problem import Problem
from ...planning.options.capacity import with_capacity
from ...planning.shapes import ShapedProblem, verify_shapes
from ...planning.sharing import verify_sharing
from ...planning.sharing.bounds import notes as notes_on_sharing
from ...planning.sharing.report import sharing_report
from ...planning.sweeping import SweepPoint, verify_sweep
from ...reporting.report import MemoryReport, memory_report
from ...verifying.arguments.bounds import notes
from ...verifying.choices.choice import notes_on_choice, notes_on_points
from ...verifying.findings import AnswerFinding, VerifyFinding
from ...verifying.frontier import verify_frontier
from ...verifying.verify import verify
from ..planners.minimalloc_writer import write_plan_csv
from ..text.lines import table
from .frontier import point_fields
from .nested import arena_fields, read_nested
from .write_map import write_map
from .write_report import write_frontier_report, write_nested_report, write_report_json


@dataclass(frozen=True, slots=True)
class Asked:
    """What an answer answers: a problem as it was sent, and as it was planned, with other sizes or another objective."""

    source: bytes
    problem: Problem
    capacity: int | Mapping[str, int] | None
    with_symbols: Callable[[], ShapedProblem]
    """Reads the problem again, with sizes as written."""
    program: Callable[[], ProgramFile] | None
    """Reads it as a program; None if files of its format are no programs."""


@dataclass(frozen=True, slots=True)
class SaidFinding:
    """A fault of a plan for all shapes, or of a sweep: one clear sentence."""

    kind: str
    message: str


ReadFile = Callable[[str], bytes]
"""Reads a file beside the answer's."""


class Opened(ABC):
    """An answer that was read, beside its problem."""

    marks_faults: ClassVar[bool] = False
    """True if the picture marks what is wrong."""

    def __init__(self, asked: Asked, data: bytes, read_file: ReadFile | None = None) -> None:
        self.asked = asked
        self.read(data, read_file)

    @abstractmethod
    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        """Read the answer. Raises BadInput."""

    @property
    @abstractmethod
    def checked(self) -> tuple[int, str]:
        """Return how many of what were checked."""

    @property
    @abstractmethod
    def findings(self) -> Sequence[AnswerFinding | SaidFinding]:
        """Return everything that is wrong with it; empty if it may be trusted."""

    @property
    def notes(self) -> Sequence[str]:
        """Return what was believed."""
        return ()

    @abstractmethod
    def picture(self, sheet: Sheet) -> bytes:
        """Return it as SVG. Raises BadInput."""

    @abstractmethod
    def figures(self) -> bytes:
        """Return its table as CSV. Raises BadInput."""

    def report(self) -> bytes:
        """Return what it does with memory as JSON; of what is wrong the figures would be wrong, too. Raises BadInput if there is none."""
        raise bad_answer(Code.UNSUPPORTED, (), "there are reports of plans, sharings, frontiers and nested arenas")

    @property
    def drawn(self) -> MemoryMap:
        """Return its memory map. Raises BadInput if there is none."""
        text = "there are memory maps of plans and sharings; other answers are drawn as svg, and csv has their figures"
        raise bad_answer(Code.UNSUPPORTED, (), text)

    def written(self, form: str, sheet: Sheet = STANDARD) -> bytes:
        """Return it in one of the forms of the table of answers. What is wrong is drawn, but has no table. Raises BadInput."""
        if form == "map":
            return write_map(self.drawn)
        if form == "svg":
            return self.picture(sheet)
        if self.findings:
            wrong = (Finding(Code.INVALID_VALUE, "", each.message) for each in self.findings[:MAX_FINDINGS])
            raise BadAnswer(*wrong, more=max(len(self.findings) - MAX_FINDINGS, 0))
        return self.figures()


class OpenedPlan(Opened):
    """A plan."""

    marks_faults = True

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        from .. import read_plan

        self.plan = read_plan(data)

    @property
    def checked(self) -> tuple[int, str]:
        return len(self.plan.placements), "placement"

    @cached_property
    def findings(self) -> tuple[VerifyFinding, ...]:
        return verify(self.asked.problem, self.plan)

    @property
    def notes(self) -> Sequence[str]:
        return (*notes(self.plan), *notes_on_choice(self.asked.problem, self.plan))

    @cached_property
    def drawn(self) -> MemoryMap:
        """Return its map, with the faults marked. Raises BadInput for a plan of another problem."""
        return memory_map(self.asked.problem, self.plan, self.findings)

    def picture(self, sheet: Sheet) -> bytes:
        return svg(self.drawn, sheet)

    def report(self) -> bytes:
        return write_report_json(memory_report(self.asked.problem, self.plan))

    def figures(self) -> bytes:
        _require_plan(self.plan.status)
        require_ids_as_texts(self.asked.problem, [each.id for each in self.plan.placements])
        return write_plan_csv(self.asked.problem, self.plan, self.asked.source)


class OpenedSharing(Opened):
    """Storage objects."""

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        from .. import read_sharing

        self.sharing = read_sharing(data)

    @property
    def checked(self) -> tuple[int, str]:
        return len(self.sharing.assignments), "assignment"

    @cached_property
    def findings(self) -> Sequence[AnswerFinding]:
        return verify_sharing(self.asked.problem, self.sharing)

    @property
    def notes(self) -> Sequence[str]:
        return notes_on_sharing(self.sharing)

    @cached_property
    def drawn(self) -> MemoryMap:
        return objects_map(self.asked.problem, self.sharing)

    def picture(self, sheet: Sheet) -> bytes:
        return svg(self.drawn, sheet)

    def report(self) -> bytes:
        from .sharing.write_report import write_sharing_report_json

        return write_sharing_report_json(sharing_report(self.asked.problem, self.sharing))

    def figures(self) -> bytes:
        _require_plan(self.sharing.status)
        require_ids_as_texts(self.asked.problem, (each.id for each in self.sharing.assignments))
        things = {thing.id: thing for thing in self.sharing.objects}
        return _rows(
            {
                "id": each.id,
                "object": each.object,
                "size": things[each.object].size,
                "pool": things[each.object].kind.pool,
            }
            for each in self.sharing.assignments
        )


class OpenedFrontier(Opened):
    """The frontier of memory and cost."""

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        from .. import read_frontier

        self.frontier = read_frontier(data, read_file)

    @property
    def checked(self) -> tuple[int, str]:
        return len(self.frontier.points), "plan"

    @cached_property
    def findings(self) -> Sequence[AnswerFinding]:
        return verify_frontier(self.asked.problem, self.frontier)

    @property
    def notes(self) -> Sequence[str]:
        return (*_notes_on(self.frontier.points), *notes_on_points(self.asked.problem, self.frontier.points))

    def picture(self, sheet: Sheet) -> bytes:
        return frontier_curve(self.asked.problem, self.frontier, sheet)

    def report(self) -> bytes:
        reports = [memory_report(self.asked.problem, plan) for plan in self.frontier.points]
        return write_frontier_report(self.frontier, reports)

    def figures(self) -> bytes:
        rows = []
        for plan in self.frontier.points:
            fields = point_fields(plan)
            costs = fields.pop("costs")
            rows.append({**fields, **{f"cost_{name}": cost for name, cost in costs.items()}})
        return _rows(rows)


class OpenedSweep(Opened):
    """Many sizes of memory."""

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        from .sweep import read_sweep_json

        self.sweep = read_sweep_json(data, read_file)

    @property
    def checked(self) -> tuple[int, str]:
        return len(self.sweep.points), "configuration"

    @cached_property
    def findings(self) -> Sequence[SaidFinding]:
        return [SaidFinding("sweep", text) for text in verify_sweep(self.asked.problem, self.sweep)]

    @property
    def notes(self) -> Sequence[str]:
        least = self.sweep.smallest
        plans = [point.plan for point in self.sweep.points] + [None if least is None else least.plan]
        return _notes_on(plan for plan in plans if plan is not None)

    def picture(self, sheet: Sheet) -> bytes:
        if not self.sweep.points or not self.sweep.points[0].capacity:
            raise bad_answer(Code.MISSING_FIELD, ("points",), "the sweep has no points, or no sizes")
        return sweep_curve(self.sweep, sheet)

    def figures(self) -> bytes:
        def row(point: SweepPoint) -> dict[str, object]:
            value = point.value or (None,) * len(self.sweep.names)
            return {
                **{f"capacity_{name}": size for name, size in point.capacity.items()},
                "status": str(point.status),
                **dict(zip(self.sweep.names, value, strict=False)),
                **{f"{name}_bound": bound for name, bound in zip(self.sweep.names, point.bound, strict=False)},
                **{f"peak_{name}": peak for name, peak in (point.peaks or {}).items()},
                "access_cost": point.access_cost,
                "spilled_bytes": point.spilled_bytes,
            }

        return _rows(map(row, self.sweep.points))


class OpenedShapes(Opened):
    """A plan for all shapes."""

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        from .. import read_shapes_plan

        self.shaped = replace(self.asked.with_symbols(), largest=self.asked.problem)
        self.found = read_shapes_plan(data)

    @property
    def checked(self) -> tuple[int, str]:
        return len(self.shaped.sizes), "buffer"

    @cached_property
    def findings(self) -> Sequence[SaidFinding]:
        return [SaidFinding("shapes", text) for text in verify_shapes(self.shaped, self.found)]

    def picture(self, sheet: Sheet) -> bytes:
        return shapes_curve(self.asked.problem.name, [self.found], sheet)

    def figures(self) -> bytes:
        return _rows(
            {f"at_{name}": value for name, value in row.values.items()}
            | {"used": row.used, "optimum": row.optimum, "bound": row.bound}
            for row in self.found.rows
        )


class OpenedNested(Opened):
    """The arenas of a program, planned function by function."""

    marks_faults = True

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        if self.asked.program is None:
            raise bad_answer(Code.UNSUPPORTED, (), "only programs have functions with arenas of their own")
        self.answer = read_nested(data)

    @cached_property
    def file(self) -> ProgramFile:
        assert self.asked.program is not None, "refused when it was read"
        return self.asked.program()

    @cached_property
    def _known(self) -> CheckedArenas:
        pools = with_capacity(Problem((), self.file.pools), self.asked.capacity).pools
        return check_arenas(self.file.program, pools, self.file.options, self.answer)

    @property
    def checked(self) -> tuple[int, str]:
        return len(self._known.arenas), "arena"

    @property
    def findings(self) -> Sequence[AnswerFinding]:
        return self._known.findings

    @property
    def notes(self) -> Sequence[str]:
        return _notes_on(arena.plan for arena in self._known.arenas)

    @cached_property
    def reports(self) -> Sequence[tuple[str, MemoryReport]]:
        """Return what the plan of each function's arena does with memory."""
        return [(each.function, memory_report(each.problem, each.plan)) for each in self._known.arenas]

    def report(self) -> bytes:
        return write_nested_report(self.answer.peak, self.reports)

    def picture(self, sheet: Sheet) -> bytes:
        maps = [(each.function, memory_map(each.problem, each.plan, each.findings)) for each in self._known.arenas]
        return nested_maps(self.file.program.name, maps, self.answer.peak, sheet)

    def figures(self) -> bytes:
        return _rows(map(arena_fields, self._known.arenas))


def _require_plan(status: PlanStatus) -> None:
    if not status.has_plan:
        raise bad_answer(Code.NO_PLAN_FOUND, ("status",), f"there is nothing to write: the plan is {status.value}")


def _notes_on(plans: Iterable[Plan]) -> Sequence[str]:
    return [*dict.fromkeys(note for plan in plans for note in notes(plan))]


def _rows(rows: Iterable[Mapping[str, object]]) -> bytes:
    listed = [*rows]
    columns = dict.fromkeys(name for row in listed for name in row)
    return table([*columns], listed).encode("utf-8", "surrogatepass")
