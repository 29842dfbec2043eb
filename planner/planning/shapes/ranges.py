"""The exact least and greatest value of an expression over a box of symbols' ranges, found by halving undecided boxes."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import product
from typing import NamedTuple

from ...model.deadline import PREPARING, tick
from .expression import LIMIT, Expression, ExpressionError, Kind, Values, number, times
from .intervals import Box, bounds, of_parts
from .normal import normal

MOST_EFFORT = 500_000
"""The parts of expressions that may be examined beyond the first box of each."""


class Effort:
    """How much may still be examined, for all expressions of a problem together."""

    def __init__(self, parts: int = MOST_EFFORT) -> None:
        self.left = parts


class Extreme(NamedTuple):
    """A value, and a point at which it is reached."""

    value: int
    at: dict[str, int]

    def __str__(self) -> str:
        """`3 where n=1, m=2`."""
        return f"{self.value} where {values_text(self.at)}" if self.at else f"{self.value}"


def greatest(made: Expression, box: Box, effort: Effort | None = None) -> Extreme | None:
    """Return the greatest value; None if too many boxes would have to be examined."""
    named = made.symbols()
    return _search(made, {name: span for name, span in box.items() if name in named}, effort or Effort())


def least(made: Expression, box: Box, effort: Effort | None = None) -> Extreme | None:
    """Return the least value; None if too many boxes would have to be examined."""
    found = greatest(times((number(-1), made)), box, effort)
    return None if found is None else Extreme(-found.value, found.at)


def _search(made: Expression, box: dict[str, tuple[int, int]], effort: Effort) -> Extreme | None:
    best: Extreme | None = None
    forms, count, parts = [made], 0, parts_of(made)
    waiting: list[tuple[int, int, dict[str, tuple[int, int]]]] = []
    heappush(waiting, (-bounds(made, box)[1], count, box))
    while waiting:
        tick(PREPARING, parts)
        limit, _, part = heappop(waiting)
        if best is not None and -limit <= best.value:
            return best
        corners = _corners(part) if count else _ends(part)
        if count:
            effort.left -= (len(corners) + 2) * parts
            if effort.left < 0:
                return None
        for corner in corners:
            value = made.at(corner)
            if best is None or value > best.value:
                best = Extreme(value, corner)
        if best is not None and -limit <= best.value:
            return best
        wide = max(part, key=lambda name: part[name][1] - part[name][0], default=None)
        if wide is None or part[wide][0] == part[wide][1]:
            continue
        if not count:  # undecided as it is written: equal in value, and often enclosed more tightly
            forms.append(normal(made, box))
            parts += parts_of(forms[1])
        low, high = part[wide]
        middle = (low + high) // 2
        for half in ((low, middle), (middle + 1, high)):
            count += 1
            smaller = {**part, wide: half}
            heappush(waiting, (-min(bounds(form, smaller)[1] for form in forms), count, smaller))
    return best


def _corners(box: Box) -> list[dict[str, int]]:
    """Return the corners; with many symbols only the lowest and the highest."""
    if len(box) <= 4:
        return [dict(zip(box, ends, strict=True)) for ends in product(*(sorted({*span}) for span in box.values()))]
    return _ends(box)


def _ends(box: Box) -> list[dict[str, int]]:
    """Return the lowest and the highest corner, where most expressions have their extremes."""
    return [{name: span[end] for name, span in box.items()} for end in (1, 0)]


def parts_of(made: Expression) -> int:
    """Return the number of its parts."""
    return 1 + sum(map(parts_of, made.parts))


def require_safe(made: Expression, box: Box, effort: Effort | None = None) -> None:
    """Raise ExpressionError if a step of its evaluation, from left to right, can leave the number range, or divide by less than 1."""
    _safe(made, box, effort or Effort())


def _safe(made: Expression, box: Box, effort: Effort) -> tuple[int, int]:
    """Do this, and return its bounds."""
    found = [_safe(part, box, effort) for part in made.parts]
    if made.kind not in (Kind.SUM, Kind.PRODUCT):
        low, high = of_parts(made, found) if found else bounds(made, box)
    else:
        low, high = found[0]
        for place, (a, b) in enumerate(found[1:], start=2):
            ends = (low + a, high + b) if made.kind is Kind.SUM else (low * a, low * b, high * a, high * b)
            low, high = min(ends), max(ends)
            if low <= -LIMIT or high >= LIMIT:
                step = Expression(made.kind, made.parts[:place])
                low, high = bounds(normal(step, box), box)
                if low <= -LIMIT or high >= LIMIT:
                    raise _too_large(step)
    if low <= -LIMIT or high >= LIMIT:
        raise _too_large(made)
    if made.kind is Kind.CEILDIV:
        divisor = least(made.parts[1], box, effort)
        if divisor is None or divisor.value < 1:
            where = "" if divisor is None else f" (it is {divisor})"
            raise ExpressionError(f"the divisor of {_shown(made)} is not always 1 or more{where}")
    return low, high


def _too_large(made: Expression) -> ExpressionError:
    return ExpressionError(f"{_shown(made)} can reach 2^62 within the symbols' ranges")


def size_range(made: Expression, box: Box, effort: Effort | None = None) -> tuple[Extreme, Extreme]:
    """Return the least and the greatest size. Raises ExpressionError if it can be negative or overflow, or is too complex to tell."""
    require_safe(made, box, effort)
    low, high = least(made, box, effort), greatest(made, box, effort)
    if low is None or high is None:
        raise ExpressionError(
            "it is too entangled to tell how small and how large it can be; write it more plainly, or give a size_range"
        )
    if low.value < 0:
        raise ExpressionError(f"it can be negative: it is {low}")
    return low, high


def values_text(values: Values) -> str:
    """`n=1, m=2`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _shown(made: Expression) -> str:
    text = str(made)
    return text if len(text) <= 60 else text[:59] + "…"
