"""Pictures of plans: time across, address up, a rectangle for every buffer."""

from __future__ import annotations

from .memory_map import MemoryMap, PoolMap, memory_map
from .svg import svg

__all__ = ["MemoryMap", "PoolMap", "memory_map", "svg"]
