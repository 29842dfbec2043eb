"""Text for a terminal: exact and rough sizes, lines no wider than it, and escaped contents of files.

Names of buffers and pools are free text. Escape sequences in them could move the cursor, change the window's title or
hide lines, and bidirectional controls could show one name as another; so unprintable characters are written as escapes.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable
from typing import IO

STAND_INS = dict(zip("█▓▒░▀▄│─└┘◂●→…", "#%+.',|-++<*>~", strict=True))
"""What memplan draws with where the output's encoding lacks the character: as wide as that."""
NARROW = "memplan.narrow"
"""The name of `stood_in` among the ways to treat characters that an encoding lacks."""
UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def visible(text: str) -> str:
    """The text, with every control, format, surrogate and odd space character written as \\x1b, \\n or \\u202e.

    So are those that the standard output's encoding lacks.
    """
    if _can_be_shown(text):
        return text
    return "".join(c if _can_be_shown(c) else c.encode("unicode_escape").decode("ascii") for c in text)


def _can_be_shown(text: str) -> bool:
    if text.isascii() or not text.isprintable():
        return text.isprintable()
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_terminal(stream: IO[str] | None) -> bool:
    """True if the stream is a terminal. A closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def can_redraw(stream: IO[str] | None) -> bool:
    """True if the stream is a terminal that can erase a line and write it anew."""
    return is_terminal(stream) and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def columns(stream: IO[str]) -> int:
    """Return the width of the stream's terminal; 80 if unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def grouped(number: int) -> str:
    """Return the number with its digits in groups of three: `1 048 576`."""
    return f"{number:,}".replace(",", " ")


def counted(number: int, what: str) -> str:
    """Return `1 buffer`, `2 buffers`."""
    return f"{grouped(number)} {what}{'' if number == 1 else 's'}"


def counted_wrong(number: int) -> str:
    """Return `1 thing is wrong`, `2 things are wrong`."""
    return f"{counted(number, 'thing')} {'is' if number == 1 else 'are'} wrong"


def exact(size: int) -> str:
    """Return 1048576 as `1 048 576 B`."""
    return f"{grouped(size)} B"


def rough(size: int) -> str:
    """Return 1048576 as `1.0 MiB`; below 1 KiB the exact figure is short enough."""
    if abs(size) < 1024:
        return exact(size)
    power = min((abs(size).bit_length() - 1) // 10, len(UNITS))
    if power < len(UNITS) and abs(size) / 1024**power >= 1023.95:
        power += 1
    return f"{size / 1024**power:.1f} {UNITS[power - 1]}"


def both(size: int) -> str:
    """Return 1048576 as `1 048 576 B (1.0 MiB)`."""
    return exact(size) if abs(size) < 1024 else f"{exact(size)} ({rough(size)})"


def percent(part: float) -> str:
    """Return 0.031 as `3.1 %`. A positive part never shows as 0.0 %."""
    if part and abs(part) < 0.0005:
        return "< 0.05 %"
    return f"{part * 100:.1f} %"


def say(line: str) -> None:
    """Print one line for people on stderr, broken between words on a terminal. A missing reader is no failure."""
    try:
        sys.stderr.write((broken(line, columns(sys.stderr)) if is_terminal(sys.stderr) else line) + "\n")
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return


def broken(line: str, width: int) -> str:
    """Return lines of at most `width` characters. Longer words, such as paths, stay whole."""
    if len(line) <= width:
        return line
    lines = [""]
    for word in line.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def say_warnings(warnings: Iterable[str]) -> None:
    """Print a line for each."""
    for warning in warnings:
        say(f"warning: {visible(warning)}")


def stood_in(error: UnicodeError) -> tuple[str, int]:
    """Return what is shown instead of characters that an encoding lacks: ASCII for what memplan draws with, otherwise escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(
        STAND_INS.get(c) or c.encode("ascii", "backslashreplace").decode("ascii") for c in lacking
    ), error.end


codecs.register_error(NARROW, stood_in)


def tolerate_narrow_encodings() -> None:
    """Let streams that cannot show a character (in an ASCII locale, for example) show what stands in for it instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=NARROW)
