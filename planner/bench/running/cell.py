"""One run, in its own process: the request, and the record's fields as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from solvers.model.errors import StopReason
from solvers.model.solver import Goal
from solvers.sandbox import shutdown

from ...formats import FORMATS, read_problem, write_plan
from ...formats.documents import Source
from ...generate import Request, generate
from ...model.deadline import OutOfTime
from ...model.errors import BadInput, CannotSolve
from ...model.plan import Plan, PlanStatus
from ...model.problem import Problem
from ...model.versions import machine, versions
from ...planning.options.options import Options
from ...planning.placing.solving import plan
from ..results.records import CellStatus
from . import frontiers
from .grid import FROM_NAME
from .known import Known, capacity_from_name

MOST_DRAWN = 20_000
"""Plans of more buffers are not kept, since no map shows them."""
MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024
"""The unit of ru_maxrss on this system, in bytes."""


def prepare() -> None:
    """Import what reading and every plan need before any run begins; solvers' own libraries count as time of their solvers."""
    for row in FORMATS.values():
        with suppress(BadInput):
            row.read(Source(row.document))
    for kind in ("packing", "pools"):
        plan(generate(kind, Request(10, 0)), Options(solver="greedy", workers=1))


def answered(request: Mapping[str, Any]) -> bytes:
    """Return the fields of a record that only the run itself can know."""
    return json.dumps(_fields(request), allow_nan=False).encode()


def _fields(request: Mapping[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {"versions": versions(()), "machine": machine()}
    begun = time.monotonic()
    try:
        problem, _ = read_problem(Path(request["path"]).read_bytes(), name=request["path"])
        about |= {"problem": problem.name, "buffers": len(problem.buffers)}
        about["seconds_to_read"] = round(time.monotonic() - begun, 6)
        options = _options(request, problem)
        about["capacity"] = options.capacity
        if problem.variants is not None and options.goal is Goal.MINIMISE:
            found = frontiers.measured(problem, options)
        else:
            made = plan(problem, options)
            found = {**_of_plan(made), "wrong": _wrong(problem, made, about)}
    except OutOfTime as late:
        stop, warnings = str(StopReason.TIME_LIMIT), [str(late)]
        return {**about, "status": str(CellStatus.UNKNOWN), "stop": stop, "reproducible": False, "warnings": warnings}
    except (BadInput, CannotSolve) as error:
        return {**about, "status": str(CellStatus.REFUSED), "error": str(error)[:500]}
    finally:
        shutdown()  # only children that were waited for count in the memory
    return {**about, **found, "peak_memory_bytes": _peak_memory()}


def _options(request: Mapping[str, Any], problem: Problem) -> Options:
    settings = request["settings"]
    capacity = settings["capacity"]
    if capacity == FROM_NAME:  # several pools keep their own sizes, if any
        has_one_pool = len(problem.pools) == 1
        capacity = capacity_from_name(request["path"], Known.of(problem.name)) if has_one_pool else None
    return Options(
        time_limit=settings["time_limit"],
        work_limit=settings["work_limit"],
        memory_limit_bytes=settings["memory_limit_bytes"],
        solver=request["solver"],
        workers=settings["workers"],
        seed=request["seed"],
        capacity=capacity,
        goal=Goal(settings["goal"]),
    )


def _of_plan(made: Plan) -> dict[str, Any]:
    value, bound = made.objective.value, made.objective.bound
    return {
        "status": str(made.status),
        "stop": str(made.stop),
        "digest": made.problem_digest,
        "peak": made.peak,
        "peak_bound": made.bound,
        "value": value,
        "values": [term.value for term in made.objective.terms],
        "bound": bound,
        "gap": None if value is None or not bound else value / bound - 1,
        "reproducible": made.reproducible,
        "found_by": made.solver,
        "seconds": made.run.seconds,
        "seconds_to_best": _seconds_to_best(made),
        "seconds_to_proof": _seconds_to_proof(made),
        "trace": [(point.seconds, point.value, point.bound) for point in made.run.trace],
        "warnings": list(made.warnings),
        "versions": made.versions,
        "plan": write_plan(made).decode() if made.status.has_plan and len(made.placements) <= MOST_DRAWN else None,
    }


def _seconds_to_best(made: Plan) -> float | None:
    """Return when the first term reached its final value."""
    return next((point.seconds for point in made.run.trace if point.value == made.objective.value is not None), None)


def _seconds_to_proof(made: Plan) -> float | None:
    """Return when value and bound first met; if a later term or infeasibility had to be proven, when everything was done."""
    if made.status not in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE):
        return None
    if made.status is PlanStatus.OPTIMAL and len(made.objective.terms) == 1:
        for point in made.run.trace:
            if point.value is not None and point.value == point.bound:
                return point.seconds
    return made.run.seconds


def _wrong(problem: Problem, made: Plan, about: Mapping[str, Any]) -> str | None:
    capacity = about["capacity"]
    if capacity is None and len(problem.pools) == 1:
        capacity = problem.pools[0].size
    return Known.of(problem.name).contradiction(made, capacity)


def _peak_memory() -> int:
    """Return the greatest memory of this process or of those it has waited for (and theirs)."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * MEMORY_UNIT
    return max(_own_memory(), children)


def _own_memory() -> int:
    """Return this process's own memory. ru_maxrss begins with the parent's at its start, so the kernel's other count is better."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MEMORY_UNIT
