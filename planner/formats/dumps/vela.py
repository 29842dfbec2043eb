"""The plans that Vela prints (--verbose-allocation): a table for each memory, lifetimes inclusive at both ends.

Vela prints `Allocation, memory Sram, …`; with its older core (--debug-force-legacy-core) `Tensor Allocation for mem_area Sram, …`, and the purpose of each
tensor. The line above a table names its columns, since some versions leave out the format. Other tables hold what is only read (weights, command
streams), which is not planned.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.model.instance import Ints

from ...checks import sound_as_read
from ...checks.report import Report
from ...facts.names import Names
from ...model.columns.buffers import BufferColumns
from ...model.columns.gathered import Gathered
from ...model.columns.relations import tie_columns
from ...model.columns.varied import VariedColumns
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, Buffer, BufferId, Colocation, Constraints, Lifetimes, Problem
from ..text.lines import integer, lines, require_any, times, whole
from .shared_places import OwnPlan

if TYPE_CHECKING:
    from ..documents import Source

ALIGNMENT = 16
"""The alignment of all tensors, unless Vela is told another."""
_BEFORE = "0 - 1: 0x0 - 0x40: 64: 64: "
"""A row without its last columns."""
SAMPLE = f"{_BEFORE}NHWC: name"
_HEAD = re.compile(r"Allocation, memory (?P<new>\w{1,64})|Tensor Allocation for (?:mem_area (?P<old>\w{1,64}))?")
_READ_ONLY = re.compile(r"\b(?:Permanent_[NC]PU|ReadOnly)\b")
_OTHERS = "_flash"
"""How the older core names a tensor that holds all those of another table."""
_END = "Allocation Peak"
"""Begins the line below a table."""
_ROW = (
    r"\s*(?P<first>\S{1,40}) - \s*(?P<last>\S{1,40}): \s*(?P<start>0x\S{1,40}) - \s*(?P<end>0x\S{1,40}): "
    r"\s*(?P<size>\S{1,40}): \s*\S{1,40}: "
)
_BEGUN = re.compile(r"\s*[0-9]{1,40} - ")
"""How a row begins."""
_COLUMNS = re.compile(
    r"Start Time *-[^:]{1,40}: *Start Addr *-[^:]{1,40}:[^:]{1,40}:[^:]{1,40}:(?P<more>(?:[\w ]{1,40}:){0,8}) *Name *"
)
"""The line above a table."""
_NEW, _OLD = ("Format",), ("Purpose", "Format")
"""The columns between the numbers and the name, where that line is missing."""


class _Shape:
    """What the rows of a table look like."""

    def __init__(self, columns: Sequence[str]) -> None:
        """`columns`: those between the numbers and the name."""
        cells = ["[^:]{1,40}: "] * len(columns)
        if "Purpose" in columns:
            cells[columns.index("Purpose")] = "(?P<purpose>[^:]{1,40}): "
        self.pattern = re.compile(f"{_ROW}{''.join(cells)}(?P<name>.*)")
        self.sample = f"{_BEFORE}{''.join(f'{name}: ' for name in columns)}name"


class _Row(NamedTuple):
    """A tensor, in the words of the log."""

    memory: str | None
    """None: it is only read."""
    line: int
    match: re.Match[str]

    def size(self, report: Report) -> int:
        return whole(self.match["size"], self.line, "the size", report)


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem that was planned, with each table a memory; addresses are hints. Tensors of one address and lifetime are one buffer."""
    report = Report()
    buffers, own = Gathered(), OwnPlan()
    tops = array("q")
    """The end address of each, for which -1 stands if it is none."""
    tensors = Names(mark="#", first=2)
    for row in _rows(source.data, report):
        if row.memory is None:
            continue
        first, last, start, end = row.match.group("first", "last", "start", "end")
        size, hint = row.size(report), whole(start, row.line, "the address", report)
        buffer = Buffer(
            tensors.new(row.match["name"].strip()[:1000] or "tensor"),
            size,
            live=(times(first, last, row.line, report),),
            pools=(row.memory,),
            hint=hint,
            kind=(row.match.groupdict().get("purpose") or "").strip() or None,
        )
        buffers.add(buffer)
        own.add(row.memory, hint, size)
        top = integer(end)
        tops.append(top if top is not None and 0 <= top <= MAX_ADDRESS else -1)
    report.raise_if_any()
    require_any(buffers, SAMPLE)
    del tensors
    pools = own.pools(ALIGNMENT)
    every = buffers.all(pools)
    colocations = _alike(every, tops)
    every = every.kept() if colocations and isinstance(every, BufferColumns) else every
    constraints = Constraints(colocations=colocations)
    name = f"Vela's own plan: {own}"
    return sound_as_read(Problem(every, pools, constraints, name=name, lifetimes=Lifetimes.HALF_OPEN)), ()


def constants(source: Source) -> tuple[int, int]:
    """Return the number of tensors that are only read, and their bytes."""
    report = Report()
    read_only = (row for row in _rows(source.data, report) if row.memory is None)
    sizes = [row.size(report) for row in read_only if not row.match["name"].endswith(_OTHERS)]
    return len(sizes), sum(sizes)


def _rows(data: bytes, report: Report) -> Iterator[_Row]:
    """Yield every tensor of every table."""
    memories = Names(mark="#", first=2)
    memory: str | None = None
    shape: _Shape | None = None
    """None between tables."""
    for number, line in lines(data):
        head = _HEAD.search(line)
        if head is not None:
            name = head["new"] or head["old"]
            memory = None if name is None or _READ_ONLY.search(line) else memories.new(name)
            shape = _Shape(_OLD if head["old"] else _NEW)
        elif line.startswith(_END):
            shape = None
        elif shape is not None:
            match = shape.pattern.fullmatch(line)
            if match is not None:
                yield _Row(memory, number, match)
            elif (columns := _COLUMNS.fullmatch(line)) is not None:
                shape = _Shape([name.strip() for name in columns["more"].split(":")[:-1]])
            elif _BEGUN.match(line) or (" - " in line and "0x" in line):
                report.add(Code.INVALID_VALUE, ("lines", number), f"line {number} does not look like {shape.sample}")
        if report.is_full:
            return


def _alike(buffers: Sequence[Buffer], tops: array[int]) -> Sequence[Colocation]:
    """Tie each buffer to the first one of its memory that has the same lifetime and addresses."""
    if isinstance(buffers, BufferColumns | VariedColumns):
        return _alike_in_columns(buffers, np.frombuffer(tops, np.int64))
    known: dict[object, BufferId] = {}
    found: list[Colocation] = []
    for buffer, top in zip(buffers, tops, strict=True):
        first = known.setdefault((buffer.pools, buffer.live, buffer.hint, top), buffer.id)
        if buffer.size and first != buffer.id:
            found.append(Colocation(buffer.id, first, 0))
    return tuple(found)


def _alike_in_columns(buffers: BufferColumns | VariedColumns, tops: Ints) -> Sequence[Colocation]:
    """Return the same for buffers of one lifetime each."""
    keys = [buffers.start, buffers.end, tops]
    if buffers.hints is not None:
        keys.append(buffers.hints)
    if isinstance(buffers, VariedColumns):
        lists = {each.pools: i for i, each in enumerate(buffers.sayings)}
        keys.append(np.array([lists[each.pools] for each in buffers.sayings])[buffers.said])
    order = np.lexsort(keys)  # which leaves those alike in their order
    is_first = np.zeros(len(order), bool)
    is_first[0] = True
    for key in keys:
        sorted_ = key[order]
        is_first[1:] |= sorted_[1:] != sorted_[:-1]
    if is_first.all():
        return ()
    base = np.empty_like(order)
    base[order] = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]]
    tied = np.flatnonzero((base != np.arange(len(base))) & (buffers.size > 0))
    return tie_columns(buffers.ids, tied, base[tied], np.broadcast_to(np.int64(0), tied.shape))
