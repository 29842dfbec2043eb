"""omnimalloc's times of several threads: a vector clock, with a count for each thread (`4:2`).

A buffer is needed from its first clock on until just before its last. Two may share addresses only if one ends before the other begins, whatever
the threads do: no count at the end of the one is above that at the beginning of the other. So clocks become conflicts.
"""

from __future__ import annotations

import re

import numpy as np

from ...checks.report import Report, bad_input, quoted
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import MAX_TIME, BufferId

MARK = ":"
PAIRS, BYTES_A_PAIR = 1 << 16, 8
"""The conflicts that clocks in any file may make, and the bytes per further one."""
MOST_COMPARED = 10_000
"""The most buffers that are compared with each other."""
_CLOCK = re.compile(r"\s*[0-9]{1,18}(?::[0-9]{1,18}){0,63}\s*", re.ASCII)


class Clocks:
    """The clocks of all rows. If one row has clocks, all have, of as many threads."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._count = 0
        self._times: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        """Of the first rows; of only one once there are too many to compare."""

    def __bool__(self) -> bool:
        return bool(self._times)

    @property
    def are_too_many(self) -> bool:
        """True if they will be refused, however the file goes on: none need be kept."""
        return self._count > MOST_COMPARED

    def add(self, row: int, line: int, begin: str, end: str) -> None:
        """Read a row's clocks."""
        before = self._report.found
        start, stop = (self._clock(row, line, *cell) for cell in (("lower", begin), ("upper", end)))
        if self._report.found > before:
            return
        threads = len(self._times[0][0]) if self._times else len(start)
        if not len(start) == len(stop) == threads:
            text = f"line {line}: clocks of {len(start)} and {len(stop)} threads, where others have {threads}"
            self._report.add(Code.CONTRADICTION, ("rows", row, "lower"), text)
        elif start == stop or any(first > last for first, last in zip(start, stop, strict=True)):
            text = f"line {line}: the end {quoted(end)} does not come after the start {quoted(begin)}"
            self._report.add(Code.INTERVAL_REVERSED, ("rows", row), text)
        else:
            self._count += 1
            if self.are_too_many:
                del self._times[1:]
            else:
                self._times.append((start, stop))

    def conflicts(self, ids: list[BufferId], size: int) -> tuple[tuple[BufferId, BufferId], ...]:
        """Return the pairs that may be needed at one time, of the buffers of all rows, in a file of this size. Raises BadInput if they are too many."""
        if self.are_too_many:
            raise bad_input(Code.TOO_LARGE, (), f"{self._count} buffers with clocks of threads are too many to compare")
        most = PAIRS + size // BYTES_A_PAIR
        start, stop = (np.array([clock[end] for clock in self._times], np.int64) for end in (0, 1))
        found: list[tuple[BufferId, BufferId]] = []
        for i, id_ in enumerate(ids):
            tick("reading")
            later, ends = start[i + 1 :], stop[i + 1 :]
            apart = (stop[i] <= later).all(axis=1) | (ends <= start[i]).all(axis=1)
            found += [(id_, ids[i + 1 + j]) for j in np.flatnonzero(~apart).tolist()]
            if len(found) > most:
                text = f"clocks of threads make more than {most} conflicts, and a file of {size} bytes may have no more"
                raise bad_input(Code.TOO_LARGE, (), text)
        return tuple(found)

    def _clock(self, row: int, line: int, column: str, cell: str) -> tuple[int, ...]:
        if _CLOCK.fullmatch(cell) is None or any(int(part) > MAX_TIME for part in cell.split(MARK)):
            text = f"line {line}: {column} must be a number or a clock of at most 64 threads, such as 4:2, not {quoted(cell)}"
            self._report.add(Code.WRONG_TYPE, ("rows", row, column), text)
            return ()
        return tuple(map(int, cell.split(MARK)))
