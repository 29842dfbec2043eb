"""The work of running an operator, and its cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import TypeAlias, TypeVar

from ...checks.arguments import Sound
from ...checks.report import Report, bad_input
from ...checks.values import check_number
from ...model.errors import Code, echo
from .operators import Operator

Done = TypeVar("Done")


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

    def require_sound(self) -> None:
        """Raise BadInput unless the machine works and moves bytes at all."""
        report = Report()
        check_number(report, ("cycles", "bytes_per_cycle"), self.bytes_per_cycle, 1)
        check_computing(report, self.operations_per_cycle, self.cycles_per_run)
        report.raise_if_any()


def check_computing(report: Report, operations_per_cycle: int, cycles_per_run: int) -> None:
    """Check what rates of all kinds say of computing."""
    check_number(report, ("cycles", "operations_per_cycle"), operations_per_cycle, 1)
    check_number(report, ("cycles", "cycles_per_run"), cycles_per_run)


def in_whole_cycles(cycles: Callable[[Done], int]) -> Callable[[Done], int]:
    """Return a caller's cost model that raises BadInput for costs that are no integers. Raises BadInput if the model says that it is wrong in itself."""
    if isinstance(cycles, Sound):
        cycles.require_sound()

    def counted(work: Done) -> int:
        cost = cycles(work)
        try:
            return index(cost)
        except TypeError:
            text = f"the cost of an operator's work must be an integer, not {echo(cost)}"
            raise bad_input(Code.WRONG_TYPE, ("cycles",), text) from None

    return counted
