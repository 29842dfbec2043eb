"""Wakes those that wait for something to happen to a job. The store has what happened: a wake-up only says that it is time to look."""

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
        """An event that is set whenever something happens to one of the jobs, from now on."""
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
        """How many jobs are waited for."""
        return len(self._waiters)

    def tell(self, id_: str | None) -> None:
        """Something has happened to the job; None: perhaps to any. May be called from any thread."""
        if id_ is None:
            self._loop.call_soon_threadsafe(self.tell_all)
        else:
            self._loop.call_soon_threadsafe(self._tell, id_)

    def tell_all(self) -> None:
        """Something has happened to everything: the service stops, say."""
        for id_ in list(self._waiters):
            self._tell(id_)

    def _tell(self, id_: str) -> None:
        for happened in self._waiters.get(id_, ()):
            happened.set()
