"""Runs a command as if on a terminal, so that it prints what it prints to people even where its output goes to a file or a pipe."""

from __future__ import annotations

import os
import pty
import sys


def plain(descriptor: int) -> bytes:
    """What the command wrote next, with the line ends of a file; nothing at the end of its output."""
    while data := os.read(descriptor, 1 << 16):
        if text := data.replace(b"\r", b""):
            return text
    return b""


def main() -> None:
    """Run the command that the arguments are."""
    os.environ |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
    sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], plain)))


if __name__ == "__main__":
    main()
