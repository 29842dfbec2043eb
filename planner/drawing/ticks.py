"""Round axis marks, for addresses in powers of two and for times in tens; and bytes in readable form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

LONG = 10**9
"""From here on a number may be shorter as a power of ten."""
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def address_ticks(top: int, most: int) -> list[int]:
    """Return multiples of a power of two from 0 to the top, at most `most` above 0."""
    step = 1
    while top // step > most:
        step *= 2
    return list(range(0, top + 1, step))


def address_labels(ticks: Sequence[int]) -> list[str]:
    """Return the ticks in words, never rounded: short if that is exact, otherwise in the greatest unit of which all are multiples."""
    short = [short_bytes(tick) for tick in ticks]
    if all(
        Fraction(figure) * 1024 ** UNITS.index(unit) == tick
        for tick, (figure, unit) in zip(ticks, map(str.split, short), strict=True)
    ):
        return short
    power = max(power for power in range(len(UNITS)) if all(tick % 1024**power == 0 for tick in ticks))
    return [f"{grouped(tick // 1024**power)} {UNITS[power]}" for tick in ticks]


def value_ticks(low: int, high: int, most: int) -> list[int]:
    """Return multiples of a power of two in the range, at most `most` or one more."""
    step = 1
    while (high - low) // step > most:
        step *= 2
    return list(range(-(-low // step) * step, high + 1, step))


def time_ticks(begin: int, end: int, most: int) -> list[int]:
    """Return multiples of 1, 2 or 5 times a power of ten, at most `most`; or up to five where there would be only one, which tells no scale."""
    steps: list[int] = []
    for step in _tens():
        steps.append(step)
        if (end - begin) // step < most:
            break
    while len(steps) > 1 and end // steps[-1] <= -(-begin // steps[-1]):
        steps.pop()
    return list(range(-(-begin // steps[-1]) * steps[-1], end + 1, steps[-1]))


def _tens() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def number_labels(ticks: Sequence[int]) -> list[str]:
    """Return the ticks in words, never rounded: 12 345 678, or 1.2345e+12 if that is shorter."""
    return [_shortest(tick) for tick in ticks]


def _shortest(number: int) -> str:
    if abs(number) < LONG:
        return grouped(number)
    digits = str(abs(number))
    rest = digits[1:].rstrip("0")
    power = f"{'-' if number < 0 else ''}{digits[0]}{'.' if rest else ''}{rest}e+{len(digits) - 1:02}"
    return min(grouped(number), power, key=len)


def short_bytes(size: int) -> str:
    """Return a short form, exact if possible: 24 KiB, 3920 B, 1.53 MiB."""
    unit = 0
    while unit + 1 < len(UNITS) and size >= 1024 ** (unit + 1) and (size % 1024 ** (unit + 1) == 0 or size >= 10_000):
        unit += 1
    whole = 1024**unit
    if size % whole == 0:
        return f"{size // whole} {UNITS[unit]}"
    value = size / whole
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {UNITS[unit]}"


def exact_bytes(size: int) -> str:
    """Return the short form, followed by the exact bytes if it is rounded: 1.53 MiB (1 604 322 B)."""
    short = short_bytes(size)
    return short if short.endswith(" B") else f"{short} ({grouped(size)} B)"


def grouped(number: int) -> str:
    """Return the digits in groups: 12 345 678."""
    return f"{number:,}".replace(",", " ")
