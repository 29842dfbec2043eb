"""What has begun in a Chrome trace and has not ended: in columns, since a trace may begin millions of things."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from ...model.columns.buffers import NO_HINT
from ...model.columns.numbered import Found

NOTHING = -1
"""In place of the number of what has begun, and of a buffer's size: there is none."""
FEW_INSIDE = 8
"""The names of so many inside each other are compared one by one."""
ODD = -1
"""In place of the number of a name."""
WIDTH = 6
"""The numbers kept of each."""


class Sized(NamedTuple):
    """What an event says of a buffer."""

    name: str
    size: int
    pool: str
    hint: int | None
    alignment: int


class Begun(NamedTuple):
    """What has begun, and has not ended yet."""

    event: int
    name: Hashable
    start: float
    buffer: Sized | None
    """None: it is no buffer, but others lie inside it."""


class Waiting:
    """What has begun, by numbers; those of what has ended are used again."""

    def __init__(self) -> None:
        self._numbers = array("q")
        """Of each: its event, what it lies inside of, and of its buffer the size, the alignment, the hint and the number of the memory."""
        self._names, self._named = Found(), array("i")
        """All names so far, and the number of the name of each; ODD: it is no text."""
        self._buffers_named = array("i")
        """By the number of a name: the buffers that have it."""
        self._odd: dict[int, Hashable] = {}
        """The names that are no texts."""
        self._starts: list[float] = []
        self._memories = Found()
        self._free = array("q")

    def put(self, begun: Begun, outside: int = NOTHING) -> int:
        """Keep it, a buffer by the buffer's name, and return its number."""
        event, name, start, buffer = begun
        row = (event, outside, NOTHING, 0, 0, 0)
        if buffer is not None:
            name, size, pool, hint, alignment = buffer
            memory = self._memories.of(pool)
            row = (event, outside, size, alignment, NO_HINT if hint is None else hint, memory)
        named = self._names.of(name) if isinstance(name, str) else ODD
        if named == len(self._buffers_named):
            self._buffers_named.append(0)
        if buffer is not None:
            self._buffers_named[named] += 1
        if self._free:
            here = self._free.pop()
            self._numbers[WIDTH * here : WIDTH * (here + 1)] = array("q", row)
            self._named[here], self._starts[here] = named, start
        else:
            here = len(self._named)
            self._numbers.extend(row)
            self._named.append(named)
            self._starts.append(start)
        if named == ODD:
            self._odd[here] = name
        return here

    def take(self, here: int) -> Begun:
        """Return it; its number may be used again."""
        self._free.append(here)
        begun = self.row(here)
        if begun.buffer is not None:
            self._buffers_named[self._named[here]] -= 1
        return begun

    def row(self, here: int) -> Begun:
        event, _, size, alignment, hint, memory = self._numbers[WIDTH * here : WIDTH * (here + 1)]
        name, start = self.name(here), self._starts[here]
        if size == NOTHING:
            return Begun(event, name, start, None)
        wanted = None if hint == NO_HINT else hint
        return Begun(event, name, start, Sized(str(name), size, self._memories[memory], wanted, alignment))

    def has_buffer(self, name: str) -> bool:
        """True if any buffer has that name."""
        return name in self._names and self._buffers_named[self._names.of(name)] > 0

    def event(self, here: int) -> int:
        return self._numbers[WIDTH * here]

    def name(self, here: int) -> Hashable:
        named = self._named[here]
        return self._odd[here] if named == ODD else self._names[named]

    def is_buffer(self, here: int) -> bool:
        return self._numbers[WIDTH * here + 2] != NOTHING

    def outside(self, here: int) -> int:
        """Return what it lies inside of."""
        return self._numbers[WIDTH * here + 1]

    def outwards(self, here: int) -> Iterator[int]:
        """Yield it, and all that it lies inside of."""
        while here != NOTHING:
            yield here
            here = self.outside(here)


class Threads:
    """What has begun in each thread since a buffer did, each inside the one before."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._groups = Found()
        self._last, self._below, self._depth = array("q"), array("q"), array("q")
        """What began last, how many that are no buffers began before the first of these and have not ended, and the number of these."""
        self._names: dict[int, dict[Hashable, int]] = {}
        """How many buffers of each name there are in a thread of more than a few."""

    def begin(self, begun: Begun, group: str) -> bool:
        """Return False if a buffer of that name lies inside another."""
        number = self._groups.of(group)
        if number == len(self._last):
            self._last.append(NOTHING)
            self._below.append(0)
            self._depth.append(0)
        last = self._last[number]
        if last == NOTHING and begun.buffer is None:
            self._below[number] += 1
            return True
        is_new = begun.buffer is None or self._is_new(number, begun.buffer.name)
        self._last[number] = self._waiting.put(begun, last)
        self._depth[number] += 1
        return is_new

    def end(self, group: str) -> int | None:
        """End what began last in the thread, and return it; NOTHING if that is no buffer and in none, None if nothing has begun."""
        if group not in self._groups:
            return None
        number = self._groups.of(group)
        last = self._last[number]
        if last == NOTHING:
            if not self._below[number]:
                return None
            self._below[number] -= 1
            return NOTHING
        self._last[number] = self._waiting.outside(last)
        self._depth[number] -= 1
        if number in self._names:
            names, name = self._names[number], self._waiting.name(last)
            if self._waiting.is_buffer(last):
                names[name] -= 1
                if not names[name]:
                    del names[name]
            if self._depth[number] <= FEW_INSIDE:
                del self._names[number]
        return last

    def left(self) -> Iterator[int]:
        """Yield what has not ended, thread by thread."""
        for last in self._last:
            yield from reversed([*self._waiting.outwards(last)])

    def _is_new(self, number: int, name: str) -> bool:
        """True if none of the buffers in the thread has that name. It is the next."""
        names, waiting = self._names.get(number), self._waiting
        if names is None:
            if not waiting.has_buffer(name):
                return True
            inside = (waiting.name(each) for each in waiting.outwards(self._last[number]) if waiting.is_buffer(each))
            if self._depth[number] < FEW_INSIDE:
                return name not in inside
            names = self._names[number] = {}
            for each in inside:
                names[each] = names.get(each, 0) + 1
        names[name] = names.get(name, 0) + 1
        return names[name] == 1
