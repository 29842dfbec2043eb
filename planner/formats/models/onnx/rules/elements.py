"""What the elements of a tensor can hold, by their type.

A whole number is an `int` in tensors of every type; only fractions, infinities and what is not a number are `float`s.
"""

from __future__ import annotations

from math import frexp, isfinite, ldexp
from typing import TYPE_CHECKING, Any

from .....planning.shapes.expression import Expression
from .....planning.shapes.intervals import bounds
from ..model import BFLOAT16, BITS, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8

if TYPE_CHECKING:
    from .....planning.shapes.intervals import Box

WHOLE = {
    **{element: (-1 << BITS[element] - 1, (1 << BITS[element] - 1) - 1) for element in (INT8, 5, INT32, INT64, 22, 26)},
    **{element: (0, (1 << BITS[element]) - 1) for element in (UINT8, 4, 12, 13, 21, 25)},
}
"""The least and the greatest number of each type of whole numbers."""
DIGITS = {FLOAT: (24, -149, 128), FLOAT16: (11, -24, 16), BFLOAT16: (8, -133, 128), DOUBLE: (53, -1074, 1024)}
"""The binary digits of each type of fractions, the exponent of its least number, and the least exponent that is too large."""


def plain(number: Any) -> Any:
    """Return a whole number as an `int`."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def rounded(number: float, element: int) -> float:
    """Return the nearest number of a type of fractions. Raises OverflowError if it is too large."""
    digits, least, end = DIGITS[element]
    if isinstance(number, int):
        unit = number.bit_length() - digits
        if unit <= 0:
            return int(number)
        made: float = number + (1 << unit - 1) - 1 + (number >> unit & 1) >> unit << unit
    elif isfinite(number):
        unit = max(frexp(number)[1] - digits, least)
        made = plain(ldexp(round(ldexp(number, -unit)), unit))
    else:
        return number
    if abs(made) >= 1 << end:
        raise OverflowError("a fraction that is too large for its type")
    return made


def wrapped(number: Any, element: int) -> Any:
    """Return a whole number with only so many binary digits as its type has."""
    least, most = WHOLE[element]
    return (number - least) % (most - least + 1) + least


def held(number: Any, element: int, box: Box) -> Any:
    """Return what an element holds after this number is put into it. Raises OverflowError if that is nothing certain."""
    low, high = bounds(number, box) if isinstance(number, Expression) else (number, number)
    if element == BOOL and (low == high or not low <= 0 <= high):
        return bool(low != 0)
    if element in WHOLE:
        least, most = WHOLE[element]
        if least <= int(low) <= int(high) <= most:
            return number if isinstance(number, Expression) else int(number)
    elif element in DIGITS:
        if not isinstance(number, Expression):
            return rounded(number, element)
        if max(-low, high) <= 1 << DIGITS[element][0]:
            return number
    raise OverflowError("a number that its type does not hold")
