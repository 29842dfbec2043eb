"""The solvers' inner loops, each written twice: in C++ for speed, and in Python for machines without a compiler and as the tests' reference.

interface.py declares them; selection.py decides on first use which version runs. Both give the same answers. plain.py does both for a process without numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .interface import BadKernelInput, Kernels, TooLarge
    from .selection import Origin, Selection, active, active_for

__all__ = ["BadKernelInput", "Kernels", "Origin", "Selection", "TooLarge", "active", "active_for"]


if not TYPE_CHECKING:  # a type checker that sees it would accept any name

    def __getattr__(name: str) -> Any:
        """Names are looked up on first use: what they stand for needs numpy."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = "interface" if name in ("BadKernelInput", "Kernels", "TooLarge") else "selection"
        return getattr(import_module(f".{module}", __name__), name)
