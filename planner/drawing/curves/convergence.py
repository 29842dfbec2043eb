"""How the best value and the proven bound approached each other during a run: seconds to the right, the objective upwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...facts.variants import most_buffers
from ...model.deadline import in_time
from ...model.errors import BadAnswer, Code, Finding
from ...model.plan import Plan
from ...model.problem import Problem, measures_bytes
from ..demand import DRAWING
from ..frame import LEFT, STANDARD, Sheet, line, number, text
from ..ticks import address_labels, exact_bytes, grouped, number_labels, time_ticks, value_ticks

ABOVE = 78
MOST_LINES = 6
MOST_STEPS = 2000
"""More steps than this are thinned."""

Steps = Sequence[tuple[float, int]]
"""Pairs of a time in seconds and the value from then on."""


@dataclass(frozen=True, slots=True)
class Field:
    """The scales of seconds and values in the picture."""

    sheet: Sheet
    height: float
    until: float
    low: int
    high: int

    def x(self, seconds: float) -> float:
        return LEFT + min(seconds / self.until, 1) * self.sheet.inside

    def y(self, value: int) -> float:
        return ABOVE + (self.high - value) / (self.high - self.low) * self.height

    @property
    def below(self) -> float:
        return ABOVE + self.height


def convergence(problem: Problem, plan: Plan, sheet: Sheet = STANDARD) -> bytes:
    """Return the picture of a run from the plan's record. Raises BadInput if there is none."""
    best: Steps = [(point.seconds, point.value) for point in plan.run.trace if point.value is not None]
    bound: Steps = [(point.seconds, point.bound) for point in plan.run.trace if point.bound is not None]
    if not best and not bound:
        raise BadAnswer(Finding(Code.MISSING_FIELD, "/run/trace", "the plan does not record how it was found"))
    field = _field(sheet, best, bound, max(plan.run.seconds, *(at for at, _ in (*best, *bound)), 1e-3))
    best, bound = _thinned(best, field), _thinned(bound, field)
    parts = [*_grid(field, in_bytes=measures_bytes(problem))]
    if best and bound:
        parts.append(f'<path class="between" d="{_between(best, bound, field)}"><title>the gap</title></path>')
    if bound:
        parts.append(f'<path class="bound" d="{_steps(bound, field)}"><title>proven bound</title></path>')
    if best:
        parts.append(f'<path class="best" d="{_steps(best, field)}"><title>best plan so far</title></path>')
        parts += _dots(best, field)
    parts += _legend(field, best=bool(best), bound=bool(bound))
    return sheet.picture(problem.name or "Best and bound", _figures(problem, plan), parts, field.below + 56, run=True)


def _field(sheet: Sheet, best: Steps, bound: Steps, until: float) -> Field:
    """Return scales with a little space above and below the values."""
    known = [value for _, value in (*best, *bound)]
    low, high = min(known), max(known)
    air = max((high - low) // 12, high // 200, 1)
    return Field(sheet, sheet.width * 0.4, until, max(low - air, 0), high + air)


def _thinned(steps: Steps, field: Field) -> Steps:
    """Return no more of many steps than can be seen: in each pixel's width the first, the last, the lowest and the highest."""
    if len(steps) <= MOST_STEPS:
        return steps
    seen: dict[int, list[int]] = {}
    for i, (at, value) in enumerate(in_time(steps, DRAWING, "point")):
        here = seen.get(column := int(field.x(at)))
        if here is None:
            here = seen[column] = [i] * 4
        here[1] = i
        if value < steps[here[2]][1]:
            here[2] = i
        elif value > steps[here[3]][1]:
            here[3] = i
    return [steps[i] for i in sorted({each for here in seen.values() for each in here})]


def _figures(problem: Problem, plan: Plan) -> str:
    value, bound = plan.objective.value, plan.objective.bound
    shown = exact_bytes if measures_bytes(problem) else grouped
    best = "no plan" if value is None else f"best {shown(value)}"
    proven = "" if bound is None else f"  ·  bound {shown(bound)}"
    most = most_buffers(problem)
    count = f"{grouped(most)} buffer{'' if most == 1 else 's'}"
    seconds = f"{plan.run.seconds:.2g}" if plan.run.seconds < 10 else f"{plan.run.seconds:.0f}"
    return f"{plan.status.value} after {seconds} s  ·  {best}{proven}  ·  {count}"


def _grid(field: Field, *, in_bytes: bool) -> Iterator[str]:
    sheet = field.sheet
    yield f'<rect class="field" x="{LEFT}" y="{ABOVE}" width="{sheet.inside}" height="{number(field.height)}"/>'
    values = (value_ticks if in_bytes else time_ticks)(field.low, field.high, MOST_LINES)
    for value, label in zip(values, (address_labels if in_bytes else number_labels)(values), strict=True):
        at = field.y(value)
        yield line(LEFT, at, sheet.right, at, "grid")
        yield text(LEFT - 8, at + 4, label, "soft right")
    until = round(field.until * 1e6)
    for microseconds in time_ticks(0, until, max(sheet.width // 100, 2)):
        at = field.x(microseconds / 1e6)
        yield line(at, ABOVE, at, field.below, "grid")
        yield text(at, field.below + 16, f"{microseconds / 1e6:g} s" if microseconds else "0", "soft mid")


def _steps(steps: Steps, field: Field) -> str:
    """Return a line that keeps each value until the next, and continues to the end."""
    (first, value), *later = steps
    path = [f"M{number(field.x(first))} {number(field.y(value))}"]
    path += [f"H{number(field.x(at))}V{number(field.y(value))}" for at, value in later]
    return f"{''.join(path)}H{number(field.sheet.right)}"


def _between(best: Steps, bound: Steps, field: Field) -> str:
    """Return the outline of the gap: along the best value from where both are known, and back along the bound."""
    start = max(best[0][0], bound[0][0])
    return f"{_steps(_from(best, start), field)}{_back(_from(bound, start), field)}Z"


def _from(steps: Steps, start: float) -> Steps:
    before = [value for at, value in steps if at <= start]
    return [(start, before[-1]), *((at, value) for at, value in steps if at > start)]


def _back(steps: Steps, field: Field) -> str:
    path = []
    for at, value in reversed(steps):
        path.append(f"V{number(field.y(value))}H{number(field.x(at))}")
    return "".join(path)


def _dots(best: Steps, field: Field) -> Iterator[str]:
    """Return a dot for each plan better than all before."""
    known: int | None = None
    for at, value in best:
        if value != known:
            yield f'<circle class="dot" cx="{number(field.x(at))}" cy="{number(field.y(value))}" r="3"/>'
        known = value


def _legend(field: Field, *, best: bool, bound: bool) -> Iterator[str]:
    at, x = field.below + 42, float(LEFT)
    for mark, name, there in (
        ("best", "best plan so far", best),
        ("bound", "proven bound: no plan is better", bound),
        ("between", "still open", best and bound),
    ):
        if not there:
            continue
        if mark == "between":
            yield f'<rect class="between" x="{number(x)}" y="{number(at - 9)}" width="14" height="10" rx="2"/>'
        else:
            yield line(x, at - 4, x + 16, at - 4, mark)
        yield text(x + 21, at, name, "soft name")
        x += 40 + 6.2 * len(name)
