"""A sharing for people on a terminal: its status, and which buffers use which object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from planner.model.plan import PlanStatus
from planner.model.problem import BufferId, Problem
from planner.planning.sharing import Sharing

from ..text import both, counted, grouped, percent, visible
from .columns import LONGEST_NAME, MAX_ROWS, WRITTEN, WRITTEN_BY_OPTION, fill, more, new_table, rows_for, shown_id
from .consoles import console_on
from .plan import height_of, print_verdict, verdict

SHOWN_USERS = 12
"""The users shown for one object; there may be hundreds."""


def print_sharing(problem: Problem, sharing: Sharing, *, written_to: str | None = None) -> None:
    """Everything about the sharing, for a terminal."""
    console = console_on()
    lines = verdict(problem, sharing, _figures(sharing), explain=True)
    if sharing.objects:
        of_pools = (len(sharing.pools) > 1) * (3 + len(sharing.pools))
        rows = rows_for(console, 4 + of_pools + height_of(lines, console) + (written_to is not None))
        console.print(_objects_table(sharing, console.width, rows), crop=False)
        whole = WRITTEN_BY_OPTION if written_to is None else WRITTEN
        if rest := more(len(sharing.objects), rows, whole):
            console.print(rest)
        console.print()
        if len(sharing.pools) > 1:
            console.print(_pools_table(sharing, console.width), crop=False)
            console.print()
    print_verdict(lines, console, written_to)


def _figures(sharing: Sharing) -> Iterable[Text]:
    if sharing.total is not None:
        count = f"   in {counted(len(sharing.objects), 'object')}"
        yield Text.assemble("  total  ", Text(both(sharing.total), style="bold"), count)
    if sharing.status is not PlanStatus.INFEASIBLE:
        claim = "   no sharing can have a smaller total" if sharing.total is not None else ""
        yield Text(f"  bound  {both(sharing.bound)}{claim}")
    if sharing.gap is not None and sharing.gap > 0:
        yield Text(f"  gap    {percent(sharing.gap)}")


def _pools_table(sharing: Sharing, width: int) -> Table:
    table = new_table()
    shown = sharing.pools[:MAX_ROWS]
    rows = [
        (
            "none" if pool.total is None else grouped(pool.total),
            grouped(pool.bound),
            "unlimited" if pool.size is None else grouped(pool.size),
        )
        for pool in shown
    ]
    names = [visible(pool.name[:LONGEST_NAME]) for pool in shown]
    fill(table, [("Pool", names)], ("Total (B)", "Bound (B)", "Size (B)"), rows, width)
    return table


def _objects_table(sharing: Sharing, width: int, rows: int) -> Table:
    """One row for each object, the largest first."""
    users: dict[int, list[BufferId]] = {}
    for each in sharing.assignments:
        users.setdefault(each.object, []).append(each.id)
    ordered = sorted(sharing.objects, key=lambda thing: (-thing.size, thing.id))[:rows]
    names = [("Used by", [named_users(users.get(thing.id, [])) for thing in ordered])]
    for heading, values in (
        ("Pool", [thing.kind.pool for thing in ordered] if len(sharing.pools) > 1 else []),
        ("Device", [thing.kind.device for thing in ordered]),
        ("Type", [thing.kind.dtype for thing in ordered]),
    ):
        if any(value is not None for value in values):
            names.append((heading, [visible((value or "")[:LONGEST_NAME]) for value in values]))
    figures = [(grouped(thing.id), grouped(thing.size), grouped(len(users.get(thing.id, [])))) for thing in ordered]
    table = new_table()
    fill(table, names, ("Object", "Size (B)", "Users"), figures, width)
    return table


def named_users(ids: Sequence[BufferId]) -> str:
    """Return the first of an object's users."""
    text = ", ".join(shown_id(id_) for id_ in ids[:SHOWN_USERS])
    return f"{text}, …" if len(ids) > SHOWN_USERS else text
