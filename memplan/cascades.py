"""Networks of operators with shapes, and the problems with variants made of them."""

from __future__ import annotations

from planner.checks.arguments import exported
from planner.graph import cascades as _cascades
from planner.graph.cascades import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _cascades.__all__
globals().update({name: exported(__name__, name, getattr(_cascades, name)) for name in __all__})
