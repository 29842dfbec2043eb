"""Made-up problems of many kinds and sizes."""

from __future__ import annotations

from planner import generate as _generate
from planner.generate import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _generate.__all__
