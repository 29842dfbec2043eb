"""A file of lines that only grows and survives its writer: a truncated last line does not count."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import IO

from ..model.errors import BadInput, Code, Finding

SYNC_SECONDS = 1.0
"""A power cut loses at most the lines of this period; a killed process loses none."""


class LinesFile:
    """Existing lines, and appended ones. Only one process at a time may write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: IO[bytes] | None = None
        self._synced = time.monotonic()

    def read(self) -> list[str]:
        """Return the complete lines. Raises BadInput."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self.refused((error.strerror or str(error)).lower()) from error
        return _lines_in(data)

    def open(self) -> list[str]:
        """Open for writing; return the complete lines, which nobody else changes from now on. Raises BadInput if another run writes, OSError if it cannot be written."""
        self._stream = self.path.open("ab")
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._stream.close()
            self._stream = None
            raise self.refused("another run is writing it") from None
        data = self.path.read_bytes()
        self._stream.truncate(data.rfind(b"\n") + 1)
        self._synced = time.monotonic()
        return _lines_in(data)

    def clear(self) -> None:
        """Remove all lines of the file, which is open. Raises OSError."""
        assert self._stream is not None
        self._stream.truncate(0)

    def append(self, line: str) -> None:
        """Append a line, which is on the disk a second later at most. Raises OSError."""
        assert self._stream is not None
        encoded = line.encode(errors="backslashreplace")  # file names need not be UTF-8
        self._stream.write(encoded + b"\n")
        self._stream.flush()
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self._sync()

    def close(self) -> None:
        if self._stream is not None:
            try:
                self._sync()
            finally:
                self._stream.close()
                self._stream = None

    def refused(self, why: str) -> BadInput:
        """Return the error about the file."""
        return BadInput(Finding(Code.UNREADABLE, "", f"{self.path}: {why}"))

    def _sync(self) -> None:
        assert self._stream is not None
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()


def _lines_in(data: bytes) -> list[str]:
    return [line for line in data[: data.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n") if line.strip()]
