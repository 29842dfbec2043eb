"""idealloc's binary files (.plc): eight big-endian words of 64 bits per buffer.

They are its number, birth, death, size, heap, offset there, alignment (0: none) and requested size. A buffer is needed between its birth and
its death; one that dies when another is born does not meet it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ...checks import sound_as_read
from ...checks.report import Report, bad_input
from ...facts.intervals import merged
from ...facts.names import numbers
from ...model.columns.gathered import Gathered
from ...model.columns.pools import named_pools
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TIME, Buffer, Lifetimes, Problem
from ..memories import in_one_memory, ties, with_aligned_buffers

if TYPE_CHECKING:
    from ..documents import Source

_RECORD = struct.Struct(">8Q")
_FIELDS = (
    ("id", MAX_ADDRESS),
    ("birth", MAX_TIME - 1),
    ("death", MAX_TIME - 1),
    ("size", MAX_ADDRESS),
    ("heap", (1 << 64) - 1),
    ("offset", MAX_ADDRESS),
    ("alignment", MAX_ADDRESS),
)
SEEN = 4
"""The number of records by which such a file is recognised."""


def looks_like(data: bytes) -> bool:
    """True if its first records make sense. Numbers from real programs leave the first byte of a word empty."""
    if not data or len(data) % _RECORD.size:
        return False
    for at in range(0, min(len(data), SEEN * _RECORD.size), _RECORD.size):
        words = _RECORD.unpack_from(data, at)
        if max(words) >> 56 or words[1] >= words[2] or not words[3]:
            return False
    return True


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem; each heap is a memory, and the buffers' places are hints."""
    if not source.data or len(source.data) % _RECORD.size:
        text = f"it must hold records of {_RECORD.size} bytes, and has {len(source.data)} bytes"
        raise bad_input(Code.UNREADABLE, ("bytes", len(source.data)), text)
    report = Report()
    buffers = Gathered()
    heaps: dict[int, str] = {}
    known: set[int] = set()
    for row, words in enumerate(_RECORD.iter_unpack(source.data)):
        tick("reading")
        at = row * _RECORD.size
        for number, (name, most) in enumerate(_FIELDS):
            if words[number] > most:
                text = f"byte {at + 8 * number}: the {name} {words[number]} is out of range"
                report.add(Code.OUT_OF_RANGE, ("bytes", at + 8 * number), text)
        id_, birth, death, size, heap, offset, alignment, _ = words
        if death < birth:
            text = f"byte {at + 16}: the death {death} comes before the birth, {birth}"
            report.add(Code.INTERVAL_REVERSED, ("bytes", at + 16), text)
        if id_ in known:
            report.add(Code.DUPLICATE_ID, ("bytes", at), f"byte {at}: there is another buffer {id_}")
        if report.is_full:
            break
        known.add(id_)
        home = heaps.setdefault(heap, f"heap {len(heaps) + 1}")
        live = ((birth, max(birth, death)),)
        buffers.add(Buffer(id_, size, max(alignment, 1), live=live, pools=(home,), hint=offset))
    report.raise_if_any()
    known.clear()
    pools = named_pools(heaps.values())
    heaps.clear()
    every = buffers.all(pools)
    return sound_as_read(Problem(every, pools, lifetimes=Lifetimes.HALF_OPEN)), ()


def write(problem: Problem) -> bytes:
    """Return the records: each memory is a heap, ids that are not numbers get some, and sizes of memories are lost. Raises BadInput for the rest."""
    problem = with_aligned_buffers(in_one_memory(problem))
    report = Report()
    for place, name in ties(problem):
        report.add(Code.UNSUPPORTED, place, f"such files have no {name}")
    for i, pool in enumerate(problem.pools):
        if pool.reserved or pool.base or pool.alignment > 1:
            text = "such files say nothing of a memory: no reserved ranges, no address, no alignment of its own"
            report.add(Code.UNSUPPORTED, ("pools", i), text)
    heaps = {pool.name: number for number, pool in enumerate(problem.pools)}
    ids = numbers((buffer.id for buffer in problem.buffers), MAX_ADDRESS)
    records = [_record(buffer, i, ids[buffer.id], heaps, report) for i, buffer in enumerate(problem.buffers)]
    report.raise_if_any()
    return b"".join(records)


def _record(buffer: Buffer, i: int, number: int, heaps: dict[str, int], report: Report) -> bytes:
    live = merged(buffer.live or ())
    homes = [*heaps] if buffer.pools is None else buffer.pools
    if buffer.live is None:
        report.add(Code.LIFETIMES_MISSING, ("buffers", i, "live"), "a record has a lifetime, and this has none")
    elif len(live) > 1 or (live and live[0][0] < 0):
        report.add(Code.UNSUPPORTED, ("buffers", i, "live"), "a record has one lifetime, from 0 at the earliest")
    elif len(homes) != 1 or buffer.fixed is not None or buffer.max_offset is not None:
        report.add(Code.UNSUPPORTED, ("buffers", i), "a record has one heap, and may be anywhere in it")
    else:
        ((birth, death),) = live or ((0, 0),)
        words = (number, birth, death, buffer.size, heaps[homes[0]], buffer.hint or 0, buffer.alignment, buffer.size)
        return _RECORD.pack(*words)
    return b""
