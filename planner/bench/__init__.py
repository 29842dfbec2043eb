"""Measurements: every instance with every solver and seed, each in its own process; reports, and comparisons of two measurements."""

from __future__ import annotations

from .report.writing import write_reports
from .results.comparing import Comparison, compare
from .results.folder import Results
from .results.records import CellStatus, Record
from .running.grid import Cell, Settings, grid
from .running.instances import File, collect
from .running.runner import run

__all__ = [
    "Cell",
    "CellStatus",
    "Comparison",
    "File",
    "Record",
    "Results",
    "Settings",
    "collect",
    "compare",
    "grid",
    "run",
    "write_reports",
]
