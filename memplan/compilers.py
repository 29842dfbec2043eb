"""Interfaces to compilers within one process: tensors in, places out."""

from __future__ import annotations

from planner import compilers as _compilers
from planner.checks.arguments import exported
from planner.compilers import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _compilers.__all__
globals().update({name: exported(__name__, name, getattr(_compilers, name)) for name in __all__})
