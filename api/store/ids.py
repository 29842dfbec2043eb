"""Ids of jobs: nobody can guess them, and they sort in the order in which they were made."""

from __future__ import annotations

import secrets
import threading
import time

TICKS = 4096
"""So many ids a millisecond have an order by themselves; those beyond borrow from the next one."""


class Ids:
    """Those of one process sort exactly, those of several by their clocks."""

    def __init__(self) -> None:
        self._last = 0
        self._turn = threading.Lock()

    def new(self) -> str:
        now = time.time_ns() * TICKS // 1_000_000
        with self._turn:
            self._last = max(now, self._last + 1)
            return f"{self._last:014x}{secrets.randbits(84):021x}"


new_id = Ids().new
