"""A program function by function, each in an arena of its own: to be compared with one arena for all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planner.facts.digest import digest
from planner.formats import read_plan, read_program
from planner.formats.answers.nested_writer import write_nested_json
from planner.formats.documents import Source
from planner.formats.programs.read_graph import ProgramFile
from planner.formats.table import Format
from planner.graph.nested import NestedPlan, nested_plan
from planner.model.errors import BadInput, Code, Finding
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Pool, Problem
from planner.options.capacity import with_capacity
from planner.options.options import Options
from planner.planning.placing.shares import Shares
from solvers.model.errors import StopReason

from ...errors import bad_option
from ...settings import Settings
from .kind import Answer, Asked, Kind, Line, Subject, answer, no_such_part
from .plans import as_written, drawn, require_solver


class NestedKind(Kind):
    """Nested arenas. Its parts are called as the functions."""

    name = "nested"

    def read(self, row: Format, source: Source) -> Subject:
        if row.name != "graph":
            raise BadInput(
                Finding(Code.UNSUPPORTED, "/options/arenas", "only programs have functions to plan by themselves")
            )
        problem, warnings = row.read(source)
        return Subject(
            problem, warnings, read_program(source.data), digest(problem), hashlib.sha256(source.data).hexdigest()
        )

    def check(self, subject: Subject, asked: Asked, settings: Settings) -> None:
        if asked.own.get("objects"):
            raise bad_option("objects", "storage objects have no arenas")
        if asked.options.prefer is not None:
            raise bad_option("prefer", "nested arenas are planned for the smallest peaks")
        _pools(subject.more, asked.options)
        require_solver(asked.options.solver)

    def run(self, subject: Subject, asked: Asked, line: Line, begun: float, best: bytes | None) -> Answer:
        count = len(subject.more.program.functions) + 1
        shares = Shares(replace(asked.options, capacity=None), count, begun, line.cancelled)
        made = _nested(subject, asked, shares.plan)
        plans = [arena.plan for arena in made.arenas]
        cut_short = [plan.stop for plan in plans if plan.stop is not StopReason.PROVED]
        status = PlanStatus.OPTIMAL if made.worst is None else made.worst.status
        final = status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
        return answer(
            write_nested_json(made, asked.notes),
            status=status.value,
            stop=(StopReason.PROVED if final or not cut_short else cut_short[-1]).value,
            best=made.peak,
            lasting=final or all(plan.reproducible for plan in plans),
        )

    def part(self, answer: bytes, name: str) -> bytes:
        return as_written(_plan(answer, name))

    def draw(self, subject: Subject, asked: Asked, answer: bytes, part: str | None, wanted: str) -> bytes:
        arenas = json.loads(answer)["arenas"]
        if part is None:
            names = ", ".join(arena["function"] for arena in arenas[:20])
            raise bad_option("part", f"say whose arena is to be drawn: {names}")
        plans = iter([read_plan(json.dumps(arena["plan"]).encode("ascii")) for arena in arenas])
        made = _nested(subject, asked, lambda _: next(plans))
        for arena in made.arenas:
            if arena.function == part:
                return drawn(arena.problem, arena.plan, wanted)
        raise no_such_part(part)


def _pools(file: ProgramFile, options: Options) -> tuple[Pool, ...]:
    return with_capacity(Problem((), file.pools), options.capacity).pools


def _nested(subject: Subject, asked: Asked, solve: Callable[[Problem], Plan]) -> NestedPlan:
    file: ProgramFile = subject.more
    return nested_plan(file.program, _pools(file, asked.options), file.options, solve)


def _plan(answer: bytes, name: str) -> dict[str, Any]:
    for arena in json.loads(answer)["arenas"]:
        if arena["function"] == name:
            plan: dict[str, Any] = arena["plan"]
            return plan
    raise no_such_part(name)
