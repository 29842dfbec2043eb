"""From a run's use of memory to a Problem: one tick per event, and each byte needed from its first use to its last."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..checks.report import Place, Report, quoted
from ..checks.values import check_allowed_pools
from ..facts.intervals import merged
from ..model.errors import Code
from ..model.gathered import Gathered
from ..model.problem import MAX_TEXT, Buffer, BufferId, Colocation, Constraints, Interval, Lifetimes, Pool, Problem
from .storage import Name, Storage

MAX_NESTING = 1000
"""The most nested scopes and calls."""


@dataclass(slots=True)
class _Held:
    """A name between its allocation and its end."""

    key: BufferId
    begun: int
    storage: Storage
    name: Name
    is_used: bool = False


@dataclass(slots=True)
class _Scope:
    """A scope, or a function that runs."""

    place: Place
    closes: str
    """The event that ends it."""
    function: str | None
    held: dict[BufferId, _Held] = field(default_factory=dict)


class Trace:
    """What is known so far of a run.

    The same id in the same function is the same buffer, at one address, however often it is allocated. A name that a function does not have is
    looked up where it was called. What is not freed ends with its scope or function. Bytes that are shared are there until no name stands for them.
    """

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools
        self._pool_names = {pool.name for pool in pools}
        self._tick = -1
        self._names: dict[int, str] = {}
        self._number: dict[BufferId, int] = {}
        """The number of each buffer among those that are gathered."""
        self._inside: dict[BufferId, tuple[str, BufferId]] = {}
        """Of which function each buffer is, and its id there; only of those in functions."""
        self._gathered = Gathered()
        """The buffers, without their lifetimes."""
        self._first, self._last = array("q"), array("q")
        """When each buffer was first needed, up to the end of that; none begins before 0."""
        self._more: dict[int, list[Interval]] = {}
        """Further lifetimes, of buffers that were allocated again."""
        self._bases: dict[BufferId, tuple[BufferId, int]] = {}
        self._generations = array("q")
        """How often each buffer has been allocated."""
        self._scopes = [_Scope((), "", None)]

    def alloc(
        self,
        place: Place,
        id_: BufferId,
        size: int,
        alignment: int,
        pools: tuple[str, ...] | None,
        kind: str | None,
        report: Report,
    ) -> None:
        """Allocate a buffer."""
        self._tick += 1
        if pools is not None:
            check_allowed_pools(report, (*place, "pools"), pools, self._pool_names)
        key = self._key(id_)
        self._hold(place, id_, Buffer(key, size, alignment, (), pools, kind=kind), None, 0, report)

    def share(
        self, place: Place, id_: BufferId, base: BufferId, offset: int, size: int, alignment: int, report: Report
    ) -> None:
        """Give part of another buffer a further name."""
        self._tick += 1
        held = self._find(base)
        if held is None:
            report.add(Code.UNKNOWN_BUFFER, (*place, "base"), f"there is no buffer {quoted(base)} here")
            return
        whole = held.name.size
        if offset + size > whole:
            text = f"{quoted(id_)} ends at {offset + size}, beyond the {whole} bytes of {quoted(base)}"
            report.add(Code.OUT_OF_RANGE, (*place, "size"), text)
        self._hold(place, id_, Buffer(self._key(id_), size, alignment, ()), held, offset, report)

    def use(self, place: Place, ids: Sequence[BufferId], name: str | None, report: Report) -> None:
        """Record that something reads or writes them."""
        self._tick += 1
        if name is not None:
            self._names[self._tick] = name
        for j, id_ in enumerate(ids):
            held = self._find(id_)
            if held is None:
                report.add(Code.UNKNOWN_BUFFER, (*place, "ids", j), f"there is no buffer {quoted(id_)} here")
                continue
            storage = held.storage
            if self._generations[storage.root] != storage.generation:
                root = quoted(self._gathered.row(storage.root).id)
                text = f"{quoted(id_)} stands for bytes of {root}, which has been allocated again; free {quoted(id_)} first"
                report.add(Code.CONTRADICTION, (*place, "ids", j), text)
            held.is_used = True
            held.name.use(self._tick, self._tick)

    def free(self, place: Place, id_: BufferId, report: Report) -> None:
        """Free the buffer."""
        self._tick += 1
        for scope in reversed(self._scopes):
            if id_ in scope.held:
                self._end(scope.held.pop(id_))
                return
        report.add(Code.UNKNOWN_BUFFER, (*place, "id"), f"there is no buffer {quoted(id_)} here to be freed")

    def begin(self, place: Place, name: str | None, report: Report) -> None:
        """Begin a scope; what is allocated in it ends with it."""
        self._tick += 1
        if name is not None:
            self._names[self._tick] = name
        self._refuse_too_deep(place, report)
        self._scopes.append(_Scope(place, "end", self._scopes[-1].function))

    def call(self, place: Place, function: str, report: Report) -> None:
        """Begin a function."""
        self._tick += 1
        self._names[self._tick] = function
        self._refuse_too_deep(place, report)
        if any(scope.function == function for scope in self._scopes):
            text = f"{quoted(function)} is running; the buffers of a function that runs itself have no one address"
            report.add(Code.CONTRADICTION, (*place, "function"), text)
        self._scopes.append(_Scope(place, "return", function))

    def _refuse_too_deep(self, place: Place, report: Report) -> None:
        if len(self._scopes) > MAX_NESTING:
            report.add(Code.TOO_DEEP, place, f"calls and scopes nest deeper than {MAX_NESTING}")

    def end(self, place: Place, event: str, report: Report) -> None:
        """End the scope or the function, and what is left in it."""
        self._tick += 1
        if self._scopes[-1].closes != event:
            open_ = {"": "nothing is open", "end": "a scope is open", "return": "a function is running"}
            text = f"{quoted(event)} ends nothing here: {open_[self._scopes[-1].closes]}"
            report.add(Code.CONTRADICTION, (*place, "event"), text)
            return
        for held in self._scopes.pop().held.values():
            self._end(held)

    def close(self, report: Report) -> None:
        """End the run: everything still there ends."""
        self._tick += 1
        for scope in self._scopes[1:]:
            report.add(
                Code.CONTRADICTION,
                scope.place,
                f"the scope or function that begins here is never ended by {quoted(scope.closes)}",
            )
        for held in self._scopes[0].held.values():
            self._end(held)

    def problem(self, name: str | None) -> Problem:
        """Return the problem. It takes over what is known of the buffers."""
        buffers = Gathered()
        self._number.clear()
        for i, (buffer, first, last) in enumerate(zip(self._gathered.rows(), self._first, self._last, strict=True)):
            live = () if first < 0 else merged([(first, last), *self._more.pop(i, ())])
            buffers.add(replace(buffer, live=live))
        colocations = tuple(Colocation(key, base, offset) for key, (base, offset) in self._bases.items())
        return Problem(
            buffers.all(),
            tuple(self._pools),
            Constraints(colocations=colocations),
            name=name,
            lifetimes=Lifetimes.HALF_OPEN,
            steps=tuple(self._names.items()),
        )

    def _key(self, id_: BufferId) -> BufferId:
        """Return the name of this function's buffer: 'f/a', with apostrophes if that is the name of another function's, or of no function's."""
        function = self._scopes[-1].function
        if function is None:
            key, whose = id_, None
        else:
            key, whose = f"{function}/{id_}", (function, id_)
        while key in self._number and self._inside.get(key) != whose:
            key = f"{key}'"
        if whose is not None:
            self._inside[key] = whose
        return key

    def _find(self, id_: BufferId) -> _Held | None:
        for scope in reversed(self._scopes):
            if id_ in scope.held:
                return scope.held[id_]
        return None

    def _hold(
        self, place: Place, id_: BufferId, buffer: Buffer, within: _Held | None, offset: int, report: Report
    ) -> None:
        number = self._number.get(buffer.id)
        known = None if number is None else self._gathered.row(number)
        here = self._scopes[-1].function
        base = None if within is None else (within.key, offset)
        if any(id_ in scope.held for scope in self._scopes if scope.function == here):
            report.add(
                Code.DUPLICATE_ID, (*place, "id"), f"there is a buffer {quoted(id_)} here already; free it first"
            )
            return
        if known is not None and (known != buffer or self._bases.get(buffer.id) != base):
            text = f"{quoted(id_)} was there before, and has one address: it cannot be another size, alignment or place now"
            report.add(Code.CONTRADICTION, (*place, "id"), text)
            return
        if isinstance(buffer.id, str) and len(buffer.id) > MAX_TEXT:
            text = f"in a plan this name has {len(buffer.id)} characters, and {MAX_TEXT} are the most"
            report.add(Code.TOO_LARGE, (*place, "id"), text)
        if number is None:
            number = self._number[buffer.id] = len(self._gathered)
            self._gathered.add(buffer)
            for column in (self._first, self._last, self._generations):
                column.append(-1)
        if base is not None:
            self._bases[buffer.id] = base
        if within is None:
            self._generations[number] += 1
            storage, begin = Storage(number, self._generations[number]), 0
        else:
            storage, begin = within.storage, within.name.begin + offset
        name = storage.names.setdefault(buffer.id, Name(begin, buffer.size, number))
        storage.open += 1
        self._scopes[-1].held[id_] = _Held(buffer.id, self._tick, storage, name)

    def _end(self, held: _Held) -> None:
        if not held.is_used:
            held.name.use(held.begun, max(held.begun, self._tick - 1))
        held.storage.open -= 1
        if held.storage.open:
            return
        for number, first, last in held.storage.lives():
            if self._first[number] < 0:
                self._first[number], self._last[number] = first, last + 1
            else:
                self._more.setdefault(number, []).append((first, last + 1))
