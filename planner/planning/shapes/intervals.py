"""Two values that enclose an expression over a box of symbols' ranges, from those of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .expression import Expression, Kind

Box: TypeAlias = Mapping[str, tuple[int, int]]
"""The least and the greatest value of each symbol."""


def bounds(made: Expression, box: Box) -> tuple[int, int]:
    """Return two values that enclose it; not always the tightest."""
    match made.kind:
        case Kind.NUMBER:
            return made.value, made.value
        case Kind.SYMBOL:
            return box[made.name]
    return of_parts(made, [bounds(part, box) for part in made.parts])


def of_parts(made: Expression, parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the bounds of a node, from the bounds of its children."""
    match made.kind:
        case Kind.SUM:
            return sum(low for low, _ in parts), sum(high for _, high in parts)
        case Kind.PRODUCT:
            low, high = parts[0]
            for a, b in parts[1:]:
                ends = (low * a, low * b, high * a, high * b)
                low, high = min(ends), max(ends)
            return low, high
        case Kind.MAX:
            return max(low for low, _ in parts), max(high for _, high in parts)
        case Kind.MIN:
            return min(low for low, _ in parts), min(high for _, high in parts)
        case _:
            (low, high), (least, most) = parts
            quotients = [-(-a // b) for a in (low, high) for b in (max(least, 1), max(most, 1))]
            return min(quotients), max(quotients)
