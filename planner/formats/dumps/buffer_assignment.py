"""XLA's BufferAssignmentProto (or an HloProto that contains one): what its heap simulator allocated, freed and shared, one event per step."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from math import gcd
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...checks import sound_as_read
from ...checks.report import Place, Report, bad_input
from ...facts.intervals import merged
from ...model.columns.gathered import Gathered
from ...model.columns.numbered import Numbered
from ...model.errors import BadInput, Code
from ...model.problem import MAX_ADDRESS, Buffer, Colocation, Constraints, Interval, Lifetimes, Pool, Problem
from ..binary.protobuf import VARINT, Field, Part, message
from .shared_places import OwnPlan

if TYPE_CHECKING:
    from ..documents import Source

ALLOC, FREE, SHARE = range(3)
ALIGNMENT = 256
"""XLA's on GPUs; on processors it is 64."""
NOWHERE = -1
ENTRIES, BYTES_AN_ENTRY = 1 << 16, 32
"""The buffers and events that any file may have, and the bytes per further one; XLA's own entries take two or three times as many."""


class _Event(NamedTuple):
    kind: int
    buffer: int
    shared: int
    name: Field | None
    """The instruction that makes the buffer; today's files have it only here."""


class _Logical:
    """The logical buffers, in columns."""

    def __init__(self) -> None:
        self._ids = Numbered()
        """The number of each, as text, which takes a quarter of what a dictionary does."""
        self._names = Numbered()
        self.named = array("i")
        """The number of each row's name; NOWHERE if it has none."""
        self.sizes = array("q")
        self.colors: dict[int, int] = {}
        """The colour of each row that has one; 0 of the others."""

    def __len__(self) -> int:
        return len(self.sizes)

    def add(self, id_: int, name: str, size: int, color: int) -> None:
        row = self._ids.append(str(id_))
        self.named.append(NOWHERE)
        self.call(row, name)
        self.sizes.append(size)
        if color:
            self.colors[row] = color

    def call(self, row: int, name: str) -> None:
        """Name a row that has no name yet."""
        if name:
            number = self._names.number(name)
            self.named[row] = self._names.append(name) if number is None else number

    def name(self, row: int) -> str:
        return "" if self.named[row] == NOWHERE else self._names[self.named[row]]

    def __contains__(self, id_: int) -> bool:
        return str(id_) in self._ids

    def row(self, id_: int) -> int:
        """Return the row of a number that is there."""
        row = self._ids.number(str(id_))
        assert row is not None
        return row


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of all heap simulator traces; buffers of each colour have their own memory, and so have those of each computation simulated alone."""
    assignment = _assignment(message(source.data))
    logical = _Logical()
    traces: list[Part] = []
    most = ENTRIES + len(source.data) // BYTES_AN_ENTRY
    for field in assignment.fields():
        if field.number == 1:
            place: Place = ("logical_buffers", len(logical))
            id_, name, size, color = _logical(field.part)
            if id_ in logical:
                raise bad_input(Code.DUPLICATE_ID, place, f"there is another logical buffer {id_}")
            logical.add(id_, name, size, color)
        elif field.number == 4:
            traces.append(field.part)
        _require_few(len(logical) + len(traces), most, field.at)
    if not traces:
        text = "it has no heap simulator trace, so it is not known what is needed when"
        raise bad_input(Code.MISSING_FIELD, ("heap_simulator_traces",), text)
    problem, warnings = _problem(logical, traces, most, assignment)
    return sound_as_read(problem), warnings


def _require_few(count: int, most: int, at: int) -> None:
    if count > most:
        text = f"byte {at}: more buffers and events than a file of this length should have"
        raise bad_input(Code.TOO_LARGE, ("bytes", at), text)


def _assignment(whole: Part) -> Part:
    """Return the message itself, or field 3 of an HloProto, which begins with its module, whose first field is a name."""
    first: Part | None = None
    held: Part | None = None
    for field in whole.fields():
        if field.number == 4:  # a trace, which an HloProto does not have
            return whole
        if field.number == 1 and first is None and field.inside is not None:
            first = field.part
        elif field.number == 3 and held is None and field.inside is not None:
            held = field.part
    if first is not None and (begin := next(first.fields(), None)) is not None and _is_of_logical(begin):
        return whole
    if held is None:
        raise bad_input(Code.MISSING_FIELD, ("buffer_assignment",), "there is no buffer assignment in it")
    return held


def _is_of_logical(first: Field) -> bool:
    """True if a logical buffer begins with this field. Number and size come before the place where it is made; those that are 0 are left out."""
    return first.kind == VARINT if first.number in (1, 2) else first.number == 3 and first.inside is not None


def _logical(part: Part) -> tuple[int, str, int, int]:
    """Return the number, name, size and colour."""
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
    return id_, name, size, color


def _events(part: Part) -> Iterator[_Event]:
    for field in part.fields():
        if field.number != 1:
            continue
        kind = buffer = shared = 0
        name: Field | None = None
        for each in field.part.fields():
            match each.number:
                case 1:
                    kind = each.signed
                case 2:
                    buffer = each.signed
                case 4:
                    name = each
                case 5:
                    shared = each.signed
        yield _Event(kind, buffer, shared, name)


def _is_of_one_computation(trace: Part) -> bool:
    """True if the trace is that of a computation, and not of the whole module."""
    return not any(field.number == 2 and field.signed for field in trace.fields())


_Home: TypeAlias = tuple[int, int]
"""The colour of a buffer, and the trace that has memory of its own; NOWHERE: none."""


def _pools(homes: Iterable[_Home]) -> dict[_Home, str]:
    """Return the names of the memories. Of a colour in several, all but the first are named after their trace."""
    found: dict[_Home, str] = {}
    seen = set[int]()
    for color, trace in sorted(homes):
        name = "memory" if color == 0 else f"memory {color}"
        found[color, trace] = f"{name} of trace {trace}" if color in seen else name
        seen.add(color)
    return found or {(0, NOWHERE): "memory"}


def _problem(logical: _Logical, traces: list[Part], most: int, assignment: Part) -> tuple[Problem, tuple[str, ...]]:
    simulated = _Simulated(logical)
    count = len(logical) + len(traces)
    for number, part in enumerate(traces):
        own_memory = len(traces) > 1 and _is_of_one_computation(part)
        events = islice(_events(part), most - count + 1)
        count += simulated.run(number, events, number if own_memory else NOWHERE)
        _require_few(count, most, part.start)
    simulated.report.raise_if_any()
    live, shared = simulated.live(), simulated.shared

    def home(row: int) -> _Home:
        return logical.colors.get(row, 0), simulated.homes[row]

    pools = _pools({home(logical.row(id_)) for id_, _ in live()})
    named = np.fromiter((logical.named[logical.row(id_)] for id_, _ in live()), np.int32)
    numbers, counts = np.unique(named, return_counts=True)
    twice = {NOWHERE, *numbers[counts > 1].tolist()}

    def name(id_: int) -> str:
        """Return the name of the defining instruction; with the number if several have it, or it has none."""
        row = logical.row(id_)
        own = logical.name(row)
        return own if logical.named[row] not in twice else f"{own}#{id_}".lstrip("#")

    places = assignment.passing(lambda part: _Places(part, logical))
    for id_, _ in live():
        row = logical.row(id_)
        places.use(row, pools[home(row)])
    buffers, own = Gathered(), OwnPlan()
    for id_, spans in live():
        row = logical.row(id_)
        pool = pools[home(row)]
        hint = places.of(row, pool)
        buffers.add(Buffer(name(id_), logical.sizes[row], live=merged(spans), pools=(pool,), hint=hint))
        if hint is not None:
            own.add(pool, hint, logical.sizes[row])
    there = {id_ for id_, _ in live()} if shared else set()
    colocations = tuple(Colocation(name(id_), name(to), 0) for id_, to in sorted(shared.items()) if to in there)
    made = tuple(Pool(pool, alignment=gcd(ALIGNMENT, own.steps.get(pool, 1))) for pool in pools.values())
    title = f"XLA's own plan: {own}" if len(own.ends) == len(pools) else None
    rules = Constraints(colocations=colocations)
    problem = Problem(buffers.all(made), made, rules, name=title, lifetimes=Lifetimes.HALF_OPEN)
    return problem, places.left_out(logical.sizes)


class _Places:
    """Where XLA put the logical buffers. Those of a memory have places only if all are in one allocation, and no others in it."""

    def __init__(self, assignment: Part, logical: _Logical) -> None:
        self._home, self._at = (array("q", (NOWHERE,)) * len(logical) for _ in range(2))
        """The allocation of each row, and its place there."""
        self._is_planned = bytearray(len(logical))
        self._used: dict[str, set[int]] = {}
        """By memory: the allocations of its buffers."""
        self._users: dict[int, set[str]] = {}
        """By allocation: the memories."""
        number = 0
        for field in assignment.fields():
            if field.number != 3:
                continue
            for each in field.part.fields():
                if each.number != 9:
                    continue
                assigned = {inner.number: inner for inner in each.part.fields()}
                id_, at = (assigned[n].signed if n in assigned else 0 for n in (1, 2))
                if id_ in logical and 0 <= at <= MAX_ADDRESS:
                    row = logical.row(id_)
                    self._home[row], self._at[row] = number, at
            number += 1

    def use(self, row: int, pool: str) -> None:
        """Record that a buffer is planned."""
        self._is_planned[row] = True
        self._used.setdefault(pool, set()).add(self._home[row])
        self._users.setdefault(self._home[row], set()).add(pool)

    def of(self, row: int, pool: str) -> int | None:
        home = self._home[row]
        is_alone = home != NOWHERE and len(self._used[pool]) == 1 and len(self._users[home]) == 1
        return self._at[row] if is_alone else None

    def left_out(self, sizes: array[int]) -> tuple[str, ...]:
        """Return a warning if there are others where the planned ones are, such as tuples: no trace says when they are needed."""
        homes = self._users.keys() - {NOWHERE}
        rows = [
            row for row, home in enumerate(self._home) if home in homes and sizes[row] and not self._is_planned[row]
        ]
        if not rows:
            return ()
        end = max(self._at[row] + sizes[row] for row in rows)
        what = f"{sum(sizes[row] for row in rows)} bytes in {len(rows)} buffers (mostly tuples), which XLA has beside these up to byte {end},"
        return (f"{what} are not planned: no trace says when they are needed. XLA's text dump (xla-text) does",)


class _Simulated:
    """Replays the traces: each buffer exists from its allocation, or from taking over another's memory, until it is freed or its trace ends."""

    def __init__(self, logical: _Logical) -> None:
        self._logical = logical
        self._step = 0
        self._trace = NOWHERE
        """The trace being replayed, if it has memory of its own."""
        self.homes = array("i", (NOWHERE,)) * len(logical)
        """The first such trace of each row, or that of the buffer whose memory it took over."""
        self._begun: dict[int, int] = {}
        """When each existing buffer began."""
        self._above: dict[int, int] = {}
        """Like `shared`, shortened to lead to each group's first buffer faster."""
        self._spans: tuple[array[int], ...] = tuple(array("q") for _ in range(3))
        """The number of a buffer, the beginning and the end of each time it exists."""
        self.shared: dict[int, int] = {}
        """The buffer whose memory each took over."""
        self.report = Report()

    def live(self) -> Callable[[], Iterator[tuple[int, list[Interval]]]]:
        """Return what gives the numbers of all buffers that ever exist, in order, each with its times. No more can be run."""
        columns = [np.frombuffer(column, np.int64) if column else np.empty(0, np.int64) for column in self._spans]
        self._spans = ()
        order = np.argsort(columns[0], kind="stable")
        ids, starts, ends = (column[order] for column in columns)
        begins = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1], True]) if len(ids) else ids
        bounds = array("q", begins.astype(np.int64).tobytes())

        def each() -> Iterator[tuple[int, list[Interval]]]:
            for first, end in pairwise(bounds):
                yield int(ids[first]), [*zip(starts[first:end].tolist(), ends[first:end].tolist(), strict=True)]

        return each

    def run(self, number: int, events: Iterable[_Event], trace: int) -> int:
        """Replay one trace, reading each event in turn; return their number. `trace`: the same number if it has memory of its own."""
        self._trace = trace
        count = 0
        for event in events:
            self._take(event, ("heap_simulator_traces", number, "events", count))
            self._step += 1
            count += 1
        for id_ in list(self._begun):
            self._end(id_)
        self._step += 1
        return count

    def _take(self, event: _Event, place: Place) -> None:
        if event.buffer not in self._logical or (event.kind == SHARE and event.shared not in self._logical):
            self.report.add(Code.UNKNOWN_BUFFER, place, f"there is no logical buffer {event.buffer}")
        elif event.kind == FREE and event.buffer not in self._begun:
            self.report.add(Code.UNKNOWN_BUFFER, place, f"buffer {event.buffer} is freed, and was not there")
        elif event.kind == FREE:
            self._end(event.buffer)
        elif event.kind not in (ALLOC, SHARE):
            self.report.add(Code.INVALID_VALUE, place, f"there is no event of the kind {event.kind}")
        elif event.buffer in self._begun or (event.kind == SHARE and self._first(event.shared) == event.buffer):
            self.report.add(Code.DUPLICATE_ID, place, f"buffer {event.buffer} is there already")
        else:
            self._begun[event.buffer] = self._step
            self._call(event)
            if self._trace != NOWHERE:
                self._settle(event)
            if event.kind == SHARE:
                self._share(event, place)

    def _call(self, event: _Event) -> None:
        row = self._logical.row(event.buffer)
        if event.name is not None and self._logical.named[row] == NOWHERE:
            self._logical.call(row, event.name.text())

    def _settle(self, event: _Event) -> None:
        """Record in which trace's memory a buffer is."""
        row = self._logical.row(event.buffer)
        if self.homes[row] == NOWHERE:
            shared = NOWHERE if event.kind == ALLOC else self.homes[self._logical.row(event.shared)]
            self.homes[row] = self._trace if shared == NOWHERE else shared

    def _share(self, event: _Event, place: Place) -> None:
        if self.shared.setdefault(event.buffer, event.shared) != event.shared:
            self.report.add(Code.CONTRADICTION, place, f"buffer {event.buffer} shared with another before")
        self._above[event.buffer] = event.shared

    def _end(self, id_: int) -> None:
        for column, number in zip(self._spans, (id_, self._begun.pop(id_), self._step), strict=True):
            column.append(number)

    def _first(self, id_: int) -> int:
        """Return the buffer that was allocated, of all that share this one's memory."""
        above = self._above
        while id_ in above:
            above[id_] = above.get(above[id_], above[id_])
            id_ = above[id_]
        return id_


def looks_like(data: bytes) -> bool:
    """True if it begins like an assignment (a logical buffer) or an HloProto (a module, whose name comes first)."""
    try:
        first = next(message(data).fields())
        inner = next(first.part.fields())
        is_known = _is_of_logical(inner) or (inner.number == 1 and inner.text().isprintable())
    except (BadInput, StopIteration):
        return False
    return first.number == 1 and is_known
