"""The tables of a sharing's report: the objects of each kind of storage, their users, and the unused share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.model.plan import PlanStatus
from planner.planning.sharing.report import KindReport, ObjectReport, SharingReport

from ..text import both, counted, grouped, percent, visible
from .columns import LONGEST_NAME, MAX_ROWS, known_columns
from .consoles import plain, word
from .plan import infeasible_panel
from .report import print_rest
from .sharing import named_users


def print_sharing_report(report: SharingReport, console: Console) -> None:
    """Everything, for people."""
    facts = [report.problem[:LONGEST_NAME]] if report.problem else []
    if report.total is not None:
        facts.append(f"total {both(report.total)}")
    facts.append(f"bound {both(report.bound)}")
    if report.unused is not None:
        facts.append(f"{percent(report.unused)} unused on average")
    headline = Text.assemble(word(report.status.value), *(t for fact in facts for t in ("   ", plain(fact))))
    console.print(headline)
    if report.status is PlanStatus.INFEASIBLE:
        console.print(infeasible_panel(report.shortage, explain=True))
    for each in report.kinds[:MAX_ROWS]:
        console.print()
        console.print(_summary(each))
        if each.objects:
            console.print(_objects(each.objects, console.width), crop=False)
            print_rest(console, len(each.objects))
    print_rest(console, len(report.kinds))
    if report.untimed:
        count = f"{grouped(report.untimed)} buffer{' has' if report.untimed == 1 else 's have'}"
        console.print()
        console.print(f"{count} no lifetime; what is unused of their objects is not known")


def _summary(each: KindReport) -> Text:
    """One kind on a line."""
    names = (("pool", each.kind.pool), ("device", each.kind.device), ("type", each.kind.dtype))
    key = ", ".join(f"{what} {visible(name[:LONGEST_NAME])}" for what, name in names if name is not None)
    facts = [counted(each.buffers, "buffer")]
    if each.total is not None:
        count = len(each.objects)
        facts.append(f"{counted(count, 'object')} of {both(each.total)} together")
    facts.append(f"bound {both(each.bound)}")
    if each.unused is not None:
        facts.append(f"{percent(each.unused)} unused")
    return Text.assemble(Text(key, style="bold"), ": ", ", ".join(facts))


def _objects(objects: Sequence[ObjectReport], width: int) -> Table:
    """Return one row for each, the largest first; columns without known values are left out."""
    shown = objects[:MAX_ROWS]
    columns: list[tuple[str, list[str]]] = [
        ("Object", [grouped(thing.id) for thing in shown]),
        ("Size (B)", [grouped(thing.size) for thing in shown]),
        ("Users", [grouped(len(thing.users)) for thing in shown]),
        ("Idle", ["" if thing.idle is None else percent(thing.idle) for thing in shown]),
        ("Unused", ["" if thing.unused is None else percent(thing.unused) for thing in shown]),
    ]
    return known_columns([("Used by", [named_users(thing.users) for thing in shown])], columns, width)
