"""Input files: read whole, and refused in one sentence if they cannot be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from planner.errors import BadInput, Code, Finding

from .output_file import reason
from .text import is_terminal, say

STANDARD_INPUT = "-"
MAX_INPUT_BYTES = 1 << 30
"""A million buffers take about a tenth of this; an endless device must not fill the memory."""


def shown_name(file: str) -> str:
    """What messages call the file."""
    return "standard input" if file == STANDARD_INPUT else file


def read_bytes(file: str) -> bytes:
    """Everything in the file, or in the standard input for `-`. Raises BadInput."""
    try:
        if file == STANDARD_INPUT:
            return _read_standard_input()
        with Path(file).open("rb") as stream:
            return _read(stream)
    except (OSError, ValueError) as error:
        raise unreadable(reason(error)) from error


def unreadable(why: str) -> BadInput:
    return BadInput(Finding(Code.UNREADABLE, "", f"cannot be read: {why}"))


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise unreadable("the standard input is closed")
    if is_terminal(sys.stdin):
        say("reading the problem from the terminal; end it with Ctrl-D on a line of its own")
    return _read(sys.stdin.buffer)


def _read(stream: BinaryIO) -> bytes:
    data = stream.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise BadInput(Finding(Code.TOO_LARGE, "", f"is larger than {MAX_INPUT_BYTES} bytes"))
    return data
