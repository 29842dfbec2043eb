"""Bytes to problems and plans, and back."""

from __future__ import annotations

from planner import formats as _formats
from planner.formats import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _formats.__all__
