"""The plans that Vela prints (--verbose-allocation): a table for each memory, lifetimes inclusive at both ends."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...checks import sound_as_read
from ...checks.report import Report
from ...facts.names import Names
from ...model.columns import BufferColumns
from ...model.errors import Code
from ...model.gathered import Gathered
from ...model.problem import MAX_ADDRESS, Buffer, BufferId, Colocation, Constraints, Lifetimes, Pool, Problem
from ..text.lines import lines, require_any, times, whole

if TYPE_CHECKING:
    from ..documents import Source

MARK = b"Tensor Allocation for mem_area "
SAMPLE = "0 - 1: 0x0 - 0x40: 64: 64: FeatureMap: NHWC: name"
_HEAD = re.compile(r"Tensor Allocation for mem_area (\w{1,64})")
_ROW = re.compile(
    r"\s*(?P<first>\S{1,40}) - \s*(?P<last>\S{1,40}): \s*(?P<start>0x\S{1,40}) - \s*(?P<end>0x\S{1,40}): "
    r"\s*(?P<size>\S{1,40}): \s*\S{1,40}: (?P<purpose>[^:]{1,40}): [^:]{1,40}: (?P<name>.*)"
)


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem that was planned, with each table a memory; addresses are hints. Tensors of one address and lifetime are one buffer."""
    report = Report()
    pools: list[Pool] = []
    buffers = Gathered()
    tops = array("q")
    """The end address of each, for which -1 stands if it is none."""
    tables, tensors = Names(mark="#", first=2), Names(mark="#", first=2)
    for number, line in lines(source.data):
        head = _HEAD.search(line)
        if head is not None:
            pools.append(Pool(tables.new(head[1])))
            continue
        match = _ROW.fullmatch(line) if pools else None
        if match is None:
            if pools and " - " in line and "0x" in line and "Start Time" not in line and "Bytes" not in line:
                report.add(Code.INVALID_VALUE, ("lines", number), f"line {number} does not look like {SAMPLE}")
            continue
        first, last, start, end, size, purpose, name = match.groups()
        name = tensors.new(name.strip()[:1000] or "tensor")
        buffer = Buffer(
            name,
            whole(size, number, "the size", report),
            live=(times(first, last, number, report),),
            pools=(pools[-1].name,),
            hint=whole(start, number, "the address", report),
            kind=purpose.strip(),
        )
        buffers.add(buffer)
        tops.append(_number(end))
        if report.is_full:
            break
    report.raise_if_any()
    require_any(buffers, SAMPLE)
    del tensors
    every = buffers.all(pools)
    colocations = tuple(_alike(every, tops))
    every = every.kept() if colocations and isinstance(every, BufferColumns) else every
    constraints = Constraints(colocations=colocations)
    problem = Problem(every, tuple(pools), constraints, name="Vela's own plan", lifetimes=Lifetimes.HALF_OPEN)
    return sound_as_read(problem), ()


def _number(address: str) -> int:
    try:
        number = int(address, 16)
    except ValueError:
        return -1
    return number if 0 <= number <= MAX_ADDRESS else -1


def _alike(buffers: Sequence[Buffer], tops: array[int]) -> Iterator[Colocation]:
    """Tie each buffer to the first one of its memory that has the same lifetime and addresses."""
    if isinstance(buffers, BufferColumns) and _are_different(buffers, tops):
        return
    known: dict[object, BufferId] = {}
    for buffer, top in zip(buffers, tops, strict=True):
        first = known.setdefault((buffer.pools, buffer.live, buffer.hint, top), buffer.id)
        if buffer.size and first != buffer.id:
            yield Colocation(buffer.id, first, 0)


def _are_different(buffers: BufferColumns, tops: array[int]) -> bool:
    """True if no two have the same lifetime and addresses."""
    keys = (
        buffers.start,
        buffers.end,
        np.frombuffer(tops, np.int64),
        *(() if buffers.hints is None else (buffers.hints,)),
    )
    order = np.lexsort(keys)
    are_same = np.ones(len(order) - 1, bool)
    for key in keys:
        sorted_ = key[order]
        are_same &= sorted_[1:] == sorted_[:-1]
    return not are_same.any()
