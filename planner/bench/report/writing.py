"""The reports of a folder of results: summary.csv, report.md and report.html."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..results.folder import Results
from ..results.records import CellStatus, Record
from ..results.tallies import per_instance
from ..running.instances import File
from .html import html
from .maps import Maps
from .markdown import markdown

HEADINGS = (
    "instance", "buffers", "solver", "runs", *(str(status) for status in CellStatus), "wrong", "not_reproducible",
    "best_value", "worst_value", "bound", "mean_gap", "total_seconds", "median_seconds_to_proof", "peak_memory_bytes",
)  # fmt: skip


def write_reports(results: Results, files: Sequence[File] = ()) -> tuple[Path, ...]:
    """Write the reports, with maps of plans of those files; return their places. Raises OSError."""
    made = []
    page = partial(html, maps=Maps(results.plans, files))
    for name, make in (("summary.csv", summary), ("report.md", markdown), ("report.html", page)):
        path = results.folder / name
        temporary = path.with_name(f".{name}.tmp")
        temporary.write_text(make(results.records), encoding="utf-8", newline="\n")
        temporary.replace(path)
        made.append(path)
    return tuple(made)


def summary(records: Sequence[Record]) -> str:
    """Return the runs as CSV for spreadsheets: one line for each instance and solver, with all seeds."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for row in per_instance(records):
        tally = row.tally
        writer.writerow(
            (
                row.instance, row.buffers, tally.solver, tally.runs, *(tally.statuses[status] for status in CellStatus),
                tally.wrong, tally.not_reproducible, row.best[0] if row.best else None,
                row.worst[0] if row.worst else None, row.bound, tally.mean_gap, tally.seconds,
                tally.median_seconds_to_proof, tally.peak_memory_bytes,
            )
        )  # fmt: skip
    return text.getvalue()
