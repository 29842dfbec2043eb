"""Tensor graphs as data, and the problems made of them."""

from __future__ import annotations

from planner import graph as _graph
from planner.graph import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _graph.__all__
