"""The layout of a picture: the sheet with its heading, a pool's field, and the scales of times and addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil

from ..checks.report import printable
from .style import Theme, style_of

WIDTH = 1200
LEFT, RIGHT = 84, 20


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet of a picture."""

    width: int = WIDTH
    """From 640 on there is room for words."""
    theme: Theme = Theme.SYSTEM

    @property
    def inside(self) -> int:
        """Return the width of the fields."""
        return self.width - LEFT - RIGHT

    @property
    def right(self) -> int:
        """Return the right end of the fields."""
        return self.width - RIGHT

    def picture(
        self,
        title: str,
        figures: str,
        parts: Sequence[str],
        bottom: float,
        *,
        compared: bool = False,
        run: bool = False,
        curves: bool = False,
    ) -> bytes:
        """Return the whole picture: title, a line of figures, and below them a plan, two `compared` ones, a `run` or `curves`."""
        style = style_of(self.theme, compared=compared, run=run, curves=curves)
        height = ceil(bottom)  # part of a pixel would be half page, half white in a PNG
        whole = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" role="img"><title>{safe(title)}</title><style>{style}</style>'
            f'<rect class="page" width="{self.width}" height="{height}"/>'
            f"{text(LEFT, 30, cut(title, self.inside, 10.4), 'title ink')}{text(LEFT, 50, cut(figures, self.inside, 6.8), 'soft')}"
            f"{''.join(parts)}</svg>\n"
        )
        return whole.encode("utf-8")


STANDARD = Sheet()


@dataclass(frozen=True, slots=True)
class Frame:
    """The field of one pool."""

    sheet: Sheet
    above: float
    height: float
    begin: int
    end: int
    top: int
    """The highest address shown."""

    def x(self, time: int) -> float:
        return LEFT + (time - self.begin) / (self.end - self.begin) * self.sheet.inside

    def y(self, address: int) -> float:
        return self.above + self.height - min(address / self.top, 1) * self.height

    @property
    def below(self) -> float:
        return self.above + self.height


def number(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{safe(words)}</text>'


LETTER = 6.5
"""The width of a letter of a mark's label."""


def without_overlaps(marks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return every mark along a field, or every second, third and so on if there is no room for all labels: each is at its middle."""
    for step in range(1, len(marks)):
        kept = marks[::step]
        if all(b - a > LETTER * (len(said) + len(after)) / 2 for (a, said), (b, after) in pairwise(kept)):
            return list(kept)
    return list(marks[:1])


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"/>'


def safe(words: str) -> str:
    """Return text from any source with everything escaped that is not a character, or affects how others are read."""
    return escape(printable(words))


LONGEST = 400
"""The most characters examined."""


KEPT = 5
"""The least letters of a name that still say which it is."""


def cut(words: str, width: float, size: float = 6.9, *, is_name: bool = False) -> str:
    """Return as much of the text as fits; nothing if that is hardly any. A name keeps what distinguishes it from its neighbours."""
    shown = printable(words[-LONGEST:] if is_name else words[:LONGEST])
    room = int(width / size)
    if len(words) <= LONGEST and letters_wide(shown) <= room:
        return shown
    if room < 4:
        return ""
    letters = min(room, len(shown))
    while letters > 2:
        short = short_name(shown, letters) if is_name else f"{shown[: letters - 1]}…"
        if letters_wide(short) <= room:
            return "" if is_name and letters_wide(short.replace("…", "")) < KEPT else short
        letters -= 1
    return "" if is_name else "…"


def letters_wide(shown: str) -> int:
    """Return the letters' widths; of several spaces SVG shows one."""
    return sum(2 if c > "\u2e80" else 1 for c in re.sub(" +", " ", shown))


def short_name(name: str, room: int) -> str:
    """Return a name cut at the front to at most `room` letters (at least two); if no number stays whole, cut so that the last one does.

    Numbers behind a letter (Conv2D, V3) count only if there are no others.
    """
    end = name[1 - room :]
    numbers = [*re.finditer(r"(?<![A-Za-z0-9])\d+", name)] or [*re.finditer(r"\d+", name)]
    if not numbers or numbers[-1].start() >= len(name) - len(end):
        return f"…{end}"
    last = numbers[-1].end()
    return f"{name[: room - 1]}…" if last < room else f"…{name[last - room + 2 : last]}…"
