"""Sizes that depend on symbols, and plans for all their values."""

from __future__ import annotations

from planner.checks.arguments import exported
from planner.planning import shapes as _shapes
from planner.planning.shapes import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _shapes.__all__
globals().update({name: exported(__name__, name, getattr(_shapes, name)) for name in __all__})
