"""Pictures of plans: the memory map (what lies where and when), the convergence (how plan and bound approached each other), and curves over sizes."""

from __future__ import annotations

from .comparison import compared
from .curves.convergence import convergence
from .curves.frontier import frontier_curve
from .curves.plot import Axes, Curve, curves
from .curves.shapes import shapes_curve
from .curves.sweep import sweep_curve
from .frame import STANDARD, Sheet
from .memory_map import MemoryMap, PoolMap, ceiling, memory_map
from .profile import profile
from .rendering import pdf, png, require_typst
from .style import Theme
from .svg import nested_maps, svg

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
