"""Networks of operators with shapes, and the problems with variants made of them."""

from __future__ import annotations

from planner.graph import cascades as _cascades
from planner.graph.cascades import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _cascades.__all__
