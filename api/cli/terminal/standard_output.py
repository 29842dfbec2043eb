"""The standard output, whose reader may leave early and whose disk may be full."""

from __future__ import annotations

import os
import select
import sys
from typing import BinaryIO

import typer

from ..exit_codes import ExitCode
from .text import say


def write_out(data: bytes) -> None:
    """Write all of it. A reader that left early, as `head` does, ends the command quietly; a full disk with a sentence."""
    if sys.stdout is None:
        return
    try:
        # Not through the text layer: JSON is UTF-8 whatever the locale is.
        _write_all(sys.stdout.buffer, memoryview(data))
    except BrokenPipeError:
        _forget()
        raise typer.Exit(ExitCode.READER_GONE) from None
    except OSError as error:
        _forget()
        say(f"error: cannot write to the standard output: {(error.strerror or str(error)).lower()}")
        raise typer.Exit(ExitCode.BAD_INPUT) from error


def _write_all(stream: BinaryIO, data: memoryview) -> None:
    """Write until nothing is left: without buffering (PYTHONUNBUFFERED) or blocking, a stream may take only a part at a time."""
    while data:
        try:
            written: int | None = stream.write(data)
        except BlockingIOError as error:
            written = error.characters_written
        data = data[written or 0 :]
        if data:
            select.select([], [stream], [])
    while True:
        try:
            stream.flush()
            return
        except BlockingIOError:
            select.select([], [stream], [])


def _forget() -> None:
    """Send what is still buffered nowhere, or Python would try again at exit, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
