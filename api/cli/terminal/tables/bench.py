"""Measurements and comparisons as tables on the terminal, or as fields of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from planner.bench import CellStatus, Comparison
from planner.bench.report.figures import megabytes, percent, seconds
from planner.bench.results.intervals import Ratio
from planner.bench.results.tallies import Tally

from ..text import visible
from .columns import MAX_ROWS, fill, more, new_table
from .consoles import console_on, plain

HEADINGS = ("Runs", "Proven", "Open", "Other", "Mean gap", "Time", "To proof", "Memory")
"""Open: a plan without a proof. Other: no plan, refused, crashed or killed."""


def tally_fields(line: Tally) -> dict[str, Any]:
    return {**asdict(line), "statuses": {str(status): count for status, count in line.statuses.items()}}


def print_tallies(tallies: Sequence[Tally], wrong: Sequence[str], folder: str) -> None:
    """A line for each solver."""
    console, table = console_on(), new_table()
    fill(
        table,
        [("Solver", [visible(line.solver) for line in tallies])],
        HEADINGS,
        list(map(figures, tallies)),
        console.width,
    )
    console.print(table)
    for text in wrong:
        console.print(plain(f"wrong: {text}", "bold red"))
    console.print(plain(f"reports in {folder}: report.html, report.md, summary.csv, results.jsonl"))


def figures(line: Tally) -> tuple[str, ...]:
    """Return a solver's row."""
    proven = sum(count for status, count in line.statuses.items() if status.is_proven)
    unproven = line.statuses[CellStatus.FEASIBLE]
    counts = (line.runs, proven, unproven, line.runs - proven - unproven)
    return (
        *map(str, counts),
        percent(line.mean_gap),
        seconds(line.seconds),
        seconds(line.median_seconds_to_proof),
        megabytes(line.peak_memory_bytes),
    )


def comparison_fields(found: Comparison) -> dict[str, Any]:
    return {
        "paired": found.paired,
        "only_before": found.only_before,
        "only_after": found.only_after,
        "changes": [asdict(change) for change in found.changes],
        "times": {solver: asdict(ratio) for solver, ratio in found.times.items()},
        "threshold": found.threshold,
        "slower": found.slower,
        "regression": found.is_regression,
    }


def print_comparison(found: Comparison) -> None:
    """Print what changed, worst first, and the times."""
    console = console_on()
    console.print(plain(f"{found.paired} runs paired; {found.only_before} only before, {found.only_after} only after"))
    if found.changes:
        table = new_table()
        for heading in ("", "Instance", "Solver", "Seed", "What"):
            table.add_column(heading)
        for change in sorted(found.changes, key=lambda c: not c.is_worse)[:MAX_ROWS]:
            sign = ("worse" if change.is_worse else "better") + ("" if change.is_certain else " (perhaps)")
            table.add_row(*map(plain, (sign, change.instance, change.solver, change.seed, change.text)))
        console.print(table)
        if cut := more(len(found.changes), whole="--json prints all"):
            console.print(plain(cut))
    for solver, ratio in found.times.items():
        console.print(plain(f"{solver}: {interval(ratio)}"))
    console.print(plain("worse than before" if found.is_regression else "not worse than before", "bold"))


def interval(ratio: Ratio) -> str:
    """`0.93 times the time (0.90 to 0.97 with 95 % confidence, 30 runs)`"""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.mean:.3g} times the time ({ratio.count} runs are too few to be sure)"
    return f"{ratio.mean:.3g} times the time ({ratio.low:.3g} to {ratio.high:.3g} with 95 % confidence, {ratio.count} runs)"
