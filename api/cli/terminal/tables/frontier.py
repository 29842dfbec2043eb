"""A frontier as a curve of characters: cost across, memory up."""

from __future__ import annotations

from collections.abc import Iterator

from planner.model.plan import Frontier

HEIGHT = 12
WIDEST = 72
NARROWEST = 16


def curve(frontier: Frontier, width: int) -> Iterator[str]:
    """A line of text for each row, the most memory first; nothing where two points do not make a curve."""
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
