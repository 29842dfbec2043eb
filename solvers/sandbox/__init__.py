"""Runs a solver in a process of its own, so that a crash, a hang, excessive memory use or a wrong answer harms nothing else.

    caller: supervise -> launcher --starts once--> fork server --forks per run--> child: the solver
               ^                                                                    |
               +------------------- messages, each checked by the referee ----------+

The fork server (`python -m solvers.sandbox.fork_server`) has already imported the heavy library: a fork takes milliseconds, an import seconds. If the
caller dies, it notices and kills every child and all that it started.
"""

from __future__ import annotations

from .supervise import run, shutdown

__all__ = ["run", "shutdown"]
