"""Names for C, C++ and linker scripts, and numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import lcm
from typing import NamedTuple

from ...checks.report import bad_input, in_comment, printable, quoted
from ...facts.names import Names
from ...facts.variants import as_chosen
from ...model.errors import Code
from ...model.plan import Placement, Plan, PoolUse
from ...model.problem import Pool, Problem

MOST_CHARACTERS = 48
"""The longest name derived from a longer one."""
PREFIX = "memplan"
LARGEST_ALIGNMENT = 1 << 28
"""That object files know."""
SUFFIXES = ("_start", "_end", "_capacity")
"""Of the linker script's symbols, which must not be the arrays of other memories."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Memory(NamedTuple):
    """A pool and its contents in the plan."""

    name: str
    """The name in C."""
    pool: Pool
    use: PoolUse
    alignment: int
    """The required alignment of the memory's first byte, so that every buffer is aligned."""
    buffers: tuple[tuple[str, Placement], ...]
    """By address, with their names in C."""

    @property
    def peak(self) -> int:
        return self.use.peak or 0

    @property
    def phase(self) -> int:
        """The remainder that the address of the memory's first byte has to leave."""
        return (self.pool.base or 0) % self.alignment

    def require_alignment(self) -> None:
        """Raise BadInput unless compilers and linkers can align to it."""
        if self.alignment & (self.alignment - 1) or self.alignment > LARGEST_ALIGNMENT:
            text = f"the buffers in {quoted(self.use.name)} need an alignment of {self.alignment}, and compilers and linkers know powers of two up to {LARGEST_ALIGNMENT}"
            raise bad_input(Code.UNSUPPORTED, (), text)


def memories(problem: Problem, plan: Plan) -> tuple[Memory, ...]:
    """Return the pools in the plan's order."""
    problem = as_chosen(problem, plan)
    pools = {pool.name: pool for pool in problem.pools}
    wanted = {buffer.id: buffer.alignment for buffer in problem.buffers}
    ids = unique(str(placement.id) for placement in plan.placements)
    found: dict[str, list[tuple[str, Placement]]] = {use.name: [] for use in plan.pools}
    for name, placement in zip(ids, plan.placements, strict=True):
        found[placement.pool].append((name, placement))
    made = []
    names = unique((use.name for use in plan.pools), SUFFIXES)
    for name, use in zip(names, plan.pools, strict=True):
        held = sorted(found[use.name], key=lambda each: (each[1].offset, each[1].size))
        alignment = lcm(pools[use.name].alignment, *(wanted.get(each.id, 1) for _, each in held))
        made.append(Memory(name, pools[use.name], use, alignment, tuple(held)))
    return tuple(made)


def unique(names: Iterable[str], suffixes: Sequence[str] = ()) -> Iterator[str]:
    """Return each name reduced to letters, digits and underscores, with a number appended if another gives the same, with one of the suffixes or without."""
    made = Names(mark="_", first=2)
    taken = set[str]()
    for name in names:
        base = (
            re.sub(r"[^A-Za-z0-9]+", "_", name[: 4 * MOST_CHARACTERS]).strip("_").lower()[:MOST_CHARACTERS].rstrip("_")
            or "buffer"
        )
        found = made.new(base)
        while any(found + suffix in taken or found.removesuffix(suffix) in taken for suffix in suffixes):
            found = made.new(base)
        taken.add(found)
        yield found


def section_of(prefix: str, memory: Memory) -> str:
    """Return the section of a memory in object files. Compilers and linkers keep no bytes for sections of this beginning."""
    return f".bss.{prefix}.{memory.name}"


def require_prefix(prefix: str) -> str:
    """Raise BadInput unless it is a valid prefix of C names."""
    if not _IDENTIFIER.fullmatch(prefix):
        raise bad_input(Code.INVALID_OPTION, (), f"prefix must be a name of C, not {quoted(prefix)}")
    return prefix


def remark(text: object) -> str:
    """Return text for a comment of C, which it can neither end nor nest."""
    return in_comment(printable(str(text)))
