"""Figures as reports write them, in tables and beside axes."""

from __future__ import annotations

import re
from collections.abc import Sequence


def number(value: int | None) -> str:
    """Return the number with its digits in groups of three: `1 048 576`; a dash for None."""
    return "–" if value is None else f"{value:,}".replace(",", " ")


def numbers(values: Sequence[int]) -> str:
    """Return the values of several terms, the first one first."""
    return "; ".join(map(number, values)) or "–"


def percent(part: float | None) -> str:
    if part is None:
        return "–"
    return f"{part * 100:.2f} %" if part == 0 or abs(part) >= 0.0001 else f"{part * 100:.1g} %"


def seconds(value: float | None) -> str:
    """Return three digits."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:.0f} s"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1000:.3g} ms"


def megabytes(value: int | None) -> str:
    return "–" if value is None else f"{value / 1e6:.0f} MB"


def short_seconds(value: float) -> str:
    """Return a label for a time axis."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size * 0.999:
            return f"{value / size:g} {unit}"
    return f"{value:g} s"


def short_number(value: float) -> str:
    """Return a label for an axis of counts or bytes."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size * 0.999:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


def short_percent(value: float) -> str:
    return f"{value * 100:g} %"


FIGURE = re.compile(r"(-?[\d\s]*\.?\d+(?:e[+-]?\d+)?)(?: (ms|s|%|MB|of \d+)|;.*)?")


def figure_in(text: str) -> float | None:
    """Return a cell's sort key: its figure, or its first term's; None for words and empty cells."""
    found = FIGURE.fullmatch(text)
    return None if found is None else float("".join(found[1].split())) / (1000 if found[2] == "ms" else 1)
