"""The set of kernels in plain Python and numpy. Each is imported on first use, since most plans need few."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .beam import beam
    from .births import by_birth
    from .displace import displace
    from .follow import follow
    from .gluing.gluing import glued_pieces, gluing
    from .greedy import greedy, greedy_fill, greedy_order, greedy_orders, greedy_place
    from .improve import improve
    from .search import search
    from .sweep import apart, max_live

__all__ = [
    "apart",
    "beam",
    "by_birth",
    "displace",
    "follow",
    "glued_pieces",
    "gluing",
    "greedy",
    "greedy_fill",
    "greedy_order",
    "greedy_orders",
    "greedy_place",
    "improve",
    "max_live",
    "search",
]

MODULES = {
    "max_live": "sweep",
    "apart": "sweep",
    "greedy": "greedy",
    "greedy_orders": "greedy",
    "greedy_order": "greedy",
    "greedy_place": "greedy",
    "greedy_fill": "greedy",
    "improve": "improve",
    "displace": "displace",
    "follow": "follow",
    "beam": "beam",
    "by_birth": "births",
    "gluing": "gluing.gluing",
    "glued_pieces": "gluing.gluing",
    "search": "search",
}


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{MODULES[name]}", __package__), name)
