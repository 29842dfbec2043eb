"""The runs as a table for spreadsheets: one line for each instance and solver, all seeds together."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from ..results.records import CellStatus, Record
from ..results.tallies import per_instance

HEADINGS = (
    "instance", "buffers", "solver", "runs", *(str(status) for status in CellStatus), "wrong", "not_reproducible",
    "best_value", "worst_value", "bound", "mean_gap", "total_seconds", "median_seconds_to_proof", "peak_memory_bytes",
)  # fmt: skip


def summary(records: Sequence[Record]) -> str:
    """CSV with a line of headings."""
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
