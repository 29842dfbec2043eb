"""Wakes those that wait for news of a job. The news is in the store: a wake-up only tells that it is time to look."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Hub:
    """Waiters of this process, by job."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiters: dict[str, set[asyncio.Event]] = {}

    @contextmanager
    def watch(self, *ids: str) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever something happens to one of the jobs, from now on."""
        happened = asyncio.Event()
        for id_ in ids:
            self._waiters.setdefault(id_, set()).add(happened)
        try:
            yield happened
        finally:
            for id_ in ids:
                waiters = self._waiters.get(id_, set())
                waiters.discard(happened)
                if not waiters:
                    self._waiters.pop(id_, None)

    def __len__(self) -> int:
        """Return the number of jobs with waiters."""
        return len(self._waiters)

    def tell(self, id_: str | None) -> None:
        """Wake the waiters of the job; None: of all jobs. Any thread may call this."""
        if id_ is None:
            self._loop.call_soon_threadsafe(self.tell_all)
        else:
            self._loop.call_soon_threadsafe(self._tell, id_)

    def tell_all(self) -> None:
        """Wake all waiters, for example because the service stops."""
        for id_ in list(self._waiters):
            self._tell(id_)

    def _tell(self, id_: str) -> None:
        for happened in self._waiters.get(id_, ()):
            happened.set()
