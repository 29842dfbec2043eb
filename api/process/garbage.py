"""Memory of this process that is not needed any more: looked for less often than Python does by itself, not kept in circles, and given back."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import traceback
from functools import cache

from . import machine

COLLECT_EVERY = 1_000_000
"""New objects between two looks. Of what a command or a task makes almost all is needed to its end, and then goes without being looked for:
looking as often as usual takes a third of the time of reading a large problem."""
LARGE = 1 << 20
"""From this size on a block is the system's, and goes back to it at once. By itself the allocator raises that size with every block it sees."""
TRIM_BYTES = 16 << 20
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
ARENAS = 2
"""Threads share them: each of its own would keep what it once needed."""


def collect_rarely() -> None:
    """For this whole process."""
    gc.set_threshold(COLLECT_EVERY)


def keep_little() -> None:
    """Have large blocks go back to the system as soon as they are free. For this whole process; nothing where the C library knows no such thing."""
    tune = getattr(_c_library(), "mallopt", None)
    if tune is not None:
        tune(M_MMAP_THRESHOLD, LARGE)
        tune(M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Give the system what is free between blocks that are in use."""
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


class Trimmer:
    """Gives back what this process has more than it once had, as soon as that is worth the while."""

    def __init__(self, *, collects: bool) -> None:
        """`collects`: may it look for garbage first, while which nothing else runs?"""
        self._collects = collects
        self._least = machine.resident()

    def trim(self) -> None:
        """Takes milliseconds where there is something to give back, and microseconds where there is nothing."""
        if machine.resident() > self._least + TRIM_BYTES:
            if self._collects:
                gc.collect()
            give_back()
            self._least = machine.resident()
        self._least = min(self._least, machine.resident())


@cache
def _c_library() -> ctypes.CDLL | None:
    with contextlib.suppress(OSError):
        return ctypes.CDLL(None)
    return None


def forget_frames(error: BaseException | None) -> None:
    """Of an error that has been dealt with, and of those before it: what their frames refer to would live as long as they do."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if error.__traceback__ is not None:
            traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
