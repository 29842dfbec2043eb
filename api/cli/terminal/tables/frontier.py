"""A frontier for people on a terminal: a curve, a line for each point, and whether these are all."""

from __future__ import annotations

from collections.abc import Iterator

from planner.model.plan import Frontier, Plan
from solvers.model.errors import StopReason

from ..text import exact, grouped

HEIGHT = 12
WIDEST = 72
NARROWEST = 16


def print_frontier(found: Frontier, *, in_bytes: bool) -> None:
    """Print everything about the frontier, for a terminal."""
    from .consoles import console_on  # imported here: points are also described without drawing

    console = console_on()
    for line in curve(found, console.width):
        console.print(line)
    for plan in found.points:
        console.print(f"  {plan.status.value:<8} {point_text(plan, in_bytes=in_bytes)}")
    count = len(found.points)
    whole = "all of the frontier, proven"
    if not found.is_complete:
        why = "no more were asked for" if found.stop is StopReason.PROVED else found.stop.value.replace("_", " ")
        known = (
            "" if found.within is None else f": any plan is matched by one of these but for {found.within:.2%}, proven"
        )
        whole = f"not proven to be all ({why}){known}"
    console.print(f"{count} point{'' if count == 1 else 's'}   {whole}   {found.run.seconds:.2f} s")


def point_text(plan: Plan, *, in_bytes: bool) -> str:
    """Return a point's cost and memory."""
    assert plan.choice is not None
    value = plan.objective.value or 0
    return f"cost {grouped(plan.choice.cost):>12}   memory {exact(value) if in_bytes else grouped(value):>14}"


def curve(frontier: Frontier, width: int) -> Iterator[str]:
    """Return a curve of characters, cost across and memory up: a line of text for each row, the most memory first; empty for fewer than two points."""
    spots = [
        (p.choice.cost, p.objective.value)
        for p in frontier.points
        if p.choice is not None and p.objective.value is not None
    ]
    if len(spots) < 2:
        return
    columns = max(min(width - 4, WIDEST), NARROWEST)
    costs, values = [cost for cost, _ in spots], [value for _, value in spots]
    rows = [[" "] * columns for _ in range(HEIGHT)]
    for cost, value in spots:
        x = (cost - min(costs)) * (columns - 1) // max(max(costs) - min(costs), 1)
        y = (max(values) - value) * (HEIGHT - 1) // max(max(values) - min(values), 1)
        rows[y][x] = "●"
    for row in rows:
        yield "  │" + "".join(row).rstrip()
    yield "  └" + "─" * columns
