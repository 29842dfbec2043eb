"""Very many buffers of a dsa-solver document in columns. Each is made as the document has it when it is asked for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from .dsa_wire import BufferWire


class Buffers(Sequence[BufferWire]):
    """Buffers that came from a document."""

    def __init__(self, buffers: Iterable[BufferWire]) -> None:
        self.clear()
        self.extend(buffers)

    def clear(self) -> None:
        self._ids, self._sizes, self._alignments, self._lists = (array("q") for _ in range(4))
        self._names: list[str] = []
        self._pools: dict[tuple[int, ...], int] = {}
        """The different lists of pools, by their numbers in `_lists`."""
        self._times = array("q")
        """Where the lifetimes of all buffers begin and end."""
        self._ends = array("q", [0])
        """The number of times before the first buffer, and up to the end of each."""

    def extend(self, buffers: Iterable[BufferWire]) -> None:
        for each in buffers:
            pools = tuple(each["allowed_pools"])
            self._ids.append(each["id"])
            self._sizes.append(each["size"])
            self._alignments.append(each["alignment"])
            self._lists.append(self._pools.setdefault(pools, len(self._pools)))
            self._names.append(each["name"])
            for span in each["live_intervals"]:
                self._times.append(span["lower"])
                self._times.append(span["upper"])
            self._ends.append(len(self._times))

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, at: int) -> BufferWire: ...
    @overload
    def __getitem__(self, at: slice) -> list[BufferWire]: ...
    def __getitem__(self, at: int | slice) -> BufferWire | list[BufferWire]:
        return [*self][at]

    def __iter__(self) -> Iterator[BufferWire]:
        pools = [[*each] for each in self._pools]
        columns = zip(self._ids, self._names, self._sizes, self._alignments, self._lists, strict=True)
        for i, (id_, name, size, alignment, list_) in enumerate(columns):
            times = iter(self._times[self._ends[i] : self._ends[i + 1]])
            yield {
                "id": id_,
                "name": name,
                "size": size,
                "alignment": alignment,
                "live_intervals": [{"lower": lower, "upper": upper} for lower, upper in zip(times, times, strict=True)],
                "allowed_pools": pools[list_],
            }
