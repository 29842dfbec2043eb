"""A sweep for people on a terminal: a row for each change, a bar for the rest, and the smallest capacity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from planner.planning.sweeping import SmallestCapacity, Sweep, SweepPoint

from ..text import both, counted, grouped, visible
from .columns import IN_JSON, LONGEST_NAME, fill, more, new_table, rows_for
from .consoles import console_on, plain

BAR = 20


def print_sweep(sweep: Sweep) -> None:
    """Everything about the sweep, for a terminal."""
    console = console_on()
    shown = list(_changes(sweep.points))
    rows = rows_for(console, 8)
    table = new_table()
    pools = [*sweep.points[0].capacity]
    names = [
        (visible(f"{pool[:LONGEST_NAME]} (B)"), [grouped(p.capacity[pool]) for p, _ in shown[:rows]]) for pool in pools
    ]
    extras = [name for name in ("access_cost", "spilled_bytes") if _says_more(sweep, name)]
    headings = (sweep.names[0], "saved", *extras, "", "status")
    highest = max((p.value[0] for p in sweep.points if p.value), default=0)
    figures = [_row(point, before, extras, highest) for point, before in shown[:rows]]
    fill(table, names, headings, figures, console.width)
    console.print(table, crop=False)
    if rest := more(len(shown), rows, IN_JSON):
        console.print(rest)
    count, solved = len(sweep.points), sum(point.solved for point in sweep.points)
    console.print(f"{counted(count, 'configuration')}, {grouped(solved)} of them solved, in {sweep.seconds:.1f} s")
    if sweep.smallest is not None:
        console.print(_smallest(sweep.smallest))


def _changes(points: Sequence[SweepPoint]) -> Iterable[tuple[SweepPoint, SweepPoint | None]]:
    """Return the points other than the size before, and the first and last of each row."""
    pool = [*points[0].capacity][-1]
    before: SweepPoint | None = None
    for place, point in enumerate(points):
        if before is not None and point.capacity[pool] <= before.capacity[pool]:
            before = None
        ends = place + 1 == len(points) or points[place + 1].capacity[pool] <= point.capacity[pool]
        if before is None or ends or _figures(point) != _figures(before):
            yield point, before
        before = point


def _figures(point: SweepPoint) -> tuple[object, ...]:
    return point.status, point.value, point.access_cost, point.spilled_bytes


def _says_more(sweep: Sweep, name: str) -> bool:
    return sweep.names[0] != name and any(getattr(point, name) for point in sweep.points)


def _row(point: SweepPoint, before: SweepPoint | None, extras: Sequence[str], highest: int) -> tuple[str, ...]:
    value = None if point.value is None else point.value[0]
    saved = "" if value is None or before is None or before.value is None else grouped(before.value[0] - value)
    bar = "" if value is None or not highest else "█" * max(round(value * BAR / highest), 1)
    figures = ("" if (figure := getattr(point, name)) is None else grouped(figure) for name in extras)
    return ("" if value is None else grouped(value), saved, *figures, bar.ljust(BAR), point.status.value)


def _smallest(least: SmallestCapacity) -> Text:
    pool = plain(least.pool[:LONGEST_NAME])
    if least.capacity is None:
        return Text.assemble("nothing is known to fit, whatever the size of ", pool)
    proof = (
        "nothing fits into less" if least.is_proven else f"proven is only that nothing fits below {both(least.bound)}"
    )
    return Text.assemble("smallest ", pool, "  ", Text(both(least.capacity), style="bold"), f"   {proof}")
