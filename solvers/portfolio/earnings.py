"""What each engine of a run has earned: its share of a round follows what it found and what it took before, both in counted work."""

from __future__ import annotations

from collections.abc import Container, Iterable

FULL = 4
"""Parts of a share. Of an engine that finds nothing while others do, half of them are left, and then a quarter."""
MOST_HALVINGS = 2


class Earnings:
    """Of the engines of one run, by name."""

    def __init__(self) -> None:
        self._idle: dict[str, int] = {}
        self._owed: dict[str, int] = {}

    def parts(self, name: str) -> int:
        """How many of a full share's parts it gets in the next round."""
        return FULL >> min(self._idle.get(name, 0), MOST_HALVINGS)

    def grant(self, name: str, work: int) -> int:
        """What it may spend of its share: what it took too much of before comes off."""
        owed = self._owed.get(name, 0)
        self._owed[name] = max(owed - work, 0)
        return max(work - owed, 0)

    def took(self, name: str, granted: int, work: int) -> None:
        """What it was granted, and what it took."""
        if work > granted:
            self._owed[name] = self._owed.get(name, 0) + work - granted

    def end_round(self, engines: Iterable[str], found: Container[str]) -> None:
        """These were asked, and those of them found or proved something. Where nobody did, all stay as they are."""
        engines = list(engines)
        if any(name in found for name in engines):
            for name in engines:
                self._idle[name] = 0 if name in found else self._idle.get(name, 0) + 1
