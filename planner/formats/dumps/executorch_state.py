"""State that several methods of an ExecuTorch program share: in the file it has one place in all of them, and nothing else ever lies there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...model.problem import Interval


class Tensor(NamedTuple):
    """A tensor with a place."""

    size: int
    memory: int
    offset: int
    name: str
    """Its name in the model, if the file has it; it does only for state."""
    filled: bool
    """The file has its contents, as it does only for state."""

    @property
    def bytes(self) -> tuple[int, int, int]:
        """Which bytes it takes: memory, offset and size."""
        return self.memory, self.offset, self.size

    @property
    def is_state(self) -> bool:
        return self.filled or self.name != ""


class Used(NamedTuple):
    """A tensor that a method uses."""

    id: str
    tensor: Tensor
    method: int
    live: Interval
    is_state: bool
    """The file says it, or its contents come from before the method, or it is numbered as state is."""


class _Place:
    """What methods have in the same bytes."""

    def __init__(self) -> None:
        self.methods: set[int] = set()
        self.named: set[int] = set()
        """Methods in which it has a name."""
        self.names: set[str] = set()
        self.is_state = False


def shared_bytes(found: Iterable[Used]) -> set[tuple[int, int, int]]:
    """Return the bytes of state that methods share.

    If there is nothing but state in a memory, all of it is shared. Elsewhere, state that several methods call by one name is. What lies over other
    bytes of any method is not: then each method has memory of its own.
    """
    places: dict[tuple[int, int, int], _Place] = {}
    for tensor, method, is_state in ((each.tensor, each.method, each.is_state) for each in found if each.tensor.size):
        place = places.setdefault(tensor.bytes, _Place())
        place.methods.add(method)
        place.is_state = place.is_state or is_state
        if tensor.name:
            place.names.add(tensor.name)
            place.named.add(method)
    crossing = _crossing(sorted(places))
    mixed = {at[0] for at, place in places.items() if at in crossing or not place.is_state or len(place.names) > 1}
    return {
        at
        for at, place in places.items()
        if at[0] not in mixed
        or (at not in crossing and len(place.names) == 1 and len(place.methods) > 1 and place.named == place.methods)
    }


def _crossing(places: Sequence[tuple[int, int, int]]) -> set[tuple[int, int, int]]:
    """Return those of the sorted places that have bytes in common with another."""
    crossing: set[tuple[int, int, int]] = set()
    memory, top = -1, 0
    for i, (in_, offset, size) in enumerate(places):
        if in_ != memory:
            memory, top = in_, 0
        following = places[i + 1] if i + 1 < len(places) else (-1, 0, 0)
        if offset < top or (following[0] == memory and following[1] < offset + size):
            crossing.add(places[i])
        top = max(top, offset + size)
    return crossing
