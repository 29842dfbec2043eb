"""Interfaces to compilers within one process: tensors in, places out."""

from __future__ import annotations

from planner import compilers as _compilers
from planner.compilers import *  # noqa: F403 - what it exports is said there alone

__all__ = []
__all__ += _compilers.__all__
