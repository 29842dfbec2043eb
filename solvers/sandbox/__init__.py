"""Runs a solver in a process of its own, so that a crash, a hang, excessive memory use or a wrong answer harms nothing else.

    caller: supervise -> launcher --starts once--> fork server --forks per run--> child: the solver
               ^                                                                    |
               +------------------- messages, each checked by the referee ----------+

The fork server (`python -m solvers.sandbox.fork_server`) has already imported the heavy library: a fork takes milliseconds, an import seconds. If the
caller dies, it notices and kills every child and all that it started. What it imports is only what its children need: for questions no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .supervise import run, shutdown

__all__ = ["run", "shutdown"]


def __getattr__(name: str) -> object:
    """What callers use, imported when it is first asked for: the fork server imports this package, too."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.supervise"), name)
