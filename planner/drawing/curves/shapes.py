"""The memory of plans for all shapes, over the shapes: beside the best plan for each shape alone, and relative to it."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import BadAnswer, Code, Finding
from ...planning.shapes import Mode, ShapesPlan
from ..frame import STANDARD, Sheet
from ..ticks import address_labels, number_labels
from .plot import Axes, Curve, curves

NAMES = {
    Mode.MAXIMUM: "room for the largest",
    Mode.BUCKETS: "offsets for these shapes",
    Mode.EXPRESSIONS: "offsets as expressions",
}


def shapes_curve(name: str | None, plans: Sequence[ShapesPlan], sheet: Sheet = STANDARD) -> bytes:
    """Return the picture of several modes' plans for the same shapes. One symbol must change along them. Raises BadInput."""
    rows = plans[0].rows
    symbols = [key for key in plans[0].symbols if len({row.values[key] for row in rows}) > 1]
    if not symbols:
        raise BadAnswer(Finding(Code.INVALID_OPTION, "/options/at", "a curve takes shapes in which a symbol changes"))
    along = symbols[0]
    others = {tuple(v for k, v in row.values.items() if k != along) for row in rows}
    best = Curve(
        "the best plan for the shape alone", _points([(r.values[along], r.optimum) for r in rows]), dashed=True
    )
    arenas = [Curve(NAMES[p.mode], _points([(r.values[along], _taken(p, r.used)) for r in p.rows])) for p in plans]
    more = [
        Curve(
            NAMES[p.mode],
            _points([(r.values[along], _taken(p, r.used) / r.optimum if r.optimum else None) for r in p.rows]),
        )
        for p in plans
    ]
    fields = [
        Axes(
            "bytes that must be there",
            [*arenas, best],
            address_labels,
            doubling=True,
            in_bytes=True,
        ),
        Axes("times the best", more, number_labels, doubling=True),
    ]
    figures = f"{len(rows)} shapes" + (
        "" if len(others) == 1 else f"; of those with one {along} the one that takes most"
    )
    return curves(
        name or "Sizes that depend on symbols",
        figures,
        fields,
        lambda marks: [f"{along}={at}" for at in marks],
        sheet,
        doubling=all(row.values[along] > 0 for row in rows),
    )


def _taken(plan: ShapesPlan, used: int) -> int:
    """Return the bytes of the arena, which fixed offsets leave constant."""
    return used if plan.plan is None or plan.plan.peak is None else plan.plan.peak


def _points(given: Sequence[tuple[int, float | None]]) -> list[tuple[int, float]]:
    """Return one point for each position, the greatest."""
    most: dict[int, float] = {}
    for at, value in given:
        if value is not None:
            most[at] = max(most.get(at, 0.0), float(value))
    return sorted(most.items())
