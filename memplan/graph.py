"""Tensor graphs as data, and the problems made of them."""

from __future__ import annotations

from planner import graph as _graph
from planner.checks.arguments import exported
from planner.graph import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _graph.__all__
globals().update({name: exported(__name__, name, getattr(_graph, name)) for name in __all__})
