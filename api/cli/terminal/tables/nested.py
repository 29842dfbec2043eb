"""The arenas of a program's functions as people read them on a terminal."""

from __future__ import annotations

from rich.console import Console

from planner.graph import NestedPlan

from ..sizes import both, grouped
from .consoles import console_on, plain
from .placements import new_table


def print_nested(made: NestedPlan, console: Console | None = None) -> None:
    """A row for each arena, innermost first, and what it takes to run any entry."""
    console = console or console_on()
    table = new_table()
    for name in ("function", "buffers", "bytes", "status"):
        table.add_column(name, justify="right" if name in ("buffers", "bytes") else "left")
    for arena in made.arenas:
        peak = "none" if arena.plan.peak is None else grouped(arena.plan.peak)
        buffers = grouped(len(arena.problem.buffers))
        table.add_row(plain(arena.function), buffers, peak, arena.plan.status.value)
    console.print(table, crop=False)
    console.print()
    if made.peak is not None:
        console.print(plain(f"  peak   {both(made.peak)}   each function in an arena within its caller's"))
