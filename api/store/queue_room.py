"""How many more jobs may be queued: counted now and then, and not for every job, since to count thousands takes longer than to add one."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from .records import QueueLimits

SHARE = 8
"""Of the room that was counted, one part in so many may be filled before it is counted again: other processes fill it as well."""
SECONDS = 1.0
"""After so long it is counted again anyway."""


@dataclass(slots=True)
class _Places:
    left: int
    until: float
    """On time.monotonic()."""


class Room:
    """What this process may still add without counting: of one owner's jobs, and of all owners' together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[tuple[str | None, QueueLimits], _Places] = {}

    def take(self, owner: str, limits: QueueLimits) -> bool:
        """A place for a job. False: it is not known whether there is one."""
        with self._lock:
            now = time.monotonic()
            found = [self._places.get((whose, limits)) for whose in (owner, None)]
            if any(places is None or places.left < 1 or places.until < now for places in found):
                return False
            for places in found:
                assert places is not None
                places.left -= 1
            return True

    def counted(self, owner: str, limits: QueueLimits, mine: int, everybody: int) -> None:
        """There was room for so many more."""
        until = time.monotonic() + SECONDS
        with self._lock:
            self._places[owner, limits] = _Places(mine // SHARE, until)
            self._places[None, limits] = _Places(everybody // SHARE, until)
