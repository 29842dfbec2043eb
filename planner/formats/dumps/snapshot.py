"""PyTorch's memory snapshots as JSON (`json.dump(torch.cuda.memory._snapshot(), file)`): each allocation is a buffer, each event a step.

The history (`device_traces`) tells what was allocated and freed. What is in use at the end (`segments`) and not in the history was in use
throughout. Only JSON is read. The pickle that PyTorch writes can run code when loaded, and is never loaded.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...checks import sound_as_read
from ...checks.report import Place, Report, bad_input, cut, printable, quoted
from ...model.columns.gathered import Gathered
from ...model.deadline import in_time
from ...model.errors import MAX_FINDINGS, Code
from ...model.problem import MAX_ADDRESS, Buffer, Lifetimes, Pool, Problem

if TYPE_CHECKING:
    from ..documents import Source

ENDS = ("free_completed", "free")
"""The events at which freed memory is really free: another stream may have used it until then."""
GROWS, SHRINKS = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
OTHERS = ("free_requested", "oom", "snapshot", "workspace_snapshot", "user_defined")
ACTIONS = frozenset(("alloc", *ENDS, *GROWS, *SHRINKS, *OTHERS))
USED = ("active_allocated", "active_awaiting_free", "active_pending_free")
STATES = frozenset((*USED, "inactive"))
MOST_DEVICES = 1024
ALIGNMENT = 512
"""What PyTorch's allocator aligns all blocks to."""


class _Piece(NamedTuple):
    """Memory in use: its buffer's name, its size, and the event at which it began."""

    name: str
    size: int
    start: int


class _Used:
    """What is in use on a device when the snapshot is taken, in columns."""

    def __init__(self) -> None:
        self._addresses, self._sizes = array("Q"), array("q")
        self._labels: list[str] = []

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        """Yield address, size and label of each."""
        return zip(self._addresses, self._sizes, self._labels, strict=True)

    def add(self, address: int, size: int, label: str) -> None:
        self._addresses.append(address)
        self._sizes.append(size)
        self._labels.append(label)

    @property
    def step(self) -> int:
        """Return the largest number of which all addresses are multiples."""
        return int(np.gcd.reduce(np.frombuffer(self._addresses, np.uint64))) if self._labels else 0

    @property
    def twice(self) -> set[int]:
        """Return the numbers of those whose address another has before them; of many the first."""
        addresses = np.frombuffer(self._addresses, np.uint64)
        order = np.argsort(addresses, kind="stable")
        again = np.sort(order[1:][addresses[order[1:]] == addresses[order[:-1]]])
        return {*again[:MAX_FINDINGS].tolist()}


class _Held(NamedTuple):
    """What a device holds when the snapshot is taken."""

    reserved: int
    used: _Used


NOTHING = _Held(0, _Used())


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem, with a memory for each device. Earlier allocations live from the beginning, unfreed ones to the end."""
    document = source.loaded(("device_traces", None), ("segments",), ("segments", None, "blocks"))
    report = Report()
    if not isinstance(document, dict):
        raise bad_input(Code.WRONG_TYPE, (), "must be an object")
    traces = _list(document, "device_traces", (), "lists of events")
    held = _held(_list(document, "segments", (), "segments", []), report)
    devices = max([len(traces), *(device + 1 for device in held)])
    pools: list[Pool] = []
    buffers = Gathered()
    reserved = 0
    for device in range(devices):
        events = traces[device] if device < len(traces) else []
        if not isinstance(events, list):
            report.add(Code.WRONG_TYPE, ("device_traces", device), "must be a list of events")
        elif events or device in held:
            name = f"device {device}"
            trace = _Trace(f"{device}/" if devices > 1 else "", ("device_traces", device), report, name, buffers)
            trace.follow(events, held.get(device, NOTHING))
            pools.append(Pool(name, alignment=gcd(ALIGNMENT, trace.step)))
            reserved += trace.reserved
    report.raise_if_any()
    title = f"PyTorch's own allocator: {reserved} bytes" if reserved > 0 else None
    used = tuple(pools) or (Pool("device 0"),)
    every = buffers.all(used)
    return sound_as_read(Problem(every, used, name=title, lifetimes=Lifetimes.HALF_OPEN)), ()


class _Trace:
    """The history of one device."""

    def __init__(self, prefix: str, place: Place, report: Report, pool: str, buffers: Gathered) -> None:
        """`buffers` receives what was in use."""
        self._prefix, self._place, self._report = prefix, place, report
        self._pools, self._buffers = (pool,), buffers
        self._count = 0
        self.reserved = 0
        """The most that the allocator held at a time."""
        self.step = 0
        """The largest number of which all addresses are multiples; 0 if all are 0."""

    def follow(self, events: list[Any], held: _Held) -> None:
        """Replay the events, up to what is held at the end."""
        begun: dict[int, _Piece] = {}
        grown = most = 0
        for step, event in enumerate(in_time(events, "reading", "event")):
            if self._report.is_full:
                break
            place = (*self._place, step)
            action = event.get("action") if isinstance(event, dict) else None
            if not isinstance(action, str) or action not in ACTIONS:
                self._report.add(Code.INVALID_VALUE, (*place, "action"), f"there is no such event: {quoted(action)}")
            elif action == "alloc":
                self._begin(event, step, begun)
            elif action in ENDS:
                self._end(event, step, begun)
            elif action in GROWS or action in SHRINKS:
                size = _number(event, "size", place, self._report)
                grown += size if action in GROWS else -size
                most = max(most, grown)
        end = max(len(events), 1)
        for piece in begun.values():
            self._add(piece, end)
        self.step = gcd(self.step, held.used.step)
        for address, size, label in held.used:
            if address not in begun:
                self._add(self._piece(size, 0, label), end)
        self.reserved = held.reserved - grown + most

    def _begin(self, event: dict[str, Any], step: int, begun: dict[int, _Piece]) -> None:
        place = (*self._place, step)
        address = _number(event, "addr", place, self._report)
        if address in begun:
            text = f"there is something at address {address:#x} already"
            self._report.add(Code.DUPLICATE_ID, (*place, "addr"), text)
        self.step = gcd(self.step, address)
        begun[address] = self._piece(_number(event, "size", place, self._report), step, _label(event))

    def _end(self, event: dict[str, Any], step: int, begun: dict[int, _Piece]) -> None:
        place = (*self._place, step)
        piece = begun.pop(_number(event, "addr", place, self._report), None)
        if piece is None:
            piece = self._piece(_number(event, "size", place, self._report), 0, _label(event))
        self._add(piece, step + 1)

    def _add(self, piece: _Piece, end: int) -> None:
        self._buffers.add(Buffer(piece.name, piece.size, live=((piece.start, end),), pools=self._pools))

    def _piece(self, size: int, start: int, label: str) -> _Piece:
        self._count += 1
        return _Piece(f"{self._prefix}{self._count}{label}", size, start)


def _held(segments: list[Any], report: Report) -> dict[int, _Held]:
    """Return what each device holds."""
    reserved: dict[int, int] = {}
    used: dict[int, _Used] = {}
    for i, segment in enumerate(in_time(segments, "reading", "segment")):
        if report.is_full:
            break
        place: Place = ("segments", i)
        if not isinstance(segment, dict):
            report.add(Code.WRONG_TYPE, place, "must be an object")
            continue
        device = _number(segment, "device", place, report, 0)
        if device >= MOST_DEVICES:
            report.add(Code.OUT_OF_RANGE, (*place, "device"), f"there are at most {MOST_DEVICES} devices")
            continue
        reserved[device] = reserved.get(device, 0) + _number(segment, "total_size", place, report)
        there = used.setdefault(device, _Used())
        for _, address, piece in _blocks(segment, place, report):
            there.add(address, *piece)
    if not report:
        _check_addresses(segments, used, report)
    return {device: _Held(reserved[device], used[device]) for device in reserved}


def _check_addresses(segments: list[Any], used: dict[int, _Used], report: Report) -> None:
    """Report blocks at the address of another."""
    twice = {device: each.twice for device, each in used.items()}
    if not any(twice.values()):
        return
    counts = dict.fromkeys(twice, 0)
    for i, segment in enumerate(in_time(segments, "reading", "segment")):
        device = segment.get("device", 0)
        for here, address, _ in _blocks(segment, ("segments", i), report):
            if counts[device] in twice[device]:
                report.add(Code.DUPLICATE_ID, here, f"there is another block at address {address:#x}")
            counts[device] += 1


def _blocks(segment: dict[str, Any], place: Place, report: Report) -> Iterator[tuple[Place, int, tuple[int, str]]]:
    """Yield the blocks of a segment in use: place, address, requested size and label. Blocks lie one behind the other."""
    at = _number(segment, "address", place, report)
    for j, block in enumerate(in_time(_list(segment, "blocks", place, "blocks"), "reading", "block")):
        if report.is_full:
            break
        here = (*place, "blocks", j)
        state = block.get("state") if isinstance(block, dict) else None
        if not isinstance(state, str) or state not in STATES:
            report.add(Code.INVALID_VALUE, (*here, "state"), f"there is no such state: {quoted(state)}")
            continue
        size = _number(block, "size", here, report)
        at = _number(block, "address", here, report, at)
        if state in USED:
            yield here, at, (_number(block, "requested_size", here, report, size), _label(block))
        at += size


def _label(row: dict[str, Any]) -> str:
    """Return the Python line of the allocation, the innermost outside of PyTorch; empty if unknown."""
    frames = row.get("frames")
    lines = [
        (file, frame)
        for frame in (frames if isinstance(frames, list) else ())
        if isinstance(frame, dict) and isinstance(file := frame.get("filename"), str) and file.endswith(".py")
    ]
    for file, frame in [each for each in lines if "/torch/" not in each[0]] or lines:
        short = file.replace("\\", "/").rpartition("/")[2]
        return printable(f" {cut(short)}:{cut(str(frame.get('line')))} {cut(str(frame.get('name')))}")
    return ""


def _list(holder: dict[str, Any], name: str, place: Place, of: str, default: list[Any] | None = None) -> list[Any]:
    found = holder.get(name, default)
    if not isinstance(found, list):
        code = Code.MISSING_FIELD if found is None else Code.WRONG_TYPE
        raise bad_input(code, (*place, name), f"must be a list of {of}")
    return found


def _number(row: dict[str, Any], name: str, place: Place, report: Report, default: int | None = None) -> int:
    """Return a whole number of the object; otherwise 0, with a finding."""
    value = row.get(name, default)
    if type(value) is int and (0 <= value <= MAX_ADDRESS or (name in ("addr", "address") and 0 <= value < 1 << 64)):
        return value
    code = Code.OUT_OF_RANGE if type(value) is int else Code.MISSING_FIELD if name not in row else Code.WRONG_TYPE
    report.add(code, (*place, name), f"the field {quoted(name)} must be a whole number from 0 to 2^62")
    return 0
