"""The integer program: an offset per block, a peak per pool, a binary for each choice of which block lies above which.

    minimise    the term asked for, e.g. the sum of cost * peak
    such that   peak >= offset + size                                     for every block in the pool
                offset[j] >= offset[i] + distance - M * (1 - above)       for every pair that must not share addresses,
                offset[i] >= offset[j] + distance - M * above             M as small as the ranges of the two blocks allow
                offset = residue + modulus * step                         step integer
                peak >= what is live at each section                      redundant, but the solver's bound starts from it
                offset[i] >= sum of size[j] for the j below i             redundant, for blocks that are all live at once: stacks.py

Offsets of alignment 1 need not be integer: once all choices are made, the rest has integer optima.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....model.instance import Instance, Placement
from ....model.objective import peaks
from .ranges import Ranges

Variable = Any
Expression = Any
"""PuLP's; they have no types."""

ValueAt = Callable[[Placement], float]

LONGEST_NAME = 24
"""Longest of the up to three names that form a name in the program, besides a number each: in an .lp file it has at most 100 letters.

The end of a name is kept, as it distinguishes more.
"""


@dataclass(frozen=True, slots=True)
class Names:
    """Unique names of blocks and of pools."""

    blocks: tuple[str, ...]
    pools: tuple[str, ...]


@dataclass(slots=True)
class Program:
    """A program while it is built, with the meaning of each variable."""

    instance: Instance
    ranges: Ranges
    names: Names
    problem: Any
    unit: float = 1
    """Lengths are divided by this in the program. If it is not 1, numbers are inexact and proofs do not count."""
    value_of: dict[str, tuple[Variable, ValueAt]] = field(default_factory=dict)
    """The value of each variable at a given placement: a start for the solver."""
    offset: list[Variable] = field(default_factory=list)
    peak: list[Variable] = field(default_factory=list)
    home: dict[tuple[int, int], Variable] = field(default_factory=dict)
    """(block, pool) -> binary; absent if the block has no choice. Blocks of one class share it."""
    sides: list[tuple[int, int, int, Variable | None, Variable | None]] = field(default_factory=list)
    """(separation, first, second, binary of second above first, binary of first above second or None: the opposite of the other)."""
    single: frozenset[int] = frozenset()
    """Blocks of one part that begins at their base."""
    above: dict[tuple[int, int], Expression] = field(default_factory=dict)
    """(first, second) -> 1 if the second lies above the first, 0 if below: a number or a binary.

    For single-part blocks in one pool that never share addresses.
    """
    penalised: list[tuple[int, Variable]] = field(default_factory=list)
    """(row of penalties, binary of "they may share addresses")."""
    largest_constant: int = 1
    """The largest M, undivided."""
    binaries: int = 0
    impossible: bool = False
    """True if a contradiction was found while building."""

    def variable(self, name: str, low: float, high: float, value: ValueAt, *, integer: bool = False) -> Variable:
        made = self.problem.add_variable(name, low, high, "Integer" if integer else "Continuous")
        self.value_of[name] = (made, value)
        return made

    def binary(self, name: str, value: ValueAt) -> Variable:
        self.binaries += 1
        return self.variable(name, 0, 1, value, integer=True)

    def length(self, units: int) -> float:
        """A length as a number of the program."""
        return units if self.unit == 1 else units / self.unit

    def constant(self, units: int) -> float:
        """A big M as a number of the program; records the largest."""
        self.largest_constant = max(self.largest_constant, abs(units))
        return self.length(units)

    def require(self, condition: Any, name: str) -> None:
        self.problem.addConstraint(condition, name)

    def is_in(self, block: int, pool: int) -> Expression:
        """1 if the block is in the pool, which must be one of its homes."""
        return self.home.get((block, pool), 1)

    def start(self, placement: Placement) -> dict[str, float]:
        """Every variable's value at the placement."""
        return {name: value(placement) for name, (_, value) in self.value_of.items()}


def new_program(instance: Instance, ranges: Ranges, names: Names, unit: float = 1) -> Program:
    """A program with the variables and rows of single blocks and pools; pairs and the objective are added later."""
    import pulp

    program = Program(instance, ranges, names, pulp.LpProblem("memplan", pulp.LpMinimize), unit)
    is_single_part = np.bincount(instance.part_block, minlength=instance.blocks)[instance.part_block] == 1
    program.single = frozenset(instance.part_block[is_single_part & (instance.part_low == 0)].tolist())
    _add_peaks(program)
    _add_homes(program)
    for block in range(instance.blocks):
        _add_offset(program, block)
        _tie_to_peaks(program, block)
    return program


def _add_peaks(program: Program) -> None:
    for pool, (low, high) in enumerate(program.ranges.peak):
        program.peak.append(
            program.variable(
                f"peak_{program.names.pools[pool]}",
                program.length(low),
                program.length(high),
                lambda at, pool=pool: program.length(
                    max(peaks(program.instance, at)[pool], program.ranges.peak[pool][0])
                ),  # type: ignore[misc]
                integer=program.unit == 1,
            )
        )


def _add_homes(program: Program) -> None:
    """Adds one binary per class and pool, where there is a choice; exactly one of a class is 1."""
    instance, names = program.instance, program.names
    leader: dict[int, int] = {}
    for block, group in enumerate(instance.pool_class.tolist()):
        homes = program.ranges.homes[block]
        if len(homes) == 1:
            continue
        first = leader.setdefault(group, block)
        for pool in homes:
            if first == block:
                program.home[block, pool] = program.binary(
                    f"in_{names.blocks[block]}_{names.pools[pool]}",
                    lambda at, block=block, pool=pool: int(at.pool[block] == pool),  # type: ignore[misc]
                )
            else:
                program.home[block, pool] = program.home[first, pool]
        if first == block:
            total = sum(program.home[block, pool] for pool in homes)
            program.require(total == 1, f"somewhere_{names.blocks[block]}")
    for row, (a, b) in enumerate(instance.apart.tolist()):
        for pool in set(program.ranges.homes[a]) & set(program.ranges.homes[b]):
            together = program.is_in(a, pool) + program.is_in(b, pool)
            if isinstance(together, int):
                program.impossible = True
            else:
                program.require(together <= 1, f"apart_{row}_{names.pools[pool]}")


def _add_offset(program: Program, block: int) -> None:
    instance, spans, name = program.instance, program.ranges.base[block], program.names.blocks[block]
    length = program.length
    offset = program.variable(
        f"offset_{name}",
        length(program.ranges.lowest(block)),
        length(program.ranges.highest(block)),
        lambda at: length(int(at.offset[block])),
    )
    program.offset.append(offset)
    if len(spans) > 1 and len(set(spans.values())) > 1:
        low = sum(length(spans[pool][0]) * program.home[block, pool] for pool in spans)
        high = sum(length(spans[pool][1]) * program.home[block, pool] for pool in spans)
        program.require(offset - low >= 0, f"lowest_{name}")
        program.require(offset - high <= 0, f"highest_{name}")
    grids = {(int(instance.modulus[block, pool]), int(instance.residue[block, pool])) for pool in spans}
    if all(modulus == 1 for modulus, _ in grids):
        return
    if len(grids) == 1:
        _align(program, block, *grids.pop())
    else:
        _align_by_pool(program, block)


def _align(program: Program, block: int, modulus: int, residue: int) -> None:
    low, high = program.ranges.lowest(block), program.ranges.highest(block)
    if low == high:
        return
    name = program.names.blocks[block]
    step = program.variable(
        f"step_{name}",
        (low - residue) // modulus,
        (high - residue) // modulus,
        lambda at: (int(at.offset[block]) - residue) // modulus,
        integer=True,
    )
    program.require(
        program.offset[block] - program.length(modulus) * step == program.length(residue), f"aligned_{name}"
    )


def _align_by_pool(program: Program, block: int) -> None:
    """Where pools differ in alignment, adds a step per pool; only that of the block's pool may differ from 0."""
    instance, name = program.instance, program.names.blocks[block]
    total: Expression = 0
    for pool, (low, high) in program.ranges.base[block].items():
        modulus = int(instance.modulus[block, pool])
        count, inside = (high - low) // modulus, program.is_in(block, pool)
        total = total + program.length(low) * inside
        if count:
            step = program.variable(
                f"step_{name}_{program.names.pools[pool]}",
                0,
                count,
                lambda at, pool=pool, low=low, modulus=modulus: (  # type: ignore[misc]
                    (int(at.offset[block]) - low) // modulus if at.pool[block] == pool else 0
                ),
                integer=True,
            )
            program.require(step - count * inside <= 0, f"steps_{name}_{program.names.pools[pool]}")
            total = total + program.length(modulus) * step
    program.require(program.offset[block] - total == 0, f"aligned_{name}")


def _tie_to_peaks(program: Program, block: int) -> None:
    height = int(program.instance.block_high[block])
    name = program.names.blocks[block]
    for pool, (_, high) in program.ranges.base[block].items():
        floor = program.ranges.peak[pool][0]
        if high + height <= floor:
            continue
        row = f"end_{name}_{program.names.pools[pool]}"
        gap = program.peak[pool] - program.offset[block]
        if (block, pool) in program.home:
            constant = program.constant(program.ranges.highest(block) + height - floor)
            program.require(gap - constant * program.home[block, pool] >= program.length(height) - constant, row)
        else:
            program.require(gap >= program.length(height), row)


def make_names(blocks: Sequence[str], pools: Sequence[str]) -> Names:
    """Names made safe and unique, as recognisable as possible."""
    return Names(_unique(blocks), _unique(pools))


def numbered(blocks: int, pools: int) -> Names:
    """Numbers as names, for programs that nobody reads."""
    return Names(tuple(map(str, range(blocks))), tuple(map(str, range(pools))))


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    used: set[str] = set()
    numbers: dict[str, int] = {}
    result = []
    for name in names:
        safe = re.sub(r"[^A-Za-z0-9_]", "_", name)[-LONGEST_NAME:]
        candidate = safe
        while candidate in used:
            numbers[safe] = numbers.get(safe, 1) + 1
            candidate = f"{safe}_{numbers[safe]}"
        used.add(candidate)
        result.append(candidate)
    return tuple(result)
