"""Tasks that wait for a worker process: next is one of the owner with the fewest at work, then of the one served longest ago. Large work leaves
room for small.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class _Waiting:
    owner: str
    is_large: bool
    number: int
    ready: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class WaitingLine:
    """Turns at `size` workers, some of which may have large work at a time."""

    def __init__(self, workers: int, large: int) -> None:
        self._free = workers
        self._free_for_large = large
        self._waiting: list[_Waiting] = []
        self._busy: Counter[str] = Counter()
        self._served: dict[str, int] = {}
        """When each owner had its last turn."""
        self._numbers = itertools.count()

    @contextlib.asynccontextmanager
    async def turn(self, owner: str, *, is_large: bool) -> AsyncIterator[None]:
        """Wait for a worker, and occupy it."""
        me = _Waiting(owner, is_large, next(self._numbers))
        self._waiting.append(me)
        self._call()
        try:
            await me.ready
        except asyncio.CancelledError:
            if me in self._waiting:
                self._waiting.remove(me)
            else:
                self._leave(me)
            raise
        try:
            yield
        finally:
            self._leave(me)

    def _call(self) -> None:
        """Call the next, as long as a worker is free."""
        while self._free:
            here = (each for each in self._waiting if not each.ready.done())  # others have just left
            may = [each for each in here if self._free_for_large or not each.is_large]
            if not may:
                return
            chosen = min(may, key=self._turn)
            self._waiting.remove(chosen)
            self._free -= 1
            self._free_for_large -= chosen.is_large
            self._busy[chosen.owner] += 1
            self._served[chosen.owner] = next(self._numbers)
            chosen.ready.set_result(None)

    def _turn(self, one: _Waiting) -> tuple[int, int, bool, int]:
        """Return the sort key: the least comes first. Among one owner's tasks, small ones do."""
        return self._busy[one.owner], self._served.get(one.owner, -1), one.is_large, one.number

    def _leave(self, one: _Waiting) -> None:
        self._free += 1
        self._free_for_large += one.is_large
        self._busy[one.owner] -= 1
        if not self._busy[one.owner]:
            del self._busy[one.owner]
        self._call()
