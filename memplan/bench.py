"""Measuring solvers, and comparing measurements."""

from __future__ import annotations

from planner import bench as _bench
from planner.bench import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _bench.__all__
