"""The inner loops, each written twice: in C++ for speed, and in Python for machines without a compiler and as the oracle of the tests.

What they do stands in interface.py; which of the two runs is decided on first use (selection.py). The answers are the same.
"""

from __future__ import annotations

from .interface import BadKernelInput, Kernels, TooLarge
from .selection import Origin, Selection, active, active_for

__all__ = ["BadKernelInput", "Kernels", "Origin", "Selection", "TooLarge", "active", "active_for"]
