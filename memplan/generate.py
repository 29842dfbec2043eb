"""Made-up problems of many kinds and sizes."""

from __future__ import annotations

from planner import generate as _generate
from planner.checks.arguments import exported
from planner.generate import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _generate.__all__
globals().update({name: exported(__name__, name, getattr(_generate, name)) for name in __all__})
