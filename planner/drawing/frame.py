"""Where things are on the picture: a pool's panel, and the way from times and addresses to it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ..checks.report import printable

WIDTH = 1200
LEFT, RIGHT = 84, 20
INSIDE = WIDTH - LEFT - RIGHT


@dataclass(frozen=True, slots=True)
class Frame:
    """The field of one pool."""

    above: float
    height: float
    begin: int
    end: int
    top: int
    """The highest address that is shown."""

    def x(self, time: int) -> float:
        return LEFT + (time - self.begin) / (self.end - self.begin) * INSIDE

    def y(self, address: int) -> float:
        return self.above + self.height - min(address / self.top, 1) * self.height

    @property
    def below(self) -> float:
        return self.above + self.height


def number(value: float) -> str:
    """A place on the picture, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, said: str, kind: str) -> str:
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{safe(said)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"/>'


def safe(said: str) -> str:
    """Text that comes from anybody: what is no character, or would change how others are read, is shown as its escape."""
    return escape(printable(said))


def cut(said: str, width: float, size: float = 6.9) -> str:
    """As much of it as has room; nothing if that is hardly any."""
    shown = printable(said[:400])
    room = int(width / size)
    if sum(2 if c > "\u2e80" else 1 for c in shown) <= room:
        return shown
    return "" if room < 4 else shown[: room - 1] + "…"
