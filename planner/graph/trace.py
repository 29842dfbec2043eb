"""From a run's use of memory to a Problem: one tick per event, and each byte needed from its first use to its last."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks.report import Place, Report, quoted
from ..checks.values import check_allowed_pools
from ..facts.intervals import merged
from ..model.columns.gathered import Gathered
from ..model.errors import Code
from ..model.problem import MAX_TEXT, Buffer, BufferId, Colocation, Constraints, Interval, Lifetimes, Pool, Problem
from .storage import Name, Storage

MAX_NESTING = 1000
"""The most nested scopes and calls."""
GONE = -1
"""In place of a scope: a buffer is in none."""
UNUSED = -1
"""In place of a tick."""


@dataclass(slots=True)
class _Held:
    """A name, between its beginning and its end, for bytes that have or had several."""

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
    begun: array[int] = field(default_factory=lambda: array("q"))
    """The numbers of the buffers that began in it, some of them perhaps several times; not kept of what ends with the run."""


class Trace:
    """What is known so far of a run.

    The same id in the same function is the same buffer, at one address, however often it is allocated. A name that a function does not have is
    looked up where it was called. What is not freed ends with its scope or function. Bytes that are shared are there until no name stands for them.
    """

    def __init__(self, pools: Sequence[Pool], report: Report) -> None:
        """`report` receives what is wrong with the events."""
        self._report = report
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
        self._generations = array("i")
        """How often each buffer has been allocated."""
        self._home = array("i")
        """The number of the scope that each buffer is in now; GONE: none."""
        self._since, self._until = array("q"), array("q")
        """When each buffer that is there now, and alone has its bytes, was first and last used; when it was allocated, and UNUSED, if it was not."""
        self._shared: dict[int, _Held] = {}
        """Those that are there now, and have bytes that others have or had, too."""
        self._scopes = [_Scope((), "", None)]

    def alloc(
        self,
        place: Place,
        id_: BufferId,
        size: int,
        alignment: int,
        pools: tuple[str, ...] | None,
        kind: str | None,
    ) -> None:
        """Allocate a buffer."""
        self._tick += 1
        if pools is not None:
            check_allowed_pools(self._report, (*place, "pools"), pools, self._pool_names)
        key = self._key(id_)
        self._hold(place, id_, Buffer(key, size, alignment, (), pools, kind=kind), None, 0)

    def share(self, place: Place, id_: BufferId, base: BufferId, offset: int, size: int, alignment: int) -> None:
        """Give part of another buffer a further name."""
        self._tick += 1
        number = self._find(base)
        if number is None:
            self._report.add(Code.UNKNOWN_BUFFER, (*place, "base"), f"there is no buffer {quoted(base)} here")
            return
        whole = self._gathered.row(number).size
        if offset + size > whole:
            text = f"{quoted(id_)} ends at {offset + size}, beyond the {whole} bytes of {quoted(base)}"
            self._report.add(Code.OUT_OF_RANGE, (*place, "size"), text)
        self._hold(place, id_, Buffer(self._key(id_), size, alignment, ()), number, offset)

    def use(self, place: Place, ids: Sequence[BufferId], name: str | None) -> None:
        """Record that something reads or writes them."""
        self._tick += 1
        if name is not None:
            self._names[self._tick] = name
        for j, id_ in enumerate(ids):
            number = self._find(id_)
            if number is None:
                self._report.add(Code.UNKNOWN_BUFFER, (*place, "ids", j), f"there is no buffer {quoted(id_)} here")
                continue
            held = self._shared.get(number)
            if held is None:
                if self._until[number] == UNUSED:
                    self._since[number] = self._tick
                self._until[number] = self._tick
                continue
            storage = held.storage
            if self._generations[storage.root] != storage.generation:
                root = quoted(self._gathered.row(storage.root).id)
                text = f"{quoted(id_)} stands for bytes of {root}, which has been allocated again; free {quoted(id_)} first"
                self._report.add(Code.CONTRADICTION, (*place, "ids", j), text)
            held.is_used = True
            held.name.use(self._tick, self._tick)

    def free(self, place: Place, id_: BufferId) -> None:
        """Free the buffer."""
        self._tick += 1
        number = self._find(id_)
        if number is None:
            self._report.add(Code.UNKNOWN_BUFFER, (*place, "id"), f"there is no buffer {quoted(id_)} here to be freed")
        else:
            self._end(number)

    def begin(self, place: Place, name: str | None) -> None:
        """Begin a scope; what is allocated in it ends with it."""
        self._tick += 1
        if name is not None:
            self._names[self._tick] = name
        self._refuse_too_deep(place)
        self._scopes.append(_Scope(place, "end", self._scopes[-1].function))

    def call(self, place: Place, function: str) -> None:
        """Begin a function."""
        self._tick += 1
        self._names[self._tick] = function
        self._refuse_too_deep(place)
        if any(scope.function == function for scope in self._scopes):
            text = f"{quoted(function)} is running; the buffers of a function that runs itself have no one address"
            self._report.add(Code.CONTRADICTION, (*place, "function"), text)
        self._scopes.append(_Scope(place, "return", function))

    def _refuse_too_deep(self, place: Place) -> None:
        if len(self._scopes) > MAX_NESTING:
            self._report.add(Code.TOO_DEEP, place, f"calls and scopes nest deeper than {MAX_NESTING}")

    def end(self, place: Place, event: str) -> None:
        """End the scope or the function, and what is left in it."""
        self._tick += 1
        if self._scopes[-1].closes != event:
            open_ = {"": "nothing is open", "end": "a scope is open", "return": "a function is running"}
            text = f"{quoted(event)} ends nothing here: {open_[self._scopes[-1].closes]}"
            self._report.add(Code.CONTRADICTION, (*place, "event"), text)
            return
        ended = self._scopes.pop()
        for number in ended.begun:
            if self._home[number] == len(self._scopes):
                self._end(number)

    def close(self) -> None:
        """End the run: everything still there ends."""
        self._tick += 1
        for scope in self._scopes[1:]:
            self._report.add(
                Code.CONTRADICTION,
                scope.place,
                f"the scope or function that begins here is never ended by {quoted(scope.closes)}",
            )
        for number, home in enumerate(self._home):
            if home == 0:
                self._end(number)

    def problem(self, name: str | None) -> Problem:
        """Return the problem. It takes over what is known of the buffers."""
        self._number.clear()
        self._home, self._since, self._until = array("i"), array("q"), array("q")
        buffers = self._buffers()
        colocations = tuple(Colocation(key, base, offset) for key, (base, offset) in self._bases.items())
        return Problem(
            buffers,
            tuple(self._pools),
            Constraints(colocations=colocations),
            name=name,
            lifetimes=Lifetimes.HALF_OPEN,
            steps=tuple(self._names.items()),
        )

    def _buffers(self) -> Sequence[Buffer]:
        """Return the buffers with their lifetimes; those of the first allocation alone stay where they are."""
        columns = None if self._more else self._gathered.columns()
        if columns is not None:
            first, last = np.frombuffer(self._first, np.int64), np.frombuffer(self._last, np.int64)
            never = first < 0
            return replace(columns, start=np.where(never, 0, first), end=np.where(never, 0, last))
        buffers = Gathered()
        for i, (buffer, start, end) in enumerate(zip(self._gathered.rows(), self._first, self._last, strict=True)):
            live = () if start < 0 else merged([(start, end), *self._more.pop(i, ())])
            buffers.add(replace(buffer, live=live))
        return buffers.all()

    def _key(self, id_: BufferId) -> BufferId:
        """Return the name of this function's buffer, and remember whose it is."""
        function = self._scopes[-1].function
        key = self._key_in(function, id_)
        if function is not None:
            self._inside[key] = (function, id_)
        return key

    def _key_in(self, function: str | None, id_: BufferId) -> BufferId:
        """Return the name of a function's buffer: 'f/a', with apostrophes if that is the name of another function's, or of no function's."""
        if function is None:
            key, whose = id_, None
        else:
            key, whose = f"{function}/{id_}", (function, id_)
        while key in self._number and self._inside.get(key) != whose:
            key = f"{key}'"
        return key

    def _find(self, id_: BufferId) -> int | None:
        """Return the number of the buffer that has this name here; None if there is none."""
        function: str | None = None
        number: int | None = None
        for home in range(len(self._scopes) - 1, -1, -1):
            here = self._scopes[home].function
            if home == len(self._scopes) - 1 or here != function:
                function, number = here, self._number.get(self._key_in(here, id_))
            if number is not None and self._home[number] == home:
                return number
        return None

    def _hold(self, place: Place, id_: BufferId, buffer: Buffer, within: int | None, offset: int) -> None:
        number = self._number.get(buffer.id)
        known = None if number is None else self._gathered.row(number)
        base = None if within is None else (self._gathered.row(within).id, offset)
        if number is not None and self._home[number] != GONE:
            self._report.add(
                Code.DUPLICATE_ID, (*place, "id"), f"there is a buffer {quoted(id_)} here already; free it first"
            )
            return
        if known is not None and (known != buffer or self._bases.get(buffer.id) != base):
            text = f"{quoted(id_)} was there before, and has one address: it cannot be another size, alignment or place now"
            self._report.add(Code.CONTRADICTION, (*place, "id"), text)
            return
        if isinstance(buffer.id, str) and len(buffer.id) > MAX_TEXT:
            text = f"in a plan this name has {len(buffer.id)} characters, and {MAX_TEXT} are the most"
            self._report.add(Code.TOO_LARGE, (*place, "id"), text)
        if number is None:
            number = self._number[buffer.id] = len(self._gathered)
            self._gathered.add(buffer)
            for column in (self._first, self._last, self._since, self._until):
                column.append(UNUSED)
            self._generations.append(-1)
            self._home.append(GONE)
        if base is not None:
            self._bases[buffer.id] = base
        self._home[number] = len(self._scopes) - 1
        if self._home[number]:
            self._scopes[-1].begun.append(number)
        if within is None:
            self._generations[number] += 1
            self._since[number], self._until[number] = self._tick, UNUSED
            return
        whole = self._shared.get(within) or self._share(within)
        storage = whole.storage
        name = storage.names.setdefault(number, Name(whole.name.begin + offset, buffer.size, number))
        storage.open += 1
        self._shared[number] = _Held(self._tick, storage, name)

    def _share(self, number: int) -> _Held:
        """Record what is known of a buffer that alone had its bytes, before they get another name."""
        since, until = self._since[number], self._until[number]
        name = Name(0, self._gathered.row(number).size, number)
        if until != UNUSED:
            name.use(since, until)
        storage = Storage(number, self._generations[number], {number: name}, 1)
        held = self._shared[number] = _Held(since, storage, name, until != UNUSED)
        return held

    def _end(self, number: int) -> None:
        """End the name. What becomes of its bytes is known once they have none."""
        self._home[number] = GONE
        held = self._shared.pop(number, None)
        if held is None:
            since, until = self._since[number], self._until[number]
            self._lived(number, since, max(since, self._tick - 1) if until == UNUSED else until)
            return
        if not held.is_used:
            held.name.use(held.begun, max(held.begun, self._tick - 1))
        held.storage.open -= 1
        if not held.storage.open:
            for each in held.storage.lives():
                self._lived(*each)

    def _lived(self, number: int, first: int, last: int) -> None:
        if self._first[number] < 0:
            self._first[number], self._last[number] = first, last + 1
        else:
            self._more.setdefault(number, []).append((first, last + 1))
