"""memplan-sweep/1: the figures of a sweep that was written here; its plans are read by themselves."""

from __future__ import annotations

import json

from solvers.model.instance import Term

from ...checks.report import bad_input
from ...model.errors import Code
from ...model.plan import PlanStatus
from ...planning.sweeping import Sweep, SweepPoint
from ..documents import SWEEP_FORMAT
from ..json.scan import require_format, scan


def read_sweep_figures(data: bytes) -> Sweep:
    """Without plans, and without the smallest capacity, whose plan is not in it. Raises BadInput."""
    require_format(scan(data), SWEEP_FORMAT, "a sweep")
    document = json.loads(data)
    try:
        points = tuple(
            SweepPoint(
                dict(point["capacity"]),
                PlanStatus(point["status"]),
                None if point["value"] is None else tuple(point["value"]),
                tuple(point["bound"]),
                point["peaks"],
                point["access_cost"],
                point["spilled_bytes"],
                None,
                point["solved"],
            )
            for point in document["points"]
        )
        terms = tuple(Term(term) for term in document["terms"])
        found = Sweep(
            document["name"], document["problem_digest"], terms, 0, points, None, document["reproducible"],
            document["run"]["seconds"],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise bad_input(Code.INVALID_VALUE, (), "this is no sweep that was written here") from error
    return found
