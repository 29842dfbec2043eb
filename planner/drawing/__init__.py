"""Pictures of plans: what lies where and when (the memory map), and how best and bound came closer (the convergence)."""

from __future__ import annotations

from .convergence import convergence
from .frame import Sheet
from .memory_map import MemoryMap, PoolMap, memory_map
from .style import Theme
from .svg import svg

__all__ = ["MemoryMap", "PoolMap", "Sheet", "Theme", "convergence", "memory_map", "svg"]
