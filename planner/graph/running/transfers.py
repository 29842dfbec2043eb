"""The transfers that a function has begun, and that nobody has waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...model.problem import BufferId


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """One transfer; where branches and loops may have begun others to the same result, all of them."""

    is_certain: bool
    """False if only branches and loops may have begun it."""
    needed: dict[BufferId, None] = field(default_factory=dict)
    """Its sides, in order."""
    results: dict[BufferId, None] = field(default_factory=dict)
    """Its result and views of it: to wait for one is to wait for all."""


class Begun:
    """Transfers by their results and views of these."""

    __slots__ = ("_needs", "_of")

    def __init__(self) -> None:
        self._of: dict[BufferId, Transfer] = {}
        self._needs: dict[BufferId, int] = {}
        """The number of transfers that need it, where there is any."""

    def __contains__(self, result: BufferId) -> bool:
        return result in self._of

    def __bool__(self) -> bool:
        return bool(self._of)

    def __iter__(self) -> Iterator[Transfer]:
        yield from {id(each): each for each in self._of.values()}.values()

    def begin(self, result: BufferId, needed: Iterable[BufferId], *, is_certain: bool = True) -> None:
        """Begin one. If that is certain, it is the only one to the result from now on."""
        transfer = self._of.get(result)
        if transfer is None or is_certain:
            if transfer is not None:
                self._leave(transfer, result)
            transfer = self._of[result] = Transfer(is_certain)
        self._need(transfer, needed)
        transfer.results[result] = None

    def look_at(self, result: BufferId, view: BufferId) -> None:
        """Let this be a view of the result."""
        transfer, before = self._of[result], self._of.get(view)
        if before is not None and before is not transfer:
            self._need(transfer, before.needed)
            self._leave(before, view)
        self._of[view] = transfer
        transfer.results[view] = None

    def needs(self, id_: BufferId) -> bool:
        """True if any transfer needs it."""
        return id_ in self._needs

    def sides(self, result: BufferId) -> Iterable[BufferId]:
        """Return what the transfers to the result need."""
        return self._of[result].needed if result in self._of else ()

    def end(self, result: BufferId) -> Iterable[BufferId]:
        """Forget the transfers to the result, and return what they needed."""
        transfer = self._of[result]
        for each in (*transfer.results,):
            del self._of[each]
            self._leave(transfer, each)
        return transfer.needed

    def _need(self, transfer: Transfer, ids: Iterable[BufferId]) -> None:
        for id_ in ids:
            if id_ not in transfer.needed:
                transfer.needed[id_] = None
                self._needs[id_] = self._needs.get(id_, 0) + 1

    def _leave(self, transfer: Transfer, result: BufferId) -> None:
        """Take the result from the transfer, which is over when it has none."""
        del transfer.results[result]
        if not transfer.results:
            for id_ in transfer.needed:
                self._needs[id_] -= 1
                if not self._needs[id_]:
                    del self._needs[id_]
