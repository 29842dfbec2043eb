"""JSON for programs, on the standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from .standard_output import write_out
from .text import is_terminal


def print_json(value: Mapping[str, object]) -> None:
    """Print the value, indented."""
    print_document(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def print_document(document: bytes) -> None:
    """Print a JSON document: byte for byte for programs, and with nothing unprintable in it for a terminal."""
    if not document.endswith(b"\n"):
        document += b"\n"
    write_out(escaped(document) if is_terminal(sys.stdout) else document)


def escaped(document: bytes) -> bytes:
    """The same JSON, with whatever is not printable in its strings as \\u escapes."""
    text = document.decode("utf-8", "surrogatepass")
    if not text.replace("\n", "").isprintable():
        # Outside strings JSON has no unprintable characters but the line ends.
        text = "".join(
            c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1].replace("\x7f", "\\u007f") for c in text
        )
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace") if encoding.lower() == "utf-8" else json_ascii(text)


def json_ascii(text: str) -> bytes:
    """For terminals that do not speak UTF-8."""
    return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text).encode("ascii")
