"""The command's exit codes, so that scripts need not read its output."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `memplan`; docs/cli.md lists them for users."""

    OK = 0
    FINDINGS = 1
    """Something is wrong with the verified plan, the installation, or a measured answer; or a measurement got worse."""
    BAD_INPUT = 2
    """The problem, the plan, an option or a file cannot be used."""
    INFEASIBLE = 3
    """Proven: no plan fits."""
    UNKNOWN = 4
    """Neither a plan nor a proof that none exists was found within the limits."""
    INTERNAL = 70
    """A fault of memplan itself (the conventional EX_SOFTWARE)."""
    INTERRUPTED = 130
    """Ctrl-C or a termination signal; the best plan so far was written."""
    READER_GONE = 141
    """The reader of the output closed it early, as `head` does (a shell shows this for SIGPIPE)."""
