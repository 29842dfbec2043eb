"""Every kernel again, in plain Python and numpy: slower, same answers. The fallback without a compiler, and the oracle of the tests."""

from __future__ import annotations

from typing import Any

from .sweep import apart, max_live

__all__ = ["apart", "max_live"]


def __getattr__(name: str) -> Any:
    # The search is as large as all the rest together, and most plans need none: it is imported when it is asked for.
    if name in ("TooLarge", "search"):
        from . import search as reference

        return getattr(reference, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
