"""One problem with many sizes of memory: what fits, what more memory buys, and the smallest sufficient capacity."""

from __future__ import annotations

from .answer import SmallestCapacity, Sweep, SweepPoint
from .configurations import capacity_range, parse_ranges
from .sweep import sweep, swept_problem
from .verify import verify_sweep

__all__ = [
    "SmallestCapacity",
    "Sweep",
    "SweepPoint",
    "capacity_range",
    "parse_ranges",
    "sweep",
    "swept_problem",
    "verify_sweep",
]
