"""The reports of a folder of results: summary.csv, report.md and report.html."""

from __future__ import annotations

from pathlib import Path

from ..results.records import Results
from .html import html
from .markdown import markdown
from .summary import summary


def write_reports(results: Results) -> tuple[Path, ...]:
    """Write them anew, and say where. Raises OSError."""
    made = []
    for name, make in (("summary.csv", summary), ("report.md", markdown), ("report.html", html)):
        path = results.folder / name
        temporary = path.with_name(f".{name}.tmp")
        temporary.write_text(make(results.records), encoding="utf-8", newline="\n")
        temporary.replace(path)
        made.append(path)
    return tuple(made)
