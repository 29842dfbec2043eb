"""The two tables that ExecuTorch's Cadence back end prints of a plan, with its columns, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width

from ...checks.report import printable
from ...reporting.report import MemoryReport, memory_report

if TYPE_CHECKING:
    from ...model.plan import Plan
    from ...model.problem import Problem

HEADINGS = ("Memory Space", "Base Address", "Memory Size (Bytes)", "Peak Memory Usage (Bytes)")
LONGEST_NAME = 60
EMOJI = "\ufe0f"
"""Makes the sign before an emoji, which is twice as wide."""


def cadence_document(problem: Problem, plan: Plan, _source: bytes) -> bytes:
    """Return the tables as a file."""
    return cadence_tables(memory_report(problem, plan)).encode()


def cadence_tables(report: MemoryReport) -> str:
    """Return a row for each memory, and the most bytes in use over all of them, with the first step at which they are."""
    rows = [
        (
            printable(pool.name[:LONGEST_NAME]),
            "" if pool.base is None else f"{pool.base:#x}",
            "" if pool.size is None else str(pool.size),
            "" if pool.peak is None else str(pool.peak),
        )
        for pool in report.pools
    ]
    if report.live is not None:
        total, node = f"{report.live.bytes} bytes", f"Node {report.live.step}"
    elif report.peak is None or report.untimed:
        total, node = "not known", ""
    else:
        total, node = "0 bytes", "Node 0"
    widths = [max(map(_width, column)) for column in zip(HEADINGS, *rows, strict=True)]
    last = ("Peak memory usage across all spaces", total, node)
    lines = [_rule(widths), _row(HEADINGS, widths, left=4), _rule(widths, "="), *(_row(row, widths) for row in rows)]
    sizes = [_width(cell) for cell in last]
    return "\n".join([*lines, _rule(widths), _rule(sizes), _row(last, sizes, left=3), _rule(sizes), ""])


def _rule(widths: Sequence[int], of: str = "-") -> str:
    return "+" + "+".join(of * (width + 2) for width in widths) + "+"


def _row(cells: Sequence[str], widths: Sequence[int], left: int = 1) -> str:
    """Return a row: the first cells aligned left, numbers right."""
    filled = []
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - _width(cell))
        filled.append(f" {cell}{space} " if number < left else f" {space}{cell} ")
    return "|" + "|".join(filled) + "|"


def _width(text: str) -> int:
    """Return the number of terminal columns."""
    return sum(0 if _joins(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _joins(c: str) -> bool:
    """True for what is drawn onto the character before: accents, vowel signs, later parts of a Korean syllable, colours of skin."""
    return (category(c)[0] == "M" and c != EMOJI) or "\u1160" <= c <= "\u11ff" or "\U0001f3fb" <= c <= "\U0001f3ff"
