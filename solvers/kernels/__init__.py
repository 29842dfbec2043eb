"""The solvers' inner loops, each written twice: in C++ for speed, and in Python for machines without a compiler and as the tests' reference.

interface.py declares them; selection.py decides on first use which version runs. Both give the same answers.
"""

from __future__ import annotations

from .interface import BadKernelInput, Kernels, TooLarge
from .selection import Origin, Selection, active, active_for

__all__ = ["BadKernelInput", "Kernels", "Origin", "Selection", "TooLarge", "active", "active_for"]
