"""The inner loops, each written twice: in C++ for speed, and in Python for machines without a compiler and as the oracle of the tests.

interface.py says what they do; selection.py decides on first use which of the two runs. The answers are the same.
"""

from __future__ import annotations

from .interface import BadKernelInput, Kernels, TooLarge
from .selection import Origin, Selection, active, active_for

__all__ = ["BadKernelInput", "Kernels", "Origin", "Selection", "TooLarge", "active", "active_for"]
