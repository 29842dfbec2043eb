"""The capacities to sweep: ranges as typed, and all combinations of several pools' sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from ...checks.values import are_integers
from ...model.errors import echo
from ...model.problem import Problem
from ..options.capacity import parse_size, quoted
from ..options.options import GREATEST, bad_option

Capacity: TypeAlias = Mapping[str, int]
"""The bytes of each swept pool, by name."""

MOST_POINTS = 1024
STEP = 16 << 10


def capacity_range(first: int, last: int, step: int = STEP) -> tuple[int, ...]:
    """Return the sizes from first to last, including the last even if the steps miss it. Raises BadInput."""
    if not are_integers((first, last, step)):
        raise bad_option("capacity", "the ends of a range and its step must be integers")
    _check(step)
    if last < first:
        raise bad_option("capacity", f"the range ends at {last} bytes, before it begins ({first})")
    if (last - first) // step + 1 > MOST_POINTS:
        raise bad_option("step", f"there are more than {MOST_POINTS} sizes from {first} to {last}: use a larger step")
    sizes = range(first, last + 1, step)
    return tuple(sizes) if sizes[-1] == last else (*sizes, last)


def _check(step: int) -> None:
    if step < 1:
        raise bad_option("step", "the step must be 1 byte or more")


def parse_ranges(texts: Sequence[str], problem: Problem, step: int = STEP) -> dict[str, tuple[int, ...]]:
    """Return sizes by pool from `sram=64KiB..512KiB`, `sram=64k,96k` or `sram=1MiB`; the name is optional with one pool. Raises BadInput."""
    _check(step)
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        # names may contain an equals sign, sizes may not
        name, equals, sizes = text.rpartition("=")
        if not equals:
            if len(problem.pools) != 1:
                raise bad_option(
                    "capacity", f"the problem has {len(problem.pools)} pools: say which one, as in sram=64KiB..512KiB"
                )
            name = problem.pools[0].name
        if name in found:
            raise bad_option("capacity", f"pool {quoted(name)} is given twice")
        found[name] = _sizes(sizes, step)
    return found


def _sizes(text: str, step: int) -> tuple[int, ...]:
    if ".." in text:
        first, _, last = text.partition("..")
        return capacity_range(parse_size(first), parse_size(last), step)
    sizes = [parse_size(part) for part in text.split(",", MOST_POINTS)]
    return tuple(sorted(set(sizes)))


def combinations(sizes: Mapping[str, Sequence[int]], problem: Problem) -> list[Capacity]:
    """Return every combination; the last pool's size changes fastest. Raises BadInput."""
    if not sizes:
        raise bad_option("capacity", "say which capacities to try, as in sram=64KiB..512KiB")
    names = {pool.name for pool in problem.pools}
    for name, each in sizes.items():
        if name not in names:
            raise bad_option("capacity", f"the problem has no pool {echo(name)}")
        if not are_integers(each):
            raise bad_option("capacity", f"the sizes of pool {echo(name)} must be a list of integers")
        if not each:
            raise bad_option("capacity", f"no size is given for pool {echo(name)}")
        if min(each) < 0 or max(each) > GREATEST:
            raise bad_option("capacity", f"a size of pool {echo(name)} is below 0 or above 2^62")
    if prod(len(set(each)) for each in sizes.values()) > MOST_POINTS:
        raise bad_option(
            "capacity", f"these are more than {MOST_POINTS} configurations: use a larger step, or fewer sizes"
        )
    ordered = [sorted(set(each)) for each in sizes.values()]
    return [dict(zip(sizes, each, strict=True)) for each in product(*ordered)]


def holds(larger: Capacity, smaller: Capacity) -> bool:
    """True if no pool of the first is smaller than that of the second."""
    return all(larger[name] >= size for name, size in smaller.items())
