"""The tables of a file's contents: its operators, its tensors, and the report of their need."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.text import Text

from planner.facts.variants import count_of_alternatives
from planner.formats.contents import Contents
from planner.model.plan import Choice
from planner.model.problem import Problem
from planner.reporting.own_places import own_peaks
from planner.reporting.report import MemoryReport

from ..text import both, counted, grouped, percent, visible
from .columns import LONGEST_NAME, fill, new_table
from .consoles import plain
from .plan import chosen
from .report import print_full, print_rest

MOST_KINDS = 12


def _above(peak: int, bound: int) -> str:
    return f"{both(peak)}{f', {percent(peak / bound - 1)} above the bound' if bound else ''}"


def print_inspection(
    title: str,
    problem: Problem,
    contents: Contents | None,
    report: MemoryReport,
    choice: Choice | None,
    console: Console,
) -> None:
    """Everything, for people."""
    name: list[str | Text] = ["   ", plain(problem.name[:LONGEST_NAME])] if problem.name else []
    console.print(Text.assemble(Text(title, style="bold"), *name), soft_wrap=True)
    console.print()
    rows = [("buffers", len(problem.buffers), sum(buffer.size for buffer in problem.buffers))]
    kinds = Counter(buffer.kind for buffer in problem.buffers)
    sizes = Counter[str | None]()
    for buffer in problem.buffers:
        sizes[buffer.kind] += buffer.size
    if set(kinds) - {None}:
        rows += [(f"  {kind or 'other'}", count, sizes[kind]) for kind, count in kinds.most_common(MOST_KINDS)]
    if contents is not None:
        rows.append(("constants, not planned", contents.constants, contents.constant_bytes))
    table = new_table()
    names = [("Tensors", [visible(row[0][:LONGEST_NAME]) for row in rows])]
    figures = [(grouped(count), grouped(size)) for _, count, size in rows]
    fill(table, names, ("Count", "Bytes"), figures, console.width)
    console.print(table, crop=False)
    console.print()
    if contents is not None and contents.operators:
        shown = list(contents.operators.items())[:MOST_KINDS]
        table = new_table()
        names = [("Operators", [visible(kind[:LONGEST_NAME]) for kind, _ in shown])]
        fill(table, names, ("Count",), [(grouped(count),) for _, count in shown], console.width)
        console.print(table, crop=False)
        print_rest(console, len(contents.operators), MOST_KINDS)
        console.print(f"{grouped(sum(contents.operators.values()))} operators")
        console.print()
    if problem.variants is not None:
        ways = counted(count_of_alternatives(problem.variants), "alternative")
        groups = counted(len(problem.variants.groups), "group")
        console.print(f"Besides, there are {ways} in {groups}, one of each to be chosen.")
        if choice is not None:
            console.print(
                Text.assemble(
                    "What follows is of this choice, at a cost of ", grouped(choice.cost), ": ", plain(chosen(choice))
                )
            )
        console.print()
    own = own_peaks(problem)
    if own is not None:
        console.print(f"The places in the file take {_above(sum(own.values()), report.bound)}.")
        for pool in report.pools if len(own) > 1 else ():
            console.print(f"  {visible(pool.name[:LONGEST_NAME])}: {_above(own[pool.name], pool.bound)}")
    if report.live is not None:
        console.print(f"In the file's order, {both(report.live.bytes)} are in use at once; planned:")
    print_full(report, console)
