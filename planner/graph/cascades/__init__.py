"""Operators with shapes: which run together in stripes, or in which tiles each runs, what memory that needs and what it costs."""

from .operators import Kind, Network, Operator, Padding, Tensor
from .problem import CascadeOptions, CascadeProblem, cascade_problem
from .stripes.cutting import Cutting
from .stripes.group import Group, Inner, Mode, Stripes
from .tile_problem import TileOptions, TileProblem, tile_problem
from .tiles import Fetched, Level, TileRates, TileWork, Tiling
from .work import Cycles, Rates, Work

__all__ = [
    "CascadeOptions",
    "CascadeProblem",
    "Cutting",
    "Cycles",
    "Fetched",
    "Group",
    "Inner",
    "Kind",
    "Level",
    "Mode",
    "Network",
    "Operator",
    "Padding",
    "Rates",
    "Stripes",
    "Tensor",
    "TileOptions",
    "TileProblem",
    "TileRates",
    "TileWork",
    "Tiling",
    "Work",
    "cascade_problem",
    "tile_problem",
]
