"""Runs a solver in a process of its own, so that whatever it does (crash, hang, eat all memory, answer nonsense) harms nobody else.

    caller: supervise -> launcher --starts once--> zygote --forks per run--> child: the solver
               ^                                                               |
               +------------------- messages, each checked by the referee -----+

The zygote (`python -m solvers.sandbox`) has the heavy library imported already: a fork takes milliseconds, an import seconds. If the caller
dies, the zygote notices, and kills every child with all that it started.
"""

from __future__ import annotations

from .supervise import run, shutdown

__all__ = ["run", "shutdown"]
