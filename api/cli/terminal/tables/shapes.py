"""A plan for all shapes, for people on a terminal: where each buffer lies, and what each shape takes."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from planner.planning.shapes import ShapesPlan

from ..text import grouped, percent, visible
from .columns import IN_JSON, LONGEST_NAME, fill, more, new_table, rows_for, shown_id
from .consoles import console_on


def print_shapes(found: ShapesPlan) -> None:
    """Everything about the plan, for a terminal."""
    console = console_on()
    rows = rows_for(console, 12 + len(found.rows) // 2)
    _print_buffers(found, rows, console)
    _print_shapes(found, rows, console)
    _print_peaks(found, console)


def _print_buffers(found: ShapesPlan, rows: int, console: Console) -> None:
    table = new_table()
    if found.plan is not None:
        placed = found.plan.placements[:rows]
        names = [("Buffer", [shown_id(p.id) for p in placed])]
        fill(
            table, names, ("Offset", "Size (B)"), [(grouped(p.offset), grouped(p.size)) for p in placed], console.width
        )
        count = len(found.plan.placements)
    else:
        shown = found.behind[:rows]
        names = [("Buffer", [shown_id(each.id) for each in shown])]
        offsets = [("" if each.exact else "at most ") + str(each.offset) for each in shown]
        names.append(("Offset", [visible(text[:LONGEST_NAME]) for text in offsets]))
        names.append(("Size", [visible(str(each.size)[:LONGEST_NAME]) for each in shown]))
        fill(table, names, (), [() for _ in shown], console.width)
        count = len(found.behind)
    console.print(table, crop=False)
    if rest := more(count, rows, IN_JSON):
        console.print(rest)


def _print_shapes(found: ShapesPlan, rows: int, console: Console) -> None:
    table = new_table()
    listed = found.rows[:rows]
    names = [("Shape", [", ".join(f"{k}={v}" for k, v in row.values.items()) for row in listed])]
    figures = [
        (
            grouped(row.used),
            "none known" if row.optimum is None else grouped(row.optimum),
            "" if not row.optimum else percent(max(row.used / row.optimum - 1, 0)),
        )
        for row in listed
    ]
    fill(table, names, ("Used (B)", "Best alone (B)", "More"), figures, console.width)
    console.print(table, crop=False)


def _print_peaks(found: ShapesPlan, console: Console) -> None:
    for pool in found.pools:
        claim = "" if pool.exact else "at most "
        console.print(
            Text.assemble(
                f"peak of {visible(pool.name[:LONGEST_NAME])}  ", claim, Text(visible(str(pool.peak)), style="bold")
            )
        )
    if found.plan is not None and found.plan.peak is not None:
        proof = "no fixed offsets take less" if found.exact else "not proven to be the least"
        console.print(Text.assemble("arena  ", Text(f"{grouped(found.plan.peak)} B", style="bold"), f"   {proof}"))
    else:
        console.print("nothing overlaps in any shape within the symbols' ranges")
