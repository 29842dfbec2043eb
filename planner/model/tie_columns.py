"""Many colocations as columns of numbers: objects are made on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from solvers.model.instance import Ints

from .columns import FEW, Kept, KeptColumns, NumberColumns
from .problem import BufferId, Colocation, Problem


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TieColumns(KeptColumns[Colocation]):
    """What ties rows of buffers to each other. The arrays never change."""

    ids: Sequence[BufferId]
    """Those of the rows."""
    buffer: Ints
    base: Ints
    offset: Ints
    _kept: Kept[Colocation] = field(default_factory=Kept, init=False)

    def __len__(self) -> int:
        return len(self.offset)

    def row(self, i: int) -> Colocation:
        return Colocation(self.ids[int(self.buffer[i])], self.ids[int(self.base[i])], int(self.offset[i]))

    def made(self) -> Iterator[Colocation]:
        ids = [*self.ids]
        for buffer, base, offset in zip(self.buffer.tolist(), self.base.tolist(), self.offset.tolist(), strict=True):
            yield Colocation(ids[buffer], ids[base], offset)


def tie_columns(ids: Sequence[BufferId], buffer: Ints, base: Ints, offset: Ints) -> Sequence[Colocation]:
    """Return the colocations, as objects if they are few."""
    columns = TieColumns(ids, buffer, base, offset)
    return columns if len(columns) > FEW else tuple(columns.made()) if len(columns) else ()


def own_ties(problem: Problem) -> TieColumns | None:
    """Return the problem's colocations if they are columns that name its buffers by their rows."""
    ties, buffers = problem.constraints.colocations, problem.buffers
    is_own = isinstance(ties, TieColumns) and isinstance(buffers, NumberColumns) and ties.ids is buffers.ids
    return ties if is_own else None  # type: ignore[return-value]  # mypy does not follow the name
