"""Charts as SVG, written as text: lines, steps and dots on two axes. Colours and fonts come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from .scales import Scale

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 62, 26, 14, 46
ROW = 20
LONGEST_NAME = 34
COLOURS = 8
"""The number of distinct colours in the style sheet; further series share them."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Series:
    """A series of points on a chart."""

    name: str
    points: Points
    notes: Sequence[str] = field(default=())
    """The text of a pointer over each dot."""


def lines(series: Sequence[Series], x: Scale, y: Scale, x_title: str, y_title: str) -> str:
    """Draw each series as steps: a value holds until the next."""
    drawn = []
    for place, one in enumerate(series):
        path, before = "", None
        for px, py in one.points:
            here_x, here_y = _x(x, px), _y(y, py)
            path += f"M{here_x:.1f} {here_y:.1f}" if before is None else f"H{here_x:.1f}V{here_y:.1f}"
            before = here_y
        if before is not None:
            path += f"H{_x(x, x.high):.1f}"
        # later lines are thinner, so that those below stay visible
        width = 2 + 2 * (len(series) - 1 - place) / max(len(series) - 1, 1)
        name = escape(one.name)
        drawn.append(
            f'<path class="line c{place % COLOURS}" stroke-width="{width:.2g}" d="{path}"><title>{name}</title></path>'
        )
    return _chart(series, x, y, x_title, y_title, drawn)


def dots(series: Sequence[Series], x: Scale, y: Scale, x_title: str, y_title: str) -> str:
    """Draw a dot for each point; of coinciding points of a series, only the first."""
    drawn: dict[tuple[int, int, int], str] = {}
    for place, one in enumerate(series):
        shift = _apart(place, len(series))
        for i, (px, py) in enumerate(one.points):
            note = one.notes[i] if i < len(one.notes) else one.name
            at_x, at_y = _x(x, px) + shift, _y(y, py)
            drawn.setdefault((place, round(at_x), round(at_y)), _dot(at_x, at_y, place, note))
    return _chart(series, x, y, x_title, y_title, list(drawn.values()))


def dots_in_rows(rows: Sequence[str], series: Sequence[Series], x: Scale, x_title: str) -> str:
    """Draw a row for each name; a series' points are (x, row number)."""
    left = 12 + 7 * min(max(map(len, rows), default=0), LONGEST_NAME)
    height = TOP + ROW * len(rows) + BOTTOM
    parts = []
    for number, name in enumerate(rows):
        at = TOP + ROW * number + ROW / 2
        shown = name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(
            f'<text class="tick end" x="{left - 8}" y="{at + 4:.1f}">{escape(shown)}<title>{escape(name)}</title></text>'
        )
    parts += _x_axis(x, x_title, left, height)
    for place, one in enumerate(series):
        shift = _apart(place, len(series))
        for i, (px, row) in enumerate(one.points):
            note = one.notes[i] if i < len(one.notes) else one.name
            parts.append(_dot(_x(x, px, left), TOP + ROW * row + ROW / 2 + shift, place, note))
    return _svg(parts, height, x_title) + _legend(series)


def _chart(series: Sequence[Series], x: Scale, y: Scale, x_title: str, y_title: str, drawn: Sequence[str]) -> str:
    parts = _x_axis(x, x_title, LEFT, HEIGHT)
    for tick in y.ticks:
        at = _y(y, tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 6}" y="{at + 4:.1f}">{escape(y.label(tick))}</text>')
    return _svg([*parts, *drawn], HEIGHT, f"{y_title} by {x_title}") + _legend(series)


def _x_axis(x: Scale, title: str, left: float, height: float) -> list[str]:
    parts = []
    for tick in x.ticks:
        at = _x(x, tick, left)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>')
        parts.append(f'<text class="tick mid" x="{at:.1f}" y="{height - BOTTOM + 18}">{escape(x.label(tick))}</text>')
    middle = (left + WIDTH - RIGHT) / 2
    return [*parts, f'<text class="title mid" x="{middle:.1f}" y="{height - 8}">{escape(title)}</text>']


def _dot(x: float, y: float, place: int, note: str) -> str:
    return f'<circle class="dot c{place % COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{escape(note)}</title></circle>'


def _apart(place: int, count: int) -> float:
    """Return positions side by side, so that equal solvers do not hide each other."""
    return (place - (count - 1) / 2) * min(4, (ROW - 8) / max(count, 1))


def _legend(series: Sequence[Series]) -> str:
    """Return names beside their colours, in the page's text, which wraps."""
    items = (
        f'<span><i class="key c{place % COLOURS}"></i>{escape(one.name)}</span>' for place, one in enumerate(series)
    )
    return f'<p class="legend">{"".join(items)}</p>'


def _svg(parts: Sequence[str], height: float, label: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _x(scale: Scale, value: float, left: float = LEFT) -> float:
    return left + scale.at(value) * (WIDTH - RIGHT - left)


def _y(scale: Scale, value: float) -> float:
    return HEIGHT - BOTTOM - scale.at(value) * (HEIGHT - BOTTOM - TOP)
