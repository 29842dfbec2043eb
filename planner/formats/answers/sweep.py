"""memplan-sweep/1: each configuration's result on one line, with or without its plan; what depends on the clock is at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from solvers.model.instance import Term

from ...checks.report import bad_input
from ...facts.digest import PRICED
from ...model.deadline import about
from ...model.errors import Code
from ...model.plan import Plan, PlanStatus
from ...planning.sweeping import Sweep, SweepPoint
from ...planning.sweeping.answer import COST, SmallestCapacity
from ..documents import SWEEP_FORMAT, require_format
from ..json.lines import Written, compact, document
from ..json.scan import scan
from .plan_writer import PlanWriter, write_plan_json

Kind = TypeVar("Kind")

SMALLEST_FILE = "smallest.json"
"""The file of the smallest capacity's plan, if plans are in files."""


def write_sweep_json(sweep: Sweep, warnings: Sequence[str] = (), *, with_plans: bool = False) -> bytes:
    """Return the figures. Each configuration's plan is a separate document, unless `with_plans` is set."""
    fields = sweep_fields(sweep, warnings)
    if with_plans:
        writer = PlanWriter()
        fields["points"] = Written(_with_plan(point, writer) for point in sweep.points)
        if sweep.smallest is not None:
            fields["smallest"]["plan"] = json.loads(write_plan_json(sweep.smallest.plan))
    return document(fields, listed=("points",))


def write_sweep_files(sweep: Sweep) -> tuple[bytes, dict[str, Plan]]:
    """Return the figures with the names of the plans' files, and the plans by these names."""
    fields, files = sweep_fields(sweep), {}
    for point, row in zip(sweep.points, fields["points"], strict=True):
        row["plan"] = None if point.plan is None else plan_file(point.capacity)
        if point.plan is not None:
            files[row["plan"]] = point.plan
    if sweep.smallest is not None:
        fields["smallest"]["plan"] = SMALLEST_FILE
        files[SMALLEST_FILE] = sweep.smallest.plan
    return document(fields, listed=("points",)), files


def configuration(capacity: Mapping[str, int]) -> str:
    """Return a configuration's name: its sizes."""
    return ",".join(str(size) for size in capacity.values())


def plan_file(capacity: Mapping[str, int]) -> str:
    """Return the name of the file of a configuration's plan."""
    return f"{configuration(capacity)}.json"


def sweep_fields(sweep: Sweep, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """Return the sweep as plain Python values, in the order of the document."""
    least = sweep.smallest
    return {
        "format": SWEEP_FORMAT,
        "name": sweep.name,
        "terms": list(sweep.names),
        **({"peak_price": sweep.peak_price} if PRICED.intersection(sweep.terms) else {}),
        **({} if sweep.most_cost is None else {"max_cost": sweep.most_cost}),
        "points": [point_fields(point) for point in sweep.points],
        "smallest": None
        if least is None
        else {
            "pool": least.pool,
            "capacity": least.capacity,
            "bound": least.bound,
            "status": str(least.plan.status),
        },
        "reproducible": sweep.reproducible,
        "problem_digest": sweep.problem_digest,
        "warnings": list(warnings),
        "run": {"seconds": sweep.seconds},
    }


def _with_plan(point: SweepPoint, writer: PlanWriter) -> str:
    """Return it on one line; JSON's strings contain no line ends."""
    plan = "null" if point.plan is None else writer.write(point.plan).decode("utf-8").replace("\n", "")
    return f'{compact(point_fields(point))[:-1]}, "plan": {plan}}}'


def point_fields(point: SweepPoint) -> dict[str, Any]:
    """Return a configuration and its result."""
    return {
        "capacity": dict(point.capacity),
        "status": str(point.status),
        "value": None if point.value is None else list(point.value),
        "bound": list(point.bound),
        "peaks": None if point.peaks is None else dict(point.peaks),
        "access_cost": point.access_cost,
        "spilled_bytes": point.spilled_bytes,
        "solved": point.solved,
    }


@about("sweep")
def read_sweep_figures(data: bytes) -> Sweep:
    """Return the sweep without plans and without the smallest capacity, whose plan it may lack. Raises BadInput."""
    require_format(scan(data), SWEEP_FORMAT, "a sweep")
    document = json.loads(data)
    if not isinstance(document.get("points"), list):
        raise bad_input(Code.WRONG_TYPE, ("points",), "must be a list of points")
    try:
        points = tuple(
            SweepPoint(
                {str(name): _whole(size) for name, size in point["capacity"].items()},
                PlanStatus(point["status"]),
                None if point["value"] is None else tuple(map(_whole, point["value"])),
                tuple(map(_whole, point["bound"])),
                None if point["peaks"] is None else {str(name): _whole(size) for name, size in point["peaks"].items()},
                None if point["access_cost"] is None else _whole(point["access_cost"]),
                None if point["spilled_bytes"] is None else _whole(point["spilled_bytes"]),
                None,
                _of(bool, point["solved"]),
            )
            for point in document["points"]
        )
        chooses = document["terms"][:1] == [COST]
        terms = tuple(Term(term) for term in document["terms"][chooses:])
        price = _whole(document.get("peak_price", 1))
        most_cost = None if document.get("max_cost") is None else _whole(document["max_cost"])
        found = Sweep(
            None if document["name"] is None else _of(str, document["name"]),
            _of(str, document["problem_digest"]), terms, price, points, None, _of(bool, document["reproducible"]),
            float(_of(float, document["run"]["seconds"])), chooses, most_cost,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise bad_input(Code.INVALID_VALUE, (), "must be a sweep as memplan writes it") from error
    if not found.names:
        raise bad_input(Code.INVALID_VALUE, ("terms",), "must name at least one term")
    for number, point in enumerate(points):
        if len(found.names) != len(point.value or found.names) or (point.value is not None and not point.value):
            text = f"must have a number for each of the {len(found.names)} terms"
            raise bad_input(Code.INVALID_VALUE, ("points", number, "value"), text)
    if len({frozenset(point.capacity) for point in points}) > 1:
        raise bad_input(Code.INVALID_VALUE, ("points",), "must all be of the same pools")
    return found


@about("sweep")
def read_sweep_json(data: bytes, read_file: Callable[[str], bytes] | None = None) -> Sweep:
    """Return the sweep with its plans. `read_file` reads those in files; without it such a sweep is refused. Raises BadInput."""
    figures = read_sweep_figures(data)
    document = json.loads(data)
    points = tuple(
        replace(point, plan=_plan_of(row, ("points", number, "plan"), read_file))
        for number, (point, row) in enumerate(zip(figures.points, document["points"], strict=True))
    )
    least = document.get("smallest")
    if least is None:
        return replace(figures, points=points)
    place = ("smallest",)
    try:
        pool, bound = _of(str, least["pool"]), _whole(least["bound"])
        capacity = None if least["capacity"] is None else _whole(least["capacity"])
    except (KeyError, TypeError, ValueError) as error:
        raise bad_input(Code.INVALID_VALUE, place, "must be a smallest capacity as memplan writes it") from error
    if any(pool not in point.capacity for point in points):
        raise bad_input(Code.INVALID_VALUE, (*place, "pool"), "must be a pool whose sizes were tried")
    plan = _plan_of(least, (*place, "plan"), read_file)
    if plan is None:
        raise bad_input(Code.INVALID_VALUE, (*place, "plan"), "must be a plan")
    if least.get("status") != plan.status:
        raise bad_input(Code.INVALID_VALUE, (*place, "status"), f'its plan says "{plan.status}"')
    return replace(figures, points=points, smallest=SmallestCapacity(pool, capacity, bound, plan))


def _whole(number: Any) -> int:
    """Raise TypeError unless it is an integer."""
    return _of(int, number)


def _of(kind: type[Kind], value: Any) -> Kind:
    """Raise TypeError unless the value is of this kind; a float may be written as an integer."""
    if type(value) is kind or (kind is float and type(value) is int):
        return cast(Kind, value)
    raise TypeError


def _plan_of(
    row: Mapping[str, Any], place: tuple[str | int, ...], read_file: Callable[[str], bytes] | None
) -> Plan | None:
    from .plan_reader import plan_of_answer  # imports pydantic, which writing does not need

    if "plan" not in row:
        text = "is missing: these are figures alone; 'memplan sweep --plans FOLDER' writes the plans, and a sweep.json that names them"
        raise bad_input(Code.MISSING_FIELD, place, text)
    return None if row["plan"] is None else plan_of_answer(row["plan"], place, read_file)
