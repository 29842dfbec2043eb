"""omnimalloc: its default allocator, a portfolio of greedy orders, and then its branch and bound for the remaining time."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from ...model.errors import StopReason, Unsupported
from ...model.instance import ADDRESS_LIMIT, Instance
from ...model.libraries import OMNIMALLOC, Library, require_available
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Input, Solver, Task
from .best import Best, deadline_of
from .boxes import Boxes, boxes_of

LEAVING_SECONDS = 0.1
"""Part of the time limit that is kept for passing on the result."""
LEAST_SECONDS = 0.01
"""The least time limit: it does not take 0."""
CERTAIN_SECONDS = 0.1
"""Only its clock tells whether it searched everything or ran out of time: an end this close to the limit counts as the latter."""


class Omnimalloc(Solver):
    """Knows sizes and lifetimes. One alignment for all buffers is handled by counting in multiples of it."""

    name: ClassVar[str] = "omnimalloc"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})
    wants: ClassVar[Input] = Input.AS_WRITTEN
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (OMNIMALLOC,)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        require_available(self)
        boxes = boxes_of(self.name, instance)
        return _Run(boxes, _one_alignment(boxes), task, control).run()


def _one_alignment(boxes: Boxes) -> int:
    """The unit to count in. Raises Unsupported if there are several alignments."""
    found = set(boxes.alignment) or {1}
    if len(found) > 1:
        raise Unsupported(Omnimalloc.name, "it takes one alignment for all buffers")
    unit = found.pop()
    if sum(-(-size // unit) for size in boxes.size) * unit >= ADDRESS_LIMIT:
        raise Unsupported(Omnimalloc.name, "the sizes, rounded up to the alignment, add up to 2^62 bytes or more")
    return unit


class _Run:
    """Runs both allocators on one set of boxes."""

    def __init__(self, boxes: Boxes, unit: int, task: Task, control: Control) -> None:
        self._boxes = boxes
        self._unit = unit
        self._best = Best(boxes, task, control)
        self._deadline = deadline_of(task)
        self._threads = task.limits.workers

    def run(self) -> Outcome:
        if not self._boxes.size:
            return self._ended(self._best.offer([]) or StopReason.WORK_LIMIT)
        import omnimalloc

        omnimalloc.set_max_threads(self._threads)
        columns = zip(self._boxes.size, self._boxes.start, self._boxes.end, strict=True)
        wanted = tuple(
            omnimalloc.Allocation(i, -(-size // self._unit), start, end) for i, (size, start, end) in enumerate(columns)
        )
        stop = self._offer(omnimalloc.allocate(wanted))
        return self._search(wanted) if stop is None else self._ended(stop)

    def _search(self, wanted: tuple[Any, ...]) -> Outcome:
        from omnimalloc.allocators import SupermallocAllocator

        begun = time.monotonic()
        seconds = None if self._deadline is None else max(self._deadline - begun - LEAVING_SECONDS, LEAST_SECONDS)
        found = SupermallocAllocator(timeout=seconds, num_threads=self._threads).solve(wanted)
        left = None if seconds is None else begun + seconds - time.monotonic()
        stop = self._offer(found.allocations)
        if not found.proved_optimal or (left is not None and left < CERTAIN_SECONDS):
            return self._ended(stop or StopReason.TIME_LIMIT)
        # It counts in units, so ends within its last unit are equal to it.
        return self._ended(stop or StopReason.WORK_LIMIT, proven=(found.peak - 1) * self._unit + 1)

    def _offer(self, allocations: Any) -> StopReason | None:
        at = {one.id: one.offset * self._unit for one in allocations}
        return self._best.offer([at[i] for i in range(len(self._boxes.size))])

    def _ended(self, stop: StopReason, *, proven: int = 0) -> Outcome:
        # With several threads, the first one decides.
        return self._best.outcome(Omnimalloc.name, stop, proven=proven, reproducible=self._threads == 1)
