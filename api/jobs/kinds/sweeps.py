"""Many sizes of memory: the result for each, reported as settled."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from planner.drawing import sweep_curve
from planner.facts.variants import most_buffers
from planner.formats.answers.sweep import configuration, point_fields, read_sweep_figures, write_sweep_json
from planner.model.errors import PlannerError
from planner.model.plan import Plan, PlanStatus, gap_to
from planner.model.problem import measures_bytes
from planner.planning.options.capacity import with_capacity
from planner.planning.placing.time_to_finish import seconds_to_write_sweep
from planner.planning.sweeping import SmallestCapacity, Sweep, SweepPoint, parse_ranges, sweep, swept_problem
from planner.planning.sweeping.configurations import STEP
from planner.planning.sweeping.sweep import least_capacity_problem
from solvers.model.errors import StopReason

from ...errors import too_large
from .kind import Answer, Instructions, Kind, Line, Subject, answer, no_such_part, stop_in_words
from .plans import as_written, drawn, known, plan_within, require_solver

MOST_PLACEMENTS = 1_000_000
"""The most placements of all configurations together."""

SMALLEST = "smallest"
"""The part with the plan for the smallest size."""


class SweepKind(Kind):
    """A sweep. Its other parts are named by their sizes, with commas between those of several pools."""

    name = "sweep"

    def check(self, subject: Subject, instructions: Instructions) -> None:
        sizes = _sizes(subject, instructions)
        swept_problem(subject.problem, sizes, instructions.options)
        require_solver(instructions.options.solver)
        count = _count(sizes)
        if count * most_buffers(subject.problem) > MOST_PLACEMENTS:
            raise too_large(f"{count} configurations of so many buffers: {MOST_PLACEMENTS} placements are the most")

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        sizes = _sizes(subject, instructions)
        problem = swept_problem(subject.problem, sizes, instructions.options)
        parts = _parts(best)
        settled: list[SweepPoint] = []
        smallest: list[SmallestCapacity] = []

        def so_far() -> Answer:
            points = tuple(settled)
            found = Sweep(
                problem.name,
                subject.digest,
                problem.terms,
                problem.peak_price,
                points,
                smallest[0] if smallest else None,
                False,
                time.monotonic() - begun,
                problem.variants is not None,
            )
            return described(found, instructions.notes, StopReason.CANCELLED)

        def on_point(point: SweepPoint) -> None:
            settled.append(point)
            name = configuration(point.capacity)
            if name not in parts:
                line.point({"part": name, **point_fields(point), "seconds": round(time.monotonic() - begun, 6)}, so_far)

        found = sweep(
            subject.problem,
            sizes,
            instructions.options,
            processes=1,
            cancelled=line.cancelled,
            on_point=on_point,
            on_smallest=smallest.append,
            begun=begun,
            start=known(best, _plans) or (),
            kept=seconds_to_write_sweep(problem, _count(sizes), in_files=False),
        )
        return described(found, instructions.notes, StopReason.CANCELLED if line.cancelled() else None)

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        document = json.loads(best)
        document["warnings"].append(stop_in_words(stop))
        data = json.dumps(document, allow_nan=False).encode("ascii")
        return answer(data, status=_status(read_sweep_figures(best)).value, stop=stop.value, lasting=False)

    def part(self, answer: bytes, name: str) -> bytes:
        return as_written(_part(answer, name)["plan"])

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        if wanted == "svg":
            return sweep_curve(read_sweep_figures(answer))
        document = json.loads(answer)
        for each in with_plans(document):
            del each["plan"]
        return json.dumps({"in_bytes": measures_bytes(subject.problem), **document}).encode("ascii")

    def draw_part(self, subject: Subject, instructions: Instructions, answer: bytes, name: str, wanted: str) -> bytes:
        found = _part(answer, name)
        problem = swept_problem(subject.problem, _sizes(subject, instructions), instructions.options)
        if name == SMALLEST:
            problem = least_capacity_problem(problem, found["pool"])
        else:
            problem = with_capacity(problem, found["capacity"])
        return drawn(problem, plan_within(found["plan"]), wanted)


def described(found: Sweep, notes: Sequence[str], stop: StopReason | None) -> Answer:
    """Return the sweep with its plans, and what the service must know about it. One pool's smallest size is its best value."""
    status = _status(found)
    if stop is None:
        is_over = all(point.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE) for point in found.points)
        stop = StopReason.PROVED if is_over else StopReason.WORK_LIMIT
    least = found.smallest
    best, bound = (None, None) if least is None else (least.capacity, least.bound)
    return answer(
        write_sweep_json(found, notes, with_plans=True),
        status=status.value,
        stop=stop.value,
        best=best,
        bound=bound,
        gap=gap_to(bound, best),
        lasting=found.reproducible and stop is not StopReason.CANCELLED,
    )


def _status(found: Sweep) -> PlanStatus:
    """Return optimal if each configuration is settled and some fit, infeasible if none does."""
    known = {point.status for point in found.points}
    if not any(status.has_plan for status in known):
        return PlanStatus.INFEASIBLE if known == {PlanStatus.INFEASIBLE} else PlanStatus.UNKNOWN
    return PlanStatus.OPTIMAL if known <= {PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE} else PlanStatus.FEASIBLE


def _sizes(subject: Subject, instructions: Instructions) -> dict[str, tuple[int, ...]]:
    return parse_ranges(instructions.own.get("capacity", ()), subject.problem, instructions.own.get("step", STEP))


def _count(sizes: Mapping[str, Sequence[int]]) -> int:
    """Return the number of configurations."""
    return prod(map(len, sizes.values()))


def _parts(best: bytes | None) -> set[str]:
    """Return what an earlier attempt has reported."""
    try:
        return set() if best is None else {configuration(each.capacity) for each in read_sweep_figures(best).points}
    except PlannerError:
        return set()


def with_plans(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of an answer that can have plans: each configuration, and the smallest size."""
    return [*document["points"], *([] if document["smallest"] is None else [document["smallest"]])]


def _plans(answer: bytes) -> list[Plan]:
    return [plan_within(each["plan"]) for each in with_plans(json.loads(answer)) if each["plan"] is not None]


def _part(answer: bytes, name: str) -> dict[str, Any]:
    """Return the part of that name, with its plan. Raises Refusal."""
    parts = {
        SMALLEST if "pool" in each else configuration(each["capacity"]): each
        for each in with_plans(json.loads(answer))
        if each["plan"] is not None
    }
    if name not in parts:
        raise no_such_part(name, parts)
    found: dict[str, Any] = parts[name]
    return found
