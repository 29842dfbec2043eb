"""Where the tensors of functions are: the name of each one's memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from ...model.problem import BufferId

Name: TypeAlias = tuple[str | None, BufferId]
"""A tensor by its function; None: visible to every function."""


class Homes(Mapping[Name, BufferId]):
    """The name of each tensor's memory, without storing a pair for each; large programs have very many."""

    def __init__(self) -> None:
        self._of: dict[str | None, dict[BufferId, BufferId]] = {}
        self._kept: dict[str, tuple[Sequence[BufferId], Mapping[BufferId, int], range]] = {}

    def keep(self, function: str, ids: Sequence[BufferId], number: Mapping[BufferId, int]) -> None:
        """Note that the function's tensors have kept their names; they are the last in `number`."""
        self._kept[function] = ids, number, range(len(number) - len(ids), len(number))

    def __getitem__(self, name: Name) -> BufferId:
        function, id_ = name
        if function in self._kept:
            _, number, those = self._kept[function]
            if number.get(id_) in those:
                return id_
        return self._of[function][id_]

    def __setitem__(self, name: Name, home: BufferId) -> None:
        self._of.setdefault(name[0], {})[name[1]] = home

    def __iter__(self) -> Iterator[Name]:
        kept = ((function, id_) for function, (ids, _, _) in self._kept.items() for id_ in ids)
        return chain(((function, id_) for function, homes in self._of.items() for id_ in homes), kept)

    def __len__(self) -> int:
        return sum(map(len, self._of.values())) + sum(len(ids) for ids, _, _ in self._kept.values())
