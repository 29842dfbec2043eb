"""Bytes to problems and plans, and back."""

from __future__ import annotations

from planner import formats as _formats
from planner.checks.arguments import exported
from planner.formats import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _formats.__all__
globals().update({name: exported(__name__, name, getattr(_formats, name)) for name in __all__})
