"""Pictures of plans: what lies where and when (the memory map), how best and bound came closer (the convergence), and curves over sizes."""

from __future__ import annotations

from .comparison import compared
from .convergence import convergence
from .curves import Axes, Curve, curves
from .frame import STANDARD, Sheet
from .frontier import frontier_curve
from .memory_map import MemoryMap, PoolMap, ceiling, memory_map
from .profile import profile
from .rendering import pdf, png, require_typst
from .shapes_curve import shapes_curve
from .style import Theme
from .svg import nested_maps, svg
from .sweep_curve import sweep_curve

__all__ = [
    "STANDARD",
    "Axes",
    "Curve",
    "MemoryMap",
    "PoolMap",
    "Sheet",
    "Theme",
    "ceiling",
    "compared",
    "convergence",
    "curves",
    "frontier_curve",
    "memory_map",
    "nested_maps",
    "pdf",
    "png",
    "profile",
    "require_typst",
    "shapes_curve",
    "svg",
    "sweep_curve",
]
