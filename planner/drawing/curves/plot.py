"""Curves over sizes or lengths: fields one above the other, steps or lines, a legend below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

from ..frame import LEFT, LETTER, STANDARD, Sheet, cut, line, number, safe, text, without_overlaps
from ..style import CURVES
from ..ticks import time_ticks, value_ticks

ABOVE, HEIGHT, BETWEEN = 86, 220, 64
MOST_LINES = 5
MOST_MARKS = 8
MOST_DOTS = 200
AIR = 5
"""At least so much is free around it."""


Labels = Callable[[Sequence[int]], list[str]]
"""Returns the marks of an axis in words, exactly."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A named series of points, from left to right."""

    name: str
    points: Sequence[tuple[int, float]]
    steps: bool = False
    """True: each value holds until the next point."""
    dashed: bool = False
    dots: bool = False
    """True: each point is marked, unless there are very many."""


@dataclass(frozen=True, slots=True)
class Axes:
    """One field: its curves, and the form of its values."""

    title: str
    curves: Sequence[Curve]
    say: Labels
    marks: Sequence[tuple[int, str]] = ()
    """Labelled positions on the lower axis."""
    doubling: bool = False
    """True: equal steps upwards are doublings."""
    in_bytes: bool = False
    """True: round values are powers of two instead of ten."""
    along: str = ""
    """What the lower axis shows."""


@dataclass(frozen=True, slots=True)
class _Field:
    axes: Axes
    sheet: Sheet
    above: float
    span: tuple[int, int]
    values: tuple[float, float]
    doubling: bool
    in_bytes: bool

    def x(self, at: int) -> float:
        first, last = self.span
        if self.doubling:
            share = log2(max(at, 1) / max(first, 1)) / (log2(max(last, 1) / max(first, 1)) or 1)
        else:
            share = (at - first) / ((last - first) or 1)
        return LEFT + share * self.sheet.inside

    def y(self, value: float) -> float:
        low, high = self.values
        if self.axes.doubling:
            low, high, value = log2(low), log2(high), log2(max(value, low))
        return self.above + (high - value) / (high - low) * HEIGHT

    @property
    def below(self) -> float:
        return self.above + HEIGHT


def curves(
    title: str,
    figures: str,
    fields: Sequence[Axes],
    say: Labels,
    sheet: Sheet = STANDARD,
    *,
    doubling: bool = False,
    in_bytes: bool = False,
) -> bytes:
    """Return the picture. `say` formats the lower axis; with `doubling` equal steps on it are doublings, with `in_bytes` it is in bytes."""
    known = [at for axes in fields for curve in axes.curves for at, _ in curve.points]
    known += [at for axes in fields for at, _ in axes.marks]
    span = (min(known, default=0), max(known, default=1))
    parts: list[str] = []
    above = float(ABOVE)
    for axes in fields:
        field = _Field(axes, sheet, above, span, _values(axes), doubling, in_bytes)
        parts += _drawn(field, say)
        above = field.below + BETWEEN + 20 * (len(axes.curves) > 1)
    return sheet.picture(title, figures, parts, max(above - 16, ABOVE + 40), curves=True)


def _values(axes: Axes) -> tuple[float, float]:
    """Return the range from the least to the greatest, with a little space."""
    known = [value for curve in axes.curves for _, value in curve.points] or [0.0, 1.0]
    low, high = min(known), max(known)
    if axes.doubling:
        low, high = max(low, 1e-9), max(high, 1e-9)
        return low / 1.1, high * 1.1
    air = max((high - low) / 12, abs(high) / 200, 1e-9)
    return max(low - air, 0.0), high + air


def _ticks(axes: Axes, low: float, high: float) -> Sequence[int]:
    """Return round values in the range."""
    if axes.doubling:
        base = 2 if axes.in_bytes else 10
        powers = [base**k for k in range(64) if low <= base**k <= high]
        return powers[:: -(-len(powers) // MOST_LINES) or 1]
    return (value_ticks if axes.in_bytes else time_ticks)(ceil(low), floor(high), MOST_LINES)


def _drawn(field: _Field, say: Labels) -> Iterator[str]:
    axes, sheet = field.axes, field.sheet
    yield text(LEFT, field.above - 10, axes.title, "ink pool")
    yield f'<rect class="field" x="{LEFT}" y="{number(field.above)}" width="{sheet.inside}" height="{HEIGHT}"/>'
    low, high = field.values
    values, marks = _ticks(axes, low, high), _marks(field)
    for value, label in zip(values, axes.say(values), strict=True):
        yield line(LEFT, field.y(value), sheet.right, field.y(value), "grid")
        yield text(LEFT - 8, field.y(value) + 4, label, "soft right")
    below = [(min(field.x(at), sheet.width - 4 * len(said)), said) for at, said in zip(marks, say(marks), strict=True)]
    for each in marks:
        yield line(field.x(each), field.above, field.x(each), field.below, "grid")
    for middle, label in without_overlaps(below):
        yield text(middle, field.below + 16, label, "soft mid")
    for at, label in axes.marks:
        yield line(field.x(at), field.above, field.x(at), field.below, "end")
        x, width = field.x(at) + 5, LETTER * len(label)
        if x + width > sheet.right:
            x = max(field.x(at) - 5 - width, LEFT + 5.0)
        yield text(x, _free_line(field, x, x + width), label, "ink name over")
    for place, curve in enumerate(axes.curves):
        kind = f"c{place % CURVES}{' dashed' if curve.dashed else ''}"
        if curve.points:
            yield f'<path class="curve {kind}" d="{_path(field, curve)}"><title>{safe(curve.name)}</title></path>'
        if len(curve.points) == 1 or (curve.dots and len(curve.points) <= MOST_DOTS):
            for at, height in curve.points:
                said = f"{say([at])[0]}: {axes.say([int(height)])[0]}"
                at_x, at_y = number(field.x(at)), number(field.y(height))
                yield f'<circle class="curve {kind}" cx="{at_x}" cy="{at_y}" r="3"><title>{safe(said)}</title></circle>'
    if len(axes.curves) > 1:
        yield from _legend(field)
    if axes.along:
        yield text(sheet.right, field.below + 38, cut(axes.along, sheet.inside / 2), "soft right")


def _free_line(field: _Field, left: float, right: float) -> float:
    """Return where to write from left to right so that no curve crosses the words: as high as possible; at the top if there is no such place."""
    crossed = [each for curve in field.axes.curves for each in _heights(field, curve, left - AIR, right + AIR)]
    lines = [field.above + 14 + k for k in range(0, HEIGHT - 20, 6)]
    free = (y for y in lines if all(low > y + AIR or high < y - 10 - AIR for low, high in crossed))
    return next(free, lines[0])


def _heights(field: _Field, curve: Curve, left: float, right: float) -> Iterator[tuple[float, float]]:
    """Yield the ranges of heights through which the curve goes between left and right."""
    spots = [(field.x(at), field.y(value)) for at, value in curve.points]
    for (x, y), (end, after) in zip(spots, [*spots[1:], spots[-1]], strict=True):
        if x <= right and end >= left:
            goes_on = not curve.steps or left <= end <= right
            yield (min(y, after), max(y, after)) if goes_on else (y, y)


def _marks(field: _Field) -> list[int]:
    first, last = field.span
    if field.doubling:
        powers = [1 << k for k in range(63) if first <= 1 << k <= last]
        return powers[:: -(-len(powers) // (2 * MOST_MARKS)) or 1]
    return (value_ticks if field.in_bytes else time_ticks)(first, last, MOST_MARKS)


def _path(field: _Field, curve: Curve) -> str:
    (first, value), *later = curve.points
    path = [f"M{number(field.x(first))} {number(field.y(value))}"]
    for at, value in later:
        x, y = number(field.x(at)), number(field.y(value))
        path.append(f"H{x}V{y}" if curve.steps else f"L{x} {y}")
    return "".join(path)


def _legend(field: _Field) -> Iterator[str]:
    at, x = field.below + 38, float(LEFT)
    for place, curve in enumerate(field.axes.curves):
        name = cut(curve.name, 420)
        yield line(x, at - 4, x + 18, at - 4, f"curve c{place % CURVES}{' dashed' if curve.dashed else ''}")
        yield text(x + 24, at, name, "soft name")
        x += 46 + 6.4 * len(name)
