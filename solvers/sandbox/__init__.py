"""Runs a solver in a process of its own, so that a crash, a hang, excessive memory use or a wrong answer harms nothing else.

    caller: supervise -> launcher --starts once--> zygote --forks per run--> child: the solver
               ^                                                               |
               +------------------- messages, each checked by the referee -----+

The zygote (`python -m solvers.sandbox`) has already imported the heavy library: a fork takes milliseconds, an import seconds. If the caller dies, the
zygote notices and kills every child and all that it started.
"""

from __future__ import annotations

from .supervise import run, shutdown

__all__ = ["run", "shutdown"]
