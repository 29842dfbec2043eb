"""PyTorch's memory snapshots as JSON (`json.dump(torch.cuda.memory._snapshot(), file)`): each allocation of the history is a buffer.

Only JSON is read. The pickle that PyTorch writes can run code when it is loaded, and never is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...checks import sound_as_read
from ...checks.limits import MAX_ADDRESS
from ...checks.report import Place, Report, bad_input, quoted
from ...model.errors import Code
from ...model.problem import Buffer, Lifetimes, Pool, Problem

if TYPE_CHECKING:
    from ..documents import Source

_ENDS = ("free_completed", "free")
_ACTIONS = frozenset(
    (
        "alloc",
        *_ENDS,
        "free_requested",
        "segment_alloc",
        "segment_free",
        "segment_map",
        "segment_unmap",
        "oom",
        "snapshot",
        "workspace_snapshot",
    )
)


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """The Problem: a memory for each device, a step for each event. What is there from before lives from the beginning, what is not freed to the end."""
    _ = source.scanned
    document = json.loads(source.data)
    report = Report()
    pools, buffers = [], []
    traces = document.get("device_traces") if isinstance(document, dict) else None
    if not isinstance(traces, list):
        code = Code.MISSING_FIELD if traces is None else Code.WRONG_TYPE
        raise bad_input(code, ("device_traces",), "must be there, a list of lists of events")
    for device, events in enumerate(traces):
        if not isinstance(events, list):
            report.add(Code.WRONG_TYPE, ("device_traces", device), "must be a list of events")
        elif events:
            pools.append(Pool(f"device {device}"))
            prefix = "" if len(traces) == 1 else f"{device}/"
            buffers += list(_buffers(events, pools[-1].name, prefix, ("device_traces", device), report))
    report.raise_if_any()
    problem = Problem(tuple(buffers), tuple(pools) or (Pool("device 0"),), lifetimes=Lifetimes.HALF_OPEN)
    return sound_as_read(problem), ()


def _buffers(events: list[Any], pool: str, prefix: str, at: Place, report: Report) -> Iterator[Buffer]:
    begun: dict[int, tuple[int, int, int]] = {}
    count = 0
    for step, event in enumerate(events):
        place = (*at, step)
        action = event.get("action") if isinstance(event, dict) else None
        if not isinstance(action, str) or action not in _ACTIONS:
            report.add(Code.INVALID_VALUE, (*place, "action"), f"there is no such event: {quoted(action)}")
            continue
        if action != "alloc" and action not in _ENDS:
            continue
        address = _number(event, "addr", place, report)
        size = _number(event, "size", place, report)
        if address is None or size is None:
            continue
        if action == "alloc":
            count += 1
            if address in begun:
                text = f"there is something at address {address:#x} already"
                report.add(Code.DUPLICATE_ID, (*place, "addr"), text)
            begun[address] = (count, size, step)
        elif address in begun:
            number, size, start = begun.pop(address)
            yield Buffer(f"{prefix}{number}", size, live=((start, step + 1),), pools=(pool,))
        else:
            count += 1
            yield Buffer(f"{prefix}{count}", size, live=((0, step + 1),), pools=(pool,))
    for number, size, start in begun.values():
        yield Buffer(f"{prefix}{number}", size, live=((start, len(events)),), pools=(pool,))


def _number(event: dict[str, Any], name: str, place: Place, report: Report) -> int | None:
    value = event.get(name)
    if type(value) is int and (0 <= value <= MAX_ADDRESS or (name == "addr" and 0 <= value < 1 << 64)):
        return value
    code = Code.WRONG_TYPE if type(value) is not int else Code.OUT_OF_RANGE
    report.add(code, (*place, name), f"the field {quoted(name)} must be a whole number from 0 to 2^62")
    return None
