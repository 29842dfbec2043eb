"""The `memplan` command: its entry point, which turns every error into a message instead of a traceback."""

from __future__ import annotations

import os
import sys
import time
from types import ModuleType

TYPE_CHECKING = False
"""That of typing, whose import takes as long as the rest of this module: until `main` begins, an interrupt shows a traceback."""
if TYPE_CHECKING:
    from typing import NoReturn

TRACEBACK_VARIABLE = "MEMPLAN_TRACEBACK"
LOADER = "pydantic.plugin._loader"


def main() -> NoReturn:
    """Run the command line with this process's arguments, and end the process with the fitting exit code."""
    try:
        code = _run(time.monotonic())
    except KeyboardInterrupt:
        from .exit_codes import ExitCode

        leave(ExitCode.INTERRUPTED)
    except Exception as error:
        from solvers.model.errors import is_for_want_of_memory

        from .exit_codes import ExitCode
        from .terminal.text import say

        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        if is_for_want_of_memory(error):
            say("error: memplan ran out of memory; allow more, or plan less at a time")
            leave(ExitCode.UNKNOWN)
        confess(error)
        leave(ExitCode.INTERNAL)
    leave(code)


def _run(begun: float) -> int:
    from ..process.garbage import collect_rarely

    collect_rarely()
    load_libraries_lean()
    from .invocation import invoke

    return invoke(sys.argv[1:], begun)


def load_libraries_lean() -> None:
    """Keep numpy and pydantic from preparing what no command needs, which takes longer than a small plan. Call it before they are imported."""
    # Nothing here multiplies matrices: numpy's threads for that would only spin for a tenth of a second after its import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Installed plugins of pydantic do not belong in a command. With its own variable set, pydantic still imports what it would
    # find them with: e-mail, sockets and archives. If another version calls the loader differently, the variable still works.
    if "PYDANTIC_DISABLE_PLUGINS" not in os.environ:
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        loader = ModuleType(LOADER)
        vars(loader)["get_plugins"] = tuple  # which there are: none
        sys.modules.setdefault(LOADER, loader)


def confess(error: Exception) -> None:
    """Report in one sentence that memplan itself is at fault."""
    from .terminal.text import say, visible

    text = visible(str(error))[:200]
    say(
        f"error: a fault in memplan: {type(error).__name__}{': ' if text else ''}{text} "
        f"(set {TRACEBACK_VARIABLE}=1 to see where, and please report it)"
    )


def leave(code: int) -> NoReturn:
    """End at once, without waiting for threads, exit handlers, or a million objects to be freed. Solver processes end with their parent."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit(code)
