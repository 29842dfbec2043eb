"""Buffers that overlap in a file while both are needed share their bytes on purpose, and do so in every plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...checks.report import Place, bad_input
from ...model.errors import Code
from ...model.problem import Buffer, Colocation

MOST_PAIRS = 5_000_000
"""The most pairs of buffers examined for sharing."""


def end_of(buffer: Buffer) -> int:
    """Return the end of the buffer's place in the file."""
    return (buffer.hint or 0) + buffer.size


def colocations(buffers: Sequence[Buffer], place: Place) -> Iterator[Colocation]:
    """Return colocations that tie each buffer of such a group to its lowest. Raises BadInput.

    Hints are the file's places, and each buffer has one interval and one pool.
    """
    base: dict[int, int] = {}

    def root(i: int) -> int:
        while i in base:
            base[i] = base.get(base[i], base[i])
            i = base[i]
        return i

    ordered = sorted(range(len(buffers)), key=lambda i: (buffers[i].live or ((0, 0),))[0][0])
    active: dict[str, list[int]] = {}
    looked = 0
    for i in ordered:
        buffer = buffers[i]
        (start, _), *_ = buffer.live or ((0, 0),)
        there = active.setdefault((buffer.pools or ("",))[0], [])
        there[:] = [j for j in there if (buffers[j].live or ((0, 0),))[0][1] > start]
        looked += len(there)
        if looked > MOST_PAIRS:
            raise bad_input(Code.TOO_LARGE, place, "too many tensors are used at once")
        for j in there:
            other = buffers[j]
            if (other.hint or 0) < end_of(buffer) and (buffer.hint or 0) < end_of(other) and root(i) != root(j):
                low, high = sorted((root(i), root(j)), key=lambda k: (buffers[k].hint or 0, k))
                base[high] = low
        there.append(i)
    for i, buffer in enumerate(buffers):
        if i in base:
            top = buffers[root(i)]
            yield Colocation(buffer.id, top.id, (buffer.hint or 0) - (top.hint or 0))
