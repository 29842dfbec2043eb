"""Measuring: every instance with every solver and seed, each in a process of its own; then reports, and comparisons of two measurements."""

from __future__ import annotations

from .comparing import Comparison, compare
from .grid import Cell, Settings, grid
from .instances import File, collect
from .records import CellStatus, Record, Results
from .runner import run
from .writing import write_reports

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
