"""Many decimal numbers in bytes at once: their places, and their values as an array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solvers.model.instance import Bools, Ints

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]

MOST_DIGITS = 18
"""Numbers of this many digits always fit into int64."""
CHUNK = 1 << 19
"""Bytes processed together, which fit the processor's cache with what is computed from them."""


def chunks(data: bytes, begin: int, end: int, mark: bytes) -> Iterator[bytes]:
    """Yield pieces of data[begin:end], which ends with a mark, as they do; a last empty one if marks are further apart than a piece is long."""
    while begin < end:
        cut = data.rfind(mark, begin, min(begin + CHUNK, end)) + 1
        yield data[begin:cut]
        if not cut:
            return
        begin = cut


def are_digits(chars: Bytes) -> Bools:
    found: Bools = (chars - np.uint8(ord("0"))) < 10  # below 0 it wraps to a large number
    return found


def numbers(chars: Bytes, begin: Ints, end: Ints) -> Ints | None:
    """Return the numbers between each begin and end; None unless all have 1 to MOST_DIGITS digits."""
    length = end - begin
    if not len(length):
        return np.zeros(0, dtype=np.int64)
    if length.min() < 1 or length.max() > MOST_DIGITS:
        return None
    value = np.zeros(len(length), dtype=np.int64)
    at, which = end - 1, None
    for power in range(int(length.max())):
        if power and (shorter := length <= power).any():
            which = np.flatnonzero(~shorter)
        digit = chars[at - power if which is None else at[which] - power] - np.uint8(ord("0"))
        if digit.max() > 9:
            return None
        if which is None:
            value += digit * np.int64(10**power)
        else:
            value[which] += digit * np.int64(10**power)
    return value
