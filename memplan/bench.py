"""Measuring solvers, and comparing measurements."""

from __future__ import annotations

from planner import bench as _bench
from planner.bench import *  # noqa: F403 - what it exports is said there alone
from planner.checks.arguments import exported

__all__ = []
__all__ += _bench.__all__
globals().update({name: exported(__name__, name, getattr(_bench, name)) for name in __all__})
