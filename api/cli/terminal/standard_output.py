"""Standard output: bytes, exact for programs and printable for a terminal, for a reader who may leave early, on a disk that may be full."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, BinaryIO, TextIO, cast

import typer

from ..exit_codes import ExitCode
from .text import NARROW, is_terminal, say, visible

STANDARD_OUTPUT = "-"
"""The name of it where a file is named."""


def prints_json(out: str | None = None, *, as_json: bool, nothing_else: bool = True) -> bool:
    """True if JSON was requested, or if a pipe would otherwise get nothing."""
    if as_json or out == STANDARD_OUTPUT:
        return True
    return out is None and nothing_else and not is_terminal(sys.stdout)


def print_json(value: Mapping[str, object]) -> None:
    """Print the value, indented."""
    print_document(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def print_document(document: bytes) -> None:
    """Print a JSON document, with an end of line."""
    write_out(document if document.endswith(b"\n") else document + b"\n")


def say_written(*names: str | None) -> None:
    """On a terminal, name the files that were written; `-` and None are none."""
    if not is_terminal(sys.stdout):
        return
    for name in names:
        if name is not None and name != STANDARD_OUTPUT:
            print_line(f"written to {name}")


def print_line(text: str) -> None:
    """Print a line of text, in the encoding of the output."""
    if sys.stdout is not None:
        _send(f"{visible(text)}\n".encode(sys.stdout.encoding or "utf-8", NARROW))


def escaped(document: bytes) -> bytes:
    """Return the same answer with unprintable characters as \\u escapes, which mean the same in JSON; bytes that are no text as \\x escapes."""
    try:
        text = document.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = document.decode("utf-8", "backslashreplace")
    if not text.replace("\n", "").isprintable():
        # outside of names, the only unprintable characters of answers are line ends
        text = "".join(
            c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1].replace("\x7f", "\\u007f") for c in text
        )
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace") if encoding.lower() == "utf-8" else json_ascii(text)


def json_ascii(text: str) -> bytes:
    """Return it for terminals that do not use UTF-8."""
    return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text).encode("ascii")


def write_out(data: bytes) -> None:
    """Write an answer: byte for byte for programs, and without unprintable characters for a terminal. One that has nowhere to go would be lost."""
    if sys.stdout is None:
        raise _cannot_write("it is closed")
    _send(escaped(data) if is_terminal(sys.stdout) else data)


def _send(data: bytes) -> None:
    """Write everything. If the reader left early, as `head` does, the command ends quietly; on a full disk, with a sentence."""
    try:
        # not through the text layer: JSON is UTF-8 whatever the locale is
        _write_all(sys.stdout.buffer, memoryview(data))
    except BrokenPipeError:
        _forget()
        raise typer.Exit(ExitCode.READER_GONE) from None
    except OSError as error:
        _forget()
        raise _cannot_write((error.strerror or str(error)).lower()) from error


def _cannot_write(why: str) -> typer.Exit:
    say(f"error: cannot write to the standard output: {why}")
    return typer.Exit(ExitCode.BAD_INPUT)


class Printed:
    """The standard output for those that print text themselves, rich and typer: what they print ends as an answer does, and has their colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        _send(text.encode(self._stream.encoding or "utf-8", self._stream.errors or NARROW))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def one_way_out() -> Iterator[None]:
    """In the block, everything printed ends alike when its reader leaves or the disk is full."""
    if sys.stdout is None:
        yield
        return
    with redirect_stdout(cast(TextIO, Printed(sys.stdout))):
        yield


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
    """Discard buffered output; otherwise Python would try again at exit, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
