"""One problem with many memories: what fits, what the next step of memory buys, and the smallest capacity that is enough."""

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
