"""Buffers made anew that are those of an earlier call, value by value: the earlier objects stand in for them, and all that is known of those holds."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

from ....model.problem import Buffer, BufferId

FIELDS = attrgetter(*[name for name in Buffer.__dataclass_fields__ if name != "data"])
PLAIN = 2
"""The version of marshal's bytes in which equal values of equal types, and only those, have equal bytes; but see `values_of`."""


class SameBuffers:
    """The buffers of the last problem, and perhaps some of earlier ones, by their ids and all their values."""

    def __init__(self) -> None:
        self._known: dict[BufferId, tuple[bytes, Buffer | None]] = {}

    def in_place_of(self, buffers: Sequence[Buffer], new: Sequence[int]) -> tuple[Buffer, ...]:
        """Return the buffers, the last problem's own in place of equal ones among the `new`, which are not its own objects."""
        known = self._known
        found = list(buffers)
        for i in new if known else ():
            buffer = buffers[i]
            values, other = known.get(buffer.id, NONE) if type(buffer.id) in (str, int) else NONE
            if other is None or other is buffer or type(buffer) is not Buffer or not has_the_data_of(other, buffer):
                continue
            if values != b"" and values == values_of(buffer, FIELDS):
                found[i] = other
        return tuple(found)

    def remember(self, buffers: Sequence[Buffer], new: Sequence[int]) -> None:
        """Take these for the last problem's; those that are not `new` already were. Nobody can change them."""
        known = self._known
        for i in new:
            known[buffers[i].id] = values_of(buffers[i], FIELDS), buffers[i]
        if len(known) > 2 * len(buffers):
            self._known = {buffer.id: known.get(buffer.id, NONE) for buffer in buffers}


NONE: tuple[bytes, Buffer | None] = b"", None


def has_the_data_of(one: Buffer, other: Buffer) -> bool:
    return one.data is other.data or (type(one.data) is type(other.data) and one.data == other.data)


def values_of(given: object, fields: attrgetter[Any]) -> bytes:
    """Return these fields' values and their types as bytes; none if there are others than numbers, texts and tuples of them.

    Whatever is like bytes (views, numbers of numpy) counts as bytes: so only values without any are to be remembered.
    """
    try:
        return marshal.dumps(fields(given), PLAIN)
    except ValueError:
        return b""


def values_of_all(given: Iterable[object], fields: attrgetter[Any]) -> list[bytes]:
    """Return the same of each."""
    try:
        return [*map(marshal.dumps, map(fields, given), repeat(PLAIN))]
    except ValueError:
        return [values_of(each, fields) for each in given]
