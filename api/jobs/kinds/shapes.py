"""Sizes that depend on symbols: one plan for all their values, verified before it is given out."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from planner.drawing import shapes_curve
from planner.facts.digest import digest
from planner.facts.variants import require_nothing_to_choose
from planner.formats import read_shaped, read_shapes_plan, write_plan, write_shaped, write_shapes_plan
from planner.formats.documents import Source
from planner.formats.tables.format import Format
from planner.formats.tables.problems import USUAL
from planner.model.deadline import finish, time_limit
from planner.model.errors import BadInput, Code, Finding
from planner.model.plan import Plan, PlanStatus, gap_to
from planner.planning.options.options import bad_option
from planner.planning.shapes import (
    Mode,
    ShapedProblem,
    ShapesPlan,
    c_source,
    parse_shape,
    plan_at,
    plan_shapes,
    planned_shapes,
    require_right,
    shape_name,
)
from planner.planning.shapes.c_source import require_prefix
from planner.planning.shapes.expression import Values
from planner.planning.shapes.modes import MOST_SHAPES
from planner.planning.shapes.order import require_plain
from planner.planning.shapes.shaped import require_shape
from solvers.model.errors import StopReason

from ...errors import HttpCode, Refusal
from .kind import Answer, Instructions, Kind, Line, Subject, answer, no_such_part, stop_in_words
from .plans import drawn, known, plan_within, require_solver

SO_FAR = "memplan-shapes-so-far/1"
"""A job's state before it has a plan for all shapes."""


class ShapesKind(Kind):
    """A plan for all shapes."""

    name = "shapes"

    def read(self, row: Format, source: Source) -> Subject:
        if row.name != USUAL:
            raise BadInput(Finding(Code.UNSUPPORTED, "", f"sizes that depend on symbols need the format {USUAL}"))
        problem, warnings = read_shaped(source.data)
        identity = hashlib.sha256(write_shaped(problem)).hexdigest()
        return Subject(problem.largest, warnings, problem, digest(problem.largest), identity)

    def check(self, subject: Subject, instructions: Instructions) -> None:
        problem, own = planned_shapes(subject.more, instructions.options), instructions.own
        require_nothing_to_choose(problem.largest)
        if _mode(own) is Mode.EXPRESSIONS:
            require_plain(problem.largest)
        at = _shapes(own)
        if len(at) > MOST_SHAPES:
            raise bad_option("at", f"these are {len(at)} shapes, and {MOST_SHAPES} are the most")
        for shape in at:
            require_shape(problem, shape)
        if _mode(own) is Mode.BUCKETS and not at:
            raise bad_option("at", "say which shapes the offsets are for, as in n=128")
        if "c" in own:
            if _mode(own) is not Mode.EXPRESSIONS:
                raise bad_option("c", "C functions are for offsets that are expressions; the others are numbers")
            require_prefix(own["c"], "c")
        require_solver(instructions.options.solver)

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        problem: ShapedProblem = subject.more
        start = known(best, _plans) or {}
        told = {*map(id, start.values())}
        solved: list[tuple[Values, Plan]] = []

        def so_far() -> Answer:
            data = _so_far(_mode(instructions.own), problem, tuple(solved), instructions.notes)
            return answer(data, status=PlanStatus.UNKNOWN.value, stop=StopReason.CANCELLED.value, lasting=False)

        def on_shape(values: Values, plan: Plan) -> None:
            solved.append((values, plan))
            if id(plan) not in told:
                figures = {"at": dict(values), "optimum": plan.peak, "bound": plan.bound}
                line.point({**figures, "seconds": round(time.monotonic() - begun, 6)}, so_far)

        with time_limit(instructions.options.time_limit, begun):
            found = plan_shapes(
                problem,
                _mode(instructions.own),
                _shapes(instructions.own),
                instructions.options,
                cancelled=line.cancelled,
                begun=begun,
                on_shape=on_shape,
                start=start.values(),
            )
            finish()
            require_right(planned_shapes(problem, instructions.options), found)
        return _described(problem, found, instructions, line.cancelled())

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        raise Refusal(503, HttpCode.NO_PLAN, f"{stop_in_words(stop)}, which is no plan for all shapes")

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        document: dict[str, Any] = json.loads(answer)
        if document["format"] == SO_FAR:
            if wanted == "svg":
                raise _no_plan_yet()
            for row in document["shapes"]:
                del row["plan"]
            return json.dumps(document).encode("ascii")
        found = read_shapes_plan(answer)
        if wanted == "svg":
            return shapes_curve(subject.problem.name, [found])
        shown = ("format", "mode", "symbols", "exact", "shapes", "warnings")
        arena = None if found.plan is None else found.plan.peak
        return json.dumps({"arena": arena, **{name: document[name] for name in shown}}).encode("ascii")

    def draw_part(self, subject: Subject, instructions: Instructions, answer: bytes, name: str, wanted: str) -> bytes:
        if json.loads(answer)["format"] == SO_FAR:
            raise _no_plan_yet()
        problem, found = planned_shapes(subject.more, instructions.options), read_shapes_plan(answer)
        rows = {shape_name(row.values): row for row in found.rows}
        if name not in rows:
            raise no_such_part(name, rows)
        return drawn(problem.at(rows[name].values), plan_at(problem, found, rows[name]), wanted)


def _no_plan_yet() -> Refusal:
    return Refusal(409, HttpCode.NO_PLAN_YET, "the job has no plan for all shapes yet")


def _described(problem: ShapedProblem, found: ShapesPlan, instructions: Instructions, is_cancelled: bool) -> Answer:
    """Return the bytes of the plan, and what the service must know about it."""
    c = None
    if "c" in instructions.own:
        c = c_source(found, [buffer.id for buffer in problem.largest.buffers], instructions.own["c"])
    best, bound = (found.plan.peak, found.plan.bound) if found.plan is not None else (None, None)
    is_best = found.plan is not None and found.exact
    settled = all(row.optimum == row.bound for row in found.rows)
    stop = StopReason.PROVED if is_best or settled else StopReason.WORK_LIMIT
    if is_cancelled:
        stop = StopReason.CANCELLED
    return answer(
        write_shapes_plan(found, instructions.notes, c),
        status=(PlanStatus.OPTIMAL if is_best else PlanStatus.FEASIBLE).value,
        stop=stop.value,
        best=best,
        bound=bound,
        gap=gap_to(bound, best),
        lasting=stop is StopReason.PROVED and (is_best or found.plan is None),
    )


def _plans(best: bytes) -> dict[str, Plan]:
    """Return plans by the names of their shapes."""
    return {shape_name(row["at"]): plan_within(row["plan"]) for row in json.loads(best)["shapes"]}


def _so_far(mode: Mode, problem: ShapedProblem, solved: Sequence[tuple[Values, Plan]], notes: Sequence[str]) -> bytes:
    """Return the solved shapes, each with its plan: the start of the next attempt."""
    rows = [
        {"at": dict(values), "used": None, "optimum": plan.peak, "bound": plan.bound}
        | {"plan": json.loads(write_plan(plan))}
        for values, plan in solved
    ]
    fields = {"format": SO_FAR, "mode": mode.value, "symbols": problem.symbols, "exact": False, "shapes": rows}
    return json.dumps({**fields, "warnings": list(notes)}, allow_nan=False).encode("ascii")


def _mode(own: Mapping[str, Any]) -> Mode:
    return Mode(own.get("mode", Mode.EXPRESSIONS))


def _shapes(own: Mapping[str, Any]) -> list[dict[str, int]]:
    return [parse_shape(text) for text in own.get("at", ())]
