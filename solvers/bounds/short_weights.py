"""Shortens the weights of certificates to short fractions that prove the same, since certificates are read again, by people too."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..model.instance import Instance
from ..model.interruption import GivenUp, interruptible
from ..model.solver import never
from .weighted_sections import Weights

SHORT = 10**9
"""Numbers below this are short enough."""
LONGEST = 10**18
"""Readers refuse numbers from this on."""
LONGEST_BITS = 59
"""Numbers of so many bits are below that."""
DENOMINATORS = (1, 60, 1 << 10, 10**6, 1 << 30, 10**9)
"""Weights are rounded down to these denominators in turn."""

Worth = Callable[[Instance, Weights], int]


def shortened(
    instance: Instance, weights: Weights, worth: Worth, stopped: Callable[[], object] = never
) -> tuple[int, tuple[tuple[int, int, int, int], ...]]:
    """The bound that the weights prove, and the shortest weights tried that prove it; if the weights are too long for readers, the best short ones.

    Weights that readers take stay as they are if the caller has no time.
    """
    whole = worth(instance, weights)
    longest = _longest(weights)
    if longest < SHORT:
        return whole, tuple(weights)
    best: tuple[int, tuple[tuple[int, int, int, int], ...]] = (0, ())
    try:
        for denominator in DENOMINATORS:
            if longest < LONGEST and stopped():
                return whole, tuple(weights)
            short = _rounded(weights, denominator)
            if _longest(short) >= LONGEST:
                break
            value = worth(instance, short)
            if value > best[0]:
                best = value, short
            if value == whole:
                break
    except GivenUp:
        if longest < LONGEST:
            return whole, tuple(weights)
        if not best[0]:
            raise
    return (whole, tuple(weights)) if best[0] < whole and longest < LONGEST else best


def readable(over: int, under: int) -> tuple[int, int]:
    """The fraction itself, or rounded down to as fine a power of two as readers take."""
    if max(over, under) < LONGEST:
        return over, under
    fine = 1 << max(LONGEST_BITS - (over // under).bit_length(), 0)
    return over * fine // under, fine


def _longest(weights: Weights) -> int:
    return max((max(numerator, denominator) for _, _, numerator, denominator in weights), default=0)


def _rounded(weights: Weights, denominator: int) -> tuple[tuple[int, int, int, int], ...]:
    """Each weight rounded down to a multiple of 1 / denominator, in lowest terms; zeros are left out."""
    found = []
    for pool, section, over, under in interruptible(weights):
        weight = Fraction(over * denominator // under, denominator)
        if weight:
            found.append((pool, section, weight.numerator, weight.denominator))
    return tuple(found)
