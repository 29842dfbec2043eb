"""The work of running an operator, and its cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .operators import Operator


@dataclass(frozen=True, slots=True)
class Work:
    """All runs of one operator; what stripes compute or read repeatedly counts repeatedly."""

    operator: Operator
    operations: int
    """Multiplications and additions as one, for whole blocks of the hardware."""
    bytes_read: int
    """The bytes of inputs and weights."""
    bytes_written: int
    runs: int


Cycles: TypeAlias = Callable[[Work], int]
"""The cost of the work in cycles."""


@dataclass(frozen=True, slots=True)
class Rates:
    """A simple machine: it computes, moves bytes, and starts runs, one after the other."""

    operations_per_cycle: int = 256
    bytes_per_cycle: int = 16
    cycles_per_run: int = 0

    def __call__(self, work: Work) -> int:
        computing = -(-work.operations // self.operations_per_cycle)
        moving = -(-(work.bytes_read + work.bytes_written) // self.bytes_per_cycle)
        return computing + moving + work.runs * self.cycles_per_run
