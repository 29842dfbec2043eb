"""A program planned function by function, each in its own arena, for comparison with one arena."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from planner.drawing import memory_map, nested_maps
from planner.facts.digest import digest
from planner.formats import write_plan
from planner.formats.answers.nested import arena_fields, read_nested, write_nested_json
from planner.formats.documents import Source
from planner.formats.tables.format import Format
from planner.graph.nested import NestedArena, NestedPlan, arenas_of, nested_plan
from planner.graph.problem import ProgramFile
from planner.model.deadline import time_limit
from planner.model.errors import BadInput, Code, Finding
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Pool, Problem
from planner.planning.options.capacity import with_capacity
from planner.planning.options.options import Options
from planner.planning.placing.shared_limits import SharedLimits
from solvers.model.errors import StopReason

from ...errors import bad_option
from .kind import Answer, Instructions, Kind, Line, Subject, answer, no_such_part, stop_in_words
from .plans import drawn, known, require_solver


class NestedKind(Kind):
    """Nested arenas. Its parts are named by the functions."""

    name = "nested"

    def read(self, row: Format, source: Source) -> Subject:
        problem, warnings = row.read(source)
        if row.program is None:
            return Subject.of(problem, warnings)
        settings = repr(sorted(row.arguments.items())).encode()
        identity = hashlib.sha256(source.data + settings).hexdigest()
        return Subject(problem, warnings, row.read_program(source)[0], digest(problem), identity)

    def check(self, subject: Subject, instructions: Instructions) -> None:
        if subject.more is None:
            text = "only programs have functions that can be planned by themselves"
            raise BadInput(Finding(Code.UNSUPPORTED, "/options/arenas", text))
        if instructions.own.get("objects"):
            raise bad_option("objects", "storage objects have no arenas")
        if instructions.options.prefer is not None:
            raise bad_option("prefer", "nested arenas are planned for the smallest peaks")
        _pools(subject.more, instructions.options)
        require_solver(instructions.options.solver)

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        start = {} if (before := known(best, read_nested)) is None else before.plans
        told = {*map(id, start.values())}
        count = len(subject.more.program.functions) + 1
        limits = SharedLimits(
            replace(instructions.options, capacity=None), count, begun, line.cancelled, start.values()
        )
        arenas: list[NestedArena] = []

        def so_far() -> Answer:
            return described(NestedPlan(tuple(arenas), None), instructions.notes, StopReason.CANCELLED)

        def on_arena(arena: NestedArena) -> None:
            arenas.append(arena)
            if id(arena.plan) not in told:
                figures = {**arena_fields(arena), "seconds": round(time.monotonic() - begun, 6)}
                line.point({"part": arena.function, **figures}, so_far)

        with time_limit(instructions.options.time_limit, begun):
            made = _nested(subject, instructions, limits.plan, on_arena)
        return described(made, instructions.notes, StopReason.CANCELLED if line.cancelled() else None)

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        document = json.loads(best)
        document["warnings"].append(stop_in_words(stop))
        data = json.dumps(document, allow_nan=False).encode("ascii")
        return answer(data, status=PlanStatus.UNKNOWN.value, stop=stop.value, lasting=False)

    def part(self, answer: bytes, name: str) -> bytes:
        plans = read_nested(answer).plans
        if name not in plans:
            raise no_such_part(name, plans)
        return write_plan(plans[name])

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        arenas = _arenas(subject, instructions, answer)
        if wanted == "svg":
            maps = [(arena.function, memory_map(arena.problem, arena.plan, ())) for arena in arenas]
            return nested_maps(subject.problem.name, maps, read_nested(answer).peak)
        document = json.loads(answer)
        document["arenas"] = [arena_fields(arena) for arena in arenas]
        return json.dumps(document).encode("ascii")

    def draw_part(self, subject: Subject, instructions: Instructions, answer: bytes, name: str, wanted: str) -> bytes:
        arenas = {arena.function: arena for arena in _arenas(subject, instructions, answer)}
        if name not in arenas:
            raise no_such_part(name, arenas)
        return drawn(arenas[name].problem, arenas[name].plan, wanted)


def described(made: NestedPlan, notes: Sequence[str], stop: StopReason | None) -> Answer:
    """Return the arenas with their plans, and what the service must know about them."""
    plans = [arena.plan for arena in made.arenas]
    status = PlanStatus.OPTIMAL if made.worst is None else made.worst.status
    if made.peaks is None and status.has_plan:
        status = PlanStatus.UNKNOWN
    final = status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
    cut_short = [plan.stop for plan in plans if plan.stop is not StopReason.PROVED]
    if final or stop is None:
        stop = StopReason.PROVED if final or not cut_short else cut_short[-1]
    return answer(
        write_nested_json(made, notes),
        status=status.value,
        stop=stop.value,
        best=made.peak,
        lasting=final or (stop is not StopReason.CANCELLED and all(plan.reproducible for plan in plans)),
    )


def _pools(file: ProgramFile, options: Options) -> Sequence[Pool]:
    return with_capacity(Problem((), file.pools), options.capacity).pools


def _nested(
    subject: Subject,
    instructions: Instructions,
    solve: Callable[[Problem], Plan],
    on_arena: Callable[[NestedArena], None] | None = None,
) -> NestedPlan:
    file: ProgramFile = subject.more
    return nested_plan(file.program, _pools(file, instructions.options), file.options, solve, on_arena)


def _arenas(subject: Subject, instructions: Instructions, answer: bytes) -> Sequence[NestedArena]:
    """Return the arenas of which an answer has plans."""
    file: ProgramFile = subject.more
    return arenas_of(file.program, _pools(file, instructions.options), file.options, read_nested(answer).plans.values())
