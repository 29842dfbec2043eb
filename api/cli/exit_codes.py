"""What the command's exit code says, so that scripts need not read its output."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `memplan`; docs/cli.md lists them for users."""

    OK = 0
    FINDINGS = 1
    """Something is wrong with the plan that was verified, the installation, an answer that was measured, or became worse since."""
    BAD_INPUT = 2
    """The problem, the plan, an option or a file that was named cannot be used."""
    INFEASIBLE = 3
    """Proven: no plan fits."""
    UNKNOWN = 4
    """Neither a plan nor a proof that there is none was found within the limits."""
    INTERNAL = 70
    """A fault of memplan itself (the conventional EX_SOFTWARE)."""
    INTERRUPTED = 130
    """Ctrl-C or a termination signal; the best plan so far was written."""
    READER_GONE = 141
    """Whoever read the output closed it early, as `head` does (what a shell shows for SIGPIPE)."""
