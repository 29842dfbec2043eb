"""The `memplan` command: its entry point, and the promise that nobody ever sees a traceback."""

from __future__ import annotations

import os
import sys
import time
from typing import NoReturn

from ..process.garbage import collect_rarely
from .exit_codes import ExitCode
from .lean_libraries import load_libraries_lean

TRACEBACK_VARIABLE = "MEMPLAN_TRACEBACK"


def main() -> NoReturn:
    """Run the command line with this process's arguments, and end the process with the fitting exit code."""
    begun = time.monotonic()
    collect_rarely()
    load_libraries_lean()
    try:
        from .invocation import invoke

        code = invoke(sys.argv[1:], begun)
    except KeyboardInterrupt:
        leave(ExitCode.INTERRUPTED)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        confess(error)
        leave(ExitCode.INTERNAL)
    leave(code)


def confess(error: Exception) -> None:
    """Say in one sentence that memplan itself is at fault."""
    from .terminal.text import say, visible

    if isinstance(error, MemoryError):
        say("error: memplan ran out of memory")
        return
    text = visible(str(error))[:200]
    say(
        f"error: a fault in memplan: {type(error).__name__}{': ' if text else ''}{text} "
        f"(set {TRACEBACK_VARIABLE}=1 to see where, and please report it)"
    )


def leave(code: int) -> NoReturn:
    """End at once, without waiting for threads or exit handlers, or for a million objects to be freed. Solver processes end with their parent."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(code)
