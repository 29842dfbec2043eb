"""Text on its way to a terminal: what came from a file must not be able to control it.

Names of buffers and pools are free text. Escape sequences in them could move the cursor, change the window's title or
hide lines, and bidirectional controls could show one name as another; so what is not printable is written as an escape.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import IO


def visible(text: str) -> str:
    """The text, with every control, format, surrogate and odd space character written as \\x1b, \\n or \\u202e."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def is_terminal(stream: IO[str] | None) -> bool:
    """Is somebody looking at this stream? A closed one is no terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def can_redraw(stream: IO[str] | None) -> bool:
    """Is the stream a terminal that can erase a line and write it anew?"""
    return is_terminal(stream) and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def say(line: str) -> None:
    """One line for people, on stderr. Nobody listening is no reason to fail."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return


def say_warnings(warnings: Iterable[str]) -> None:
    """A line for each."""
    for warning in warnings:
        say(f"warning: {visible(warning)}")


def tolerate_narrow_encodings() -> None:
    """Let streams that cannot show a character (in an ASCII locale, say) show its escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
