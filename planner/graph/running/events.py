"""The events of each tensor and the times at which it is needed, for large programs: columns of numbers instead of objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...model.problem import BufferId
from .liveness import Event, EventColumns, Life

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READ, _WRITTEN = 1, 2
"""Bits that tell what happens to a tensor at a tick."""
MANY = 64
"""The events of a tensor from which on they stay in columns."""


class Events:
    """The events of tensors, in order of time."""

    def __init__(self, number: Mapping[BufferId, int]) -> None:
        self.number = number
        self._happened = bytearray(len(self.number))
        self._of = array("i")
        """The tensor's number."""
        self._what = array("i")
        """The tick, with the kind of event in the last bits."""

    def __len__(self) -> int:
        return len(self._of)

    def note(self, id_: BufferId, tick: int, *, is_read: bool, is_written: bool) -> None:
        number = self.number[id_]
        self._happened[number] = 1
        self._of.append(number)
        self._what.append(tick << 2 | _READ * is_read | _WRITTEN * is_written)

    def has(self, id_: BufferId) -> bool:
        """True if it has any event."""
        return bool(self._happened[self.number[id_]])

    def written_since(self, length: int) -> frozenset[int]:
        """Return the numbers of the tensors written since there were `length` events."""
        what = np.frombuffer(self._what, np.int32)[length:]
        return frozenset(np.frombuffer(self._of, np.int32)[length:][what & _WRITTEN != 0].tolist())

    def of_each(self) -> Iterator[Sequence[Event]]:
        """Yield the events of each tensor, one per tick."""
        of = np.frombuffer(self._of, np.int32)
        order = np.argsort(of, kind="stable")
        ends = np.cumsum(np.bincount(of, minlength=len(self.number)))
        start = 0
        for end in ends:
            here = np.frombuffer(self._what, np.int32)[order[start:end]]
            start = end
            if len(here) > MANY:
                yield _in_columns(here)
                continue
            found: dict[int, int] = {}
            for what in here.tolist():
                found[what >> 2] = found.get(what >> 2, 0) | what & (_READ | _WRITTEN)
            yield [Event(tick, bool(bits & _READ), bool(bits & _WRITTEN)) for tick, bits in found.items()]


def _in_columns(what: NDArray[np.int32]) -> EventColumns:
    """Return a tensor's many events, which are in order of time."""
    ticks = what >> 2
    first = np.flatnonzero(np.diff(ticks, prepend=-1))
    bits = np.bitwise_or.reduceat(what & (_READ | _WRITTEN), first)
    return EventColumns(array("i", ticks[first].tobytes()), bytes(bits & _READ != 0), bytes(bits & _WRITTEN != 0))


class _Column:
    """Some numbers for each tensor, nearly always equally many."""

    def __init__(self, usual: int) -> None:
        self._usual = usual
        self._numbers = array("q")
        self._others: dict[int, tuple[int, ...]] = {}
        """The numbers of tensors that have more or fewer."""

    def append(self, numbers: tuple[int, ...]) -> None:
        if len(numbers) != self._usual:
            self[len(self._numbers) // self._usual] = numbers
            numbers = (0,) * self._usual
        self._numbers.extend(numbers)

    def __getitem__(self, i: int) -> tuple[int, ...]:
        there = self._others.get(i)
        return tuple(self._numbers[self._usual * i : self._usual * (i + 1)]) if there is None else there

    def __setitem__(self, i: int, numbers: tuple[int, ...]) -> None:
        self._others[i] = numbers


class Lives(Mapping[BufferId, Life]):
    """When each tensor is needed."""

    def __init__(self, number: Mapping[BufferId, int]) -> None:
        self._number = number
        self._spans, self._ends = _Column(2), _Column(1)

    def append(self, life: Life) -> None:
        """Add the next tensor's life."""
        self._spans.append(tuple(tick for span in life.spans for tick in span))
        self._ends.append(life.ends)

    def __getitem__(self, id_: BufferId) -> Life:
        i = self._number[id_]
        spans = self._spans[i]
        return Life(tuple(zip(spans[::2], spans[1::2], strict=True)), self._ends[i])

    def __iter__(self) -> Iterator[BufferId]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)


class Writes:
    """The ticks at which each tensor is written, in order."""

    def __init__(self, number: Mapping[BufferId, int]) -> None:
        self._number, self._ticks = number, _Column(1)

    def append(self, ticks: tuple[int, ...]) -> None:
        """Add the next tensor's ticks."""
        self._ticks.append(ticks)

    def __getitem__(self, id_: BufferId) -> tuple[int, ...]:
        return self._ticks[self._number[id_]]

    def __setitem__(self, id_: BufferId, ticks: tuple[int, ...]) -> None:
        self._ticks[self._number[id_]] = ticks
