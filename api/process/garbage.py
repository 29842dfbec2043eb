"""This process's unused memory: collected less often than by default, not kept in cycles, and returned to the system."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import traceback
from functools import cache
from typing import ClassVar

from . import machine

COLLECT_EVERY = 1_000_000
"""New objects between two collections. Nearly everything that a command or a task makes is needed to its end and then freed without
collection; collecting as often as by default takes a third of the time of reading a large problem.
"""
COLLECT_OFTEN = 10_000
"""The same for a service, and for a worker between two tasks. A service's connections and statements end as cycles of a kilobyte each, in asyncio and
SQLAlchemy.
"""
LARGE = 1 << 20
"""Blocks from this size on go back to the system at once. By default the allocator raises this size with every larger block."""
TRIM_BYTES = 8 << 20
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
ARENAS = 2
"""Threads share them: an arena for each would keep what it once needed."""


def collect_rarely() -> None:
    """Apply this to the whole process."""
    gc.set_threshold(COLLECT_EVERY)


def collect_often() -> None:
    """Apply this to the whole process, except to what exists already."""
    keep_what_exists()
    gc.set_threshold(COLLECT_OFTEN, 2, 2)


def keep_what_exists() -> None:
    """Leave out modules and all else that exists from any collection, which then takes a millisecond instead of a tenth of a second."""
    gc.freeze()


def keep_little() -> None:
    """Let large blocks go back to the system as soon as they are free, in the whole process; without effect if the C library lacks this."""
    tune = getattr(_c_library(), "mallopt", None)
    if tune is not None:
        tune(M_MMAP_THRESHOLD, LARGE)
        tune(M_ARENA_MAX, ARENAS)


def share_one_heap() -> None:
    """Let all threads of the process allocate from the same heap: unused memory at the end of any other does not go back to the system."""
    tune = getattr(_c_library(), "mallopt", None)
    if tune is not None:
        tune(M_ARENA_MAX, 1)


def give_back() -> None:
    """Return free memory between used blocks to the system."""
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


def unused() -> int:
    """Return this process's memory less what is in use, as far as the C library tells: free blocks, and whatever it does not hand out itself."""
    tell = getattr(_c_library(), "mallinfo2", None)
    if tell is None:
        return machine.resident()
    tell.restype = _Blocks
    blocks = tell()
    in_use: int = blocks.uordblks + blocks.hblkhd
    return machine.resident() - in_use


class _Blocks(ctypes.Structure):
    """The C library's `struct mallinfo2`: bytes in use are `uordblks`, and `hblkhd` for blocks with pages of their own."""

    _fields_: ClassVar = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    ]


class Trimmer:
    """Returns the process's unused memory to the system, as soon as there is much of it."""

    def __init__(self, *, collects: bool) -> None:
        """`collects`: whether it may collect garbage first, during which nothing else runs."""
        self._collects = collects
        self._needed = machine.resident()
        """The memory that the process keeps: if it has little more, there is nothing to do, and finding that out takes microseconds."""
        self._left = unused()
        """The unused memory that cannot be returned."""

    def trim(self) -> None:
        has_grown = machine.resident() > self._needed + TRIM_BYTES
        if self._collects and (has_grown or gc.get_count()[0] > COLLECT_OFTEN):
            gc.collect()
        if has_grown:
            self._return_unused()
        if has_grown and self._collects:
            self._needed = machine.resident()
        else:  # in the midst of a burst, memory is in use that will be free after it
            self._needed = min(self._needed, machine.resident())

    def _return_unused(self) -> None:
        found = unused()
        if found > self._left + TRIM_BYTES:
            give_back()
            self._left = unused()
        else:
            self._left = min(self._left, found)


@cache
def _c_library() -> ctypes.CDLL | None:
    with contextlib.suppress(OSError):
        return ctypes.CDLL(None)
    return None


def forget_frames(error: BaseException | None) -> None:
    """Clear the frames of a handled error and its predecessors: what they refer to would live as long as they do."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if error.__traceback__ is not None:
            traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
