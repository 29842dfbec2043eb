"""The benefit of each size of memory: objective, access cost and spilled bytes over the swept pool's size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from solvers.model.instance import Term
from solvers.model.linear_terms import is_counted_in_bytes

from ...model.errors import BadAnswer, Code, Finding
from ...planning.sweeping import Sweep, SweepPoint
from ..frame import STANDARD, Sheet
from ..ticks import address_labels, exact_bytes, number_labels
from .plot import Axes, Curve, curves

MOST_CURVES = 6

Figure = Callable[[SweepPoint], int | None]


def sweep_curve(sweep: Sweep, sheet: Sheet = STANDARD) -> bytes:
    """Return the picture, with the last swept pool on the lower axis and a curve for each combination of the others. Raises BadInput."""
    pool = [*sweep.points[0].capacity][-1]
    rows = _rows(sweep.points, pool)
    if len(rows) > MOST_CURVES:
        text = f"there are {len(rows)} combinations of the other pools' sizes, and room for {MOST_CURVES} curves"
        raise BadAnswer(Finding(Code.INVALID_OPTION, "/options/capacity", text))
    fields = [_axes(sweep, rows, title, figure, in_bytes=in_bytes) for title, figure, in_bytes in _figures(sweep)]
    title = f"{sweep.name or 'A problem'}: what the size of {pool} buys"
    return curves(title, _line(sweep, pool), fields, address_labels, sheet, in_bytes=True)


def exactly(size: int) -> str:
    """Return a size as a mark has it."""
    return address_labels([size])[0]


def _rows(points: Sequence[SweepPoint], pool: str) -> dict[str, list[SweepPoint]]:
    rows: dict[str, list[SweepPoint]] = {}
    for point in points:
        others = ", ".join(f"{name} {exactly(size)}" for name, size in point.capacity.items() if name != pool)
        rows.setdefault(others, []).append(point)
    return rows


def _figures(sweep: Sweep) -> list[tuple[str, Figure, bool]]:
    """Return the fields: the objective's first term, and access and spill if they differ from it and are not always zero."""
    first = sweep.names[0]
    found: list[tuple[str, Figure, bool]] = [
        (
            first.replace("_", " "),
            lambda point: None if point.value is None else point.value[0],
            not sweep.chooses and is_counted_in_bytes(sweep.terms[0]),
        )
    ]
    others: list[tuple[Term, Figure, bool]] = [
        (Term.ACCESS_COST, lambda point: point.access_cost, False),
        (Term.SPILLED_BYTES, lambda point: point.spilled_bytes, True),
    ]
    for term, figure, in_bytes in others:
        if str(term) != first and any(figure(point) for point in sweep.points):
            found.append((str(term).replace("_", " "), figure, in_bytes))
    return found


def _axes(sweep: Sweep, rows: dict[str, list[SweepPoint]], title: str, figure: Figure, *, in_bytes: bool) -> Axes:
    drawn = []
    for name, points in rows.items():
        last = [*points[0].capacity][-1]
        known = [(point.capacity[last], float(value)) for point in points if (value := figure(point)) is not None]
        drawn.append(Curve(name or title, known, steps=True))
    least = sweep.smallest
    marks = []
    if least is not None and least.capacity is not None:
        sizes = [point.capacity[least.pool] for point in sweep.points]
        if min(sizes) <= least.capacity <= max(sizes):
            marks.append((least.capacity, f"smallest: {exactly(least.capacity)}"))
    return Axes(title, drawn, address_labels if in_bytes else number_labels, marks, in_bytes=in_bytes)


def _line(sweep: Sweep, pool: str) -> str:
    count = f"{len(sweep.points)} configurations, {sum(point.solved for point in sweep.points)} of them solved"
    least = sweep.smallest
    if least is None:
        return count
    if least.capacity is None:
        return f"{count}  ·  nothing fits at any size of {pool}"
    proof = "proven" if least.is_proven else f"at least {exact_bytes(least.bound)}"
    return f"{count}  ·  smallest {pool}: {exact_bytes(least.capacity)} ({proof})"
