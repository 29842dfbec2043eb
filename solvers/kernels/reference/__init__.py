"""Every kernel again, in plain Python and numpy: slower, same answers. The fallback without a compiler, and the oracle of the tests."""

from __future__ import annotations

from .sweep import max_live

__all__ = ["max_live"]
