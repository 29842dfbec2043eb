"""Rows as CSV, of which every reader makes the same rows again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

END = "\r\n"
"""While rows are written: Python before 3.13 quotes only the characters of this, and some readers end a row at a lone carriage return."""


class _Lines(io.StringIO):
    """Rows that end with a newline alone."""

    def write(self, row: str) -> int:
        return super().write(row.removesuffix(END) + "\n")


def table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return the names of the columns and the rows, of which those columns are written."""
    text = _Lines(newline="")
    writer = csv.DictWriter(text, columns, lineterminator=END, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
