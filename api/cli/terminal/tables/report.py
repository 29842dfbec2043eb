"""The tables of a report: every memory, what is live at the peak, and which buffers would have to shrink; or Cadence's two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from planner.formats.firmware.cadence import cadence_tables
from planner.model.plan import PlanStatus
from planner.model.problem import BufferId
from planner.reporting.report import LivePeak, MemoryReport, PoolReport

from ..text import both, grouped, percent, visible
from .columns import (
    IN_JSON,
    LONGEST_NAME,
    MAX_ROWS,
    fill,
    known_columns,
    more,
    new_table,
    rows_for,
    shortened,
    shown_id,
)
from .consoles import plain, word
from .plan import NOTHING_PROVEN, infeasible_panel

MAX_NAMED_BUFFERS = 12
LONGEST_IN_A_LIST = 40


def print_full(report: MemoryReport, console: Console, terms: Iterable[Text] = ()) -> None:
    """Everything, for people; `terms`: lines about what was minimised besides the peak."""
    name: list[str | Text] = [] if not report.problem else ["   ", plain(report.problem[:LONGEST_NAME])]
    console.print(Text.assemble(word(report.status.value), *name))
    if report.peak is not None:
        console.print(Text.assemble("  peak   ", Text(both(report.peak), style="bold")))
    console.print(f"  bound  {NOTHING_PROVEN if report.peak and not report.bound else both(report.bound)}")
    for line in terms:
        console.print(line)
    console.print()
    if report.status is PlanStatus.INFEASIBLE:
        console.print(infeasible_panel(report.shortage, explain=True))
    console.print(memories_table(report.pools, console.width), crop=False)
    print_rest(console, len(report.pools))
    quoting = any(isinstance(id_, int) for id_ in _ids(report))
    if report.live is not None:
        console.print()
        for line in live_lines(report.live, quoting=quoting):
            console.print(line)
        rows = rows_for(console, 16 + len(report.pools))
        console.print(live_table(report.live, len(report.pools), console.width, rows, quoting=quoting), crop=False)
        print_rest(console, len(report.live.buffers), rows)
    if report.untimed:
        count = f"{grouped(report.untimed)} buffer{' has' if report.untimed == 1 else 's have'}"
        console.print(f"{count} no lifetime, and so {'counts' if report.untimed == 1 else 'count'} at no step")
    causes = [pool for pool in report.pools[:MAX_ROWS] if pool.cause is not None]
    if causes:
        console.print()
    for pool in causes:
        console.print(cause_line(pool, quoting=quoting, are_above=_are_above(report, pool, console)))


def print_nested(peak: int | None, reports: Sequence[tuple[str, MemoryReport]], console: Console) -> None:
    """The arena of each function, one below the other, under what all need together."""
    if peak is not None:
        console.print(Text.assemble("all arenas  ", Text(both(peak), style="bold")))
    for function, report in reports:
        console.print()
        console.print(Text.assemble("function ", plain(function[:LONGEST_NAME])))
        print_full(report, console)


def _are_above(report: MemoryReport, pool: PoolReport, console: Console) -> bool:
    """True if the table of what is in use shows the very buffers that would have to shrink."""
    live = report.live
    if live is None or pool.cause is None or len(report.pools) > 1 or len(live.buffers) < 2:
        return False
    is_whole = len(live.buffers) <= rows_for(console, 16 + len(report.pools))
    return is_whole and pool.cause.step == live.step and {*pool.cause.buffers} == {each.id for each in live.buffers}


def _ids(report: MemoryReport) -> Iterable[BufferId]:
    """Return all shown ids; if some are numbers, strings that look like numbers are quoted."""
    for pool in report.pools:
        yield from () if pool.cause is None else pool.cause.buffers
    if report.live is not None:
        yield from (buffer.id for buffer in report.live.buffers)


def print_rest(console: Console, total: int, rows: int = MAX_ROWS) -> None:
    """Print the line below a shortened table."""
    if rest := more(total, rows, IN_JSON):
        console.print(rest)


def memories_table(pools: Sequence[PoolReport], width: int) -> Table:
    """Return one row for each memory; columns without known values are left out."""
    shown = pools[:MAX_ROWS]
    columns: list[tuple[str, list[str]]] = [
        ("Base", ["" if p.base is None else f"{p.base:#x}" for p in shown]),
        ("Size (B)", ["unlimited" if p.size is None else grouped(p.size) for p in shown]),
        ("Peak (B)", ["none" if p.peak is None else grouped(p.peak) for p in shown]),
        ("Bound (B)", [grouped(p.bound) for p in shown]),
        ("Most live (B)", ["" if p.most_live is None else grouped(p.most_live) for p in shown]),
        ("Free (B)", ["" if p.free is None else grouped(p.free) for p in shown]),
        ("Fragmented", ["" if p.fragmentation is None else percent(p.fragmentation) for p in shown]),
    ]
    return known_columns([("Memory", [visible(pool.name[:LONGEST_NAME]) for pool in shown])], columns, width)


def live_lines(live: LivePeak, *, quoting: bool) -> Iterable[Text]:
    """Return when most is in use, and which buffers would have to shrink."""
    yield Text.assemble("Most in use at once: ", Text(both(live.bytes), style="bold"), f", first at step {live.step}")
    if live.moments == 1:
        yield Text("For less, one of these would have to shrink or be needed at another time:")
        return
    text = f"So much is in use at {grouped(live.moments)} times; in each, one of those in use would have to shrink. "
    yield Text(text + f"{_throughout(live.throughout, quoting=quoting)} The first time:")


def _throughout(ids: Sequence[BufferId], *, quoting: bool) -> str:
    if not ids:
        return "None is in use at all of them."
    return f"In use at all of them: {_named(ids, quoting=quoting)}."


def live_table(live: LivePeak, pools: int, width: int, rows: int, *, quoting: bool) -> Table:
    """Return the buffers in use then, by memory and address; if too many, the largest."""
    shown = live.buffers
    if len(shown) > rows:
        shown = tuple(sorted(shown, key=lambda buffer: -buffer.size)[:rows])
    names = [("Buffer", [shown_id(buffer.id, quoting=quoting) for buffer in shown])]
    if pools > 1:
        names.append(("Memory", [visible(buffer.pool[:LONGEST_NAME]) for buffer in shown]))
    figures = [
        (
            grouped(buffer.offset),
            grouped(buffer.offset + buffer.size),
            grouped(buffer.size),
            next(_steps(start, end) for start, end in buffer.live if start <= live.step < end),
        )
        for buffer in shown
    ]
    table = new_table()
    fill(table, names, ("Offset", "End", "Size (B)", "Steps"), figures, width)
    return table


def _steps(start: int, end: int) -> str:
    """Return the first and the last step of a half-open range."""
    return str(start) if end == start + 1 else f"{start} to {end - 1}"


def cause_line(pool: PoolReport, *, quoting: bool, are_above: bool = False) -> Text:
    """Return which buffers would have to shrink for the memory's peak to fall; `are_above`: those of the table before."""
    assert pool.cause is not None
    name = visible(pool.name[:LONGEST_NAME])
    named = _named(pool.cause.buffers, quoting=quoting)
    if pool.cause.proven:
        when = "" if pool.cause.step is None else f" (all are needed at step {pool.cause.step})"
        sentence = "no plan has a smaller peak unless one of "
        sentence += "the buffers above shrinks" if are_above else f"these shrinks{when}: {named}"
    elif pool.peak == pool.bound:
        sentence = f"no plan has a smaller peak; in this plan these hold it up: {named}"
    elif not pool.bound:
        sentence = f"nothing is proven about its peak; in this plan these hold it up: {named}"
    else:
        less = both((pool.peak or 0) - pool.bound)
        sentence = f"in another plan the peak may be up to {less} smaller; in this plan these hold it up: {named}"
    return Text.assemble(Text(name, style="bold"), ": ", sentence)


def _named(ids: Sequence[BufferId], *, quoting: bool) -> str:
    text = ", ".join(shortened(shown_id(id_, quoting=quoting), LONGEST_IN_A_LIST) for id_ in ids[:MAX_NAMED_BUFFERS])
    rest = len(ids) - MAX_NAMED_BUFFERS
    return f"{text} and {grouped(rest)} more" if rest > 0 else text


def print_cadence(report: MemoryReport, console: Console) -> None:
    """Print the two tables of ExecuTorch's Cadence back end at full width: cut figures would be wrong figures."""
    console.print(Text(cadence_tables(report)), crop=False, soft_wrap=True, end="")
