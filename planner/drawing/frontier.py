"""The frontier of memory and cost as a curve: cost across, memory up, a dot for each point, and what is proven below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import BadInput, Code, Finding
from ..plan import Frontier
from ..problem import Problem, measures_bytes
from .frame import LEFT, STANDARD, Sheet, line, number, text
from .ticks import grouped, short_bytes, time_ticks, value_ticks

ABOVE = 78
MOST_LINES = 6


class Spot(NamedTuple):
    """A point, and what it cannot be below."""

    cost: int
    memory: int
    bound: int


class Field(NamedTuple):
    """Where costs and memory are on the picture."""

    sheet: Sheet
    height: float
    cheapest: int
    dearest: int
    low: int
    high: int

    def x(self, cost: int) -> float:
        return LEFT + (cost - self.cheapest) / (self.dearest - self.cheapest) * self.sheet.inside

    def y(self, memory: int) -> float:
        return ABOVE + (self.high - memory) / (self.high - self.low) * self.height

    @property
    def below(self) -> float:
        return ABOVE + self.height


def frontier_curve(problem: Problem, frontier: Frontier, sheet: Sheet = STANDARD) -> bytes:
    """The picture. Raises BadInput where there is no point."""
    spots = [
        Spot(plan.choice.cost, plan.objective.value, plan.objective.bound or 0)
        for plan in frontier.points
        if plan.choice is not None and plan.objective.value is not None
    ]
    if not spots:
        raise BadInput(Finding(Code.MISSING_FIELD, "/points", "the frontier has no points"))
    field = _field(sheet, spots)
    in_bytes = measures_bytes(problem)
    parts = [*_grid(field, in_bytes=in_bytes)]
    parts.append(f'<path class="bound" d="{_steps([(s.cost, s.bound) for s in spots], field)}"/>')
    parts.append(f'<path class="best" d="{_steps([(s.cost, s.memory) for s in spots], field)}"/>')
    for spot in spots:
        said = f"cost {grouped(spot.cost)}, {short_bytes(spot.memory) if in_bytes else grouped(spot.memory)}"
        at = f'cx="{number(field.x(spot.cost))}" cy="{number(field.y(spot.memory))}"'
        parts.append(f'<circle class="dot" {at} r="3.5"><title>{said}</title></circle>')
    parts.append(
        text(LEFT, field.below + 42, "solid: plans; dashed: proven, no plan of that cost needs less", "soft name")
    )
    whole = "all of it" if frontier.is_complete else "a part of it"
    figures = f"{len(spots)} point{'' if len(spots) == 1 else 's'} of the frontier of memory and cost, {whole}"
    return sheet.picture(problem.name or "Memory and cost", figures, parts, field.below + 56, run=True)


def _field(sheet: Sheet, spots: Sequence[Spot]) -> Field:
    """With a little air about what there is to see."""
    low, high = min(spot.bound for spot in spots), max(spot.memory for spot in spots)
    cheapest, dearest = min(spot.cost for spot in spots), max(spot.cost for spot in spots)
    air, side = max((high - low) // 12, high // 200, 1), max((dearest - cheapest) // 20, 1)
    return Field(sheet, sheet.width * 0.4, cheapest - side, dearest + side, max(low - air, 0), high + air)


def _grid(field: Field, *, in_bytes: bool) -> Iterator[str]:
    sheet = field.sheet
    yield f'<rect class="field" x="{LEFT}" y="{ABOVE}" width="{sheet.inside}" height="{number(field.height)}"/>'
    for memory in (value_ticks if in_bytes else time_ticks)(field.low, field.high, MOST_LINES):
        at = field.y(memory)
        yield line(LEFT, at, sheet.right, at, "grid")
        yield text(LEFT - 8, at + 4, short_bytes(memory) if in_bytes else f"{memory:.6g}", "soft right")
    for cost in time_ticks(field.cheapest, field.dearest, max(sheet.width // 140, 2)):
        at = field.x(cost)
        yield line(at, ABOVE, at, field.below, "grid")
        yield text(at, field.below + 16, grouped(cost) if abs(cost) < 10**9 else f"{cost:.6g}", "soft mid")


def _steps(points: Sequence[tuple[int, int]], field: Field) -> str:
    """A line that stays at a value until the next cost."""
    (first, value), *later = points
    path = [f"M{number(field.x(first))} {number(field.y(value))}"]
    path += [f"H{number(field.x(cost))}V{number(field.y(value))}" for cost, value in later]
    return f"{''.join(path)}H{number(field.sheet.right)}"
