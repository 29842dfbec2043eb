"""memplan-sweep/1: a Sweep becomes bytes, one configuration a line; what depends on the clock comes last."""

from __future__ import annotations

from typing import Any

from ...planning.sweeping import Sweep, SweepPoint
from ..documents import SWEEP_FORMAT
from ..json.lines import document


def write_sweep_json(sweep: Sweep) -> bytes:
    """The figures. The plans are documents of their own."""
    return document(sweep_fields(sweep), listed=("points",))


def sweep_fields(sweep: Sweep) -> dict[str, Any]:
    """The sweep as plain Python values, in the order of the document."""
    least = sweep.smallest
    return {
        "format": SWEEP_FORMAT,
        "name": sweep.name,
        "terms": [str(term) for term in sweep.terms],
        "points": [_point(point) for point in sweep.points],
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
        "run": {"seconds": sweep.seconds},
    }


def _point(point: SweepPoint) -> dict[str, Any]:
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
