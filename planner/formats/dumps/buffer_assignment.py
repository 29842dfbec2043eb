"""XLA's BufferAssignmentProto (or the HloProto that holds one): what its heap simulator allocated, freed and shared, an event a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...checks import sound_as_read
from ...checks.limits import MAX_ADDRESS
from ...checks.report import Place, Report, bad_input
from ...graph.trace import Trace
from ...model.errors import BadInput, Code
from ...model.problem import Pool, Problem
from ..protobuf import VARINT, Part, message

if TYPE_CHECKING:
    from ..documents import Source

ALLOC, FREE, SHARE = range(3)


class _Event(NamedTuple):
    kind: int
    buffer: int
    instruction: str
    shared: int


class _Logical(NamedTuple):
    name: str
    size: int
    color: int


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """The Problem of all heap simulator traces, one after the other; buffers of each colour are in a memory of their own."""
    assignment = _assignment(message(source.data))
    logical: dict[int, _Logical] = {}
    traces: list[tuple[Place, list[tuple[Place, _Event]]]] = []
    for field in assignment.fields():
        if field.number == 1:
            place: Place = ("logical_buffers", len(logical))
            id_, found = _logical(field.part)
            if id_ in logical:
                raise bad_input(Code.DUPLICATE_ID, place, f"there is another logical buffer {id_}")
            logical[id_] = found
        elif field.number == 4:
            at: Place = ("heap_simulator_traces", len(traces))
            traces.append((at, [((*at, "events", i), event) for i, event in enumerate(_events(field.part))]))
    if not traces:
        text = "there is no heap simulator trace in it, so that nobody knows what is needed when"
        raise bad_input(Code.MISSING_FIELD, ("heap_simulator_traces",), text)
    return sound_as_read(_problem(logical, traces)), ()


def _assignment(whole: Part) -> Part:
    """The message itself, or field 3 of an HloProto: that begins with its module, whose first field is a name."""
    fields = [field for field in whole.fields() if field.inside is not None and field.number in (1, 3)]
    held = [field.part for field in fields if field.number == 3]
    modules = [field.part for field in fields if field.number == 1]
    if len(held) == 1 and len(modules) <= 1 and not any(_is_logical(part) for part in modules):
        return held[0]
    return whole


def _is_logical(part: Part) -> bool:
    first = next(part.fields(), None)
    return first is not None and first.number == 1 and first.inside is None


def _logical(part: Part) -> tuple[int, _Logical]:
    id_ = size = color = 0
    name = ""
    for field in part.fields():
        if field.number == 1:
            id_ = field.signed
        elif field.number == 2:
            size = field.signed
            if not 0 <= size <= MAX_ADDRESS:
                text = f"byte {field.at}: a size of {size}"
                raise bad_input(Code.OUT_OF_RANGE, ("bytes", field.at), text)
        elif field.number == 3:
            name = next((each.text() for each in field.part.fields() if each.number == 2), "")
        elif field.number == 4:
            color = field.signed
    return id_, _Logical(name, size, color)


def _events(part: Part) -> Iterator[_Event]:
    for field in part.fields():
        if field.number != 1:
            continue
        kind = buffer = shared = 0
        instruction = ""
        for each in field.part.fields():
            match each.number:
                case 1:
                    kind = each.signed
                case 2:
                    buffer = each.signed
                case 4:
                    instruction = each.text()
                case 5:
                    shared = each.signed
        yield _Event(kind, buffer, instruction, shared)


def _problem(logical: dict[int, _Logical], traces: list[tuple[Place, list[tuple[Place, _Event]]]]) -> Problem:
    report, trace = Report(), Trace()
    colors = sorted({found.color for found in logical.values()})
    pools = {color: "memory" if color == 0 else f"memory {color}" for color in colors} or {0: "memory"}
    names: dict[str, int] = {}
    called: dict[int, str] = {}
    for id_, found in logical.items():
        name = found.name or str(id_)
        names[name] = names.get(name, 0) + 1
        called[id_] = name if names[name] == 1 else f"{name}#{id_}"
    for _, events in traces:
        for place, event in events:
            if event.buffer not in logical or (event.kind == SHARE and event.shared not in logical):
                report.add(Code.UNKNOWN_BUFFER, place, f"there is no logical buffer {event.buffer}")
                continue
            name, said = called[event.buffer], logical[event.buffer]
            if event.kind == ALLOC:
                trace.alloc(place, name, said.size, 1, (pools[said.color],), None, report)
            elif event.kind == FREE:
                trace.free(place, name, report)
            elif event.kind == SHARE:
                trace.share(place, name, called[event.shared], 0, said.size, 1, report)
            else:
                report.add(Code.INVALID_VALUE, place, f"there is no event of the kind {event.kind}")
    report.raise_if_any()
    trace.close(report)
    report.raise_if_any()
    return trace.problem([Pool(name) for name in pools.values()], None)


def looks_like(data: bytes) -> bool:
    """Does it begin as an assignment, or as an HloProto: with a logical buffer, whose number comes first, or with a module, whose name does?"""
    try:
        first = next(message(data).fields())
        inner = next(first.part.fields())
        named = inner.inside is not None and inner.text().isprintable()
    except (BadInput, StopIteration):
        return False
    return first.number == 1 and inner.number == 1 and (inner.kind == VARINT or named)
