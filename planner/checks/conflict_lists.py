"""Conflicts as compilers list them, each buffer naming the others it must be apart from, as pairs that hold both ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import Code
from ..problem import BufferId, Constraints, Pair
from .report import Report, quoted


def from_lists(lists: Sequence[tuple[BufferId, Iterable[BufferId]]], report: Report) -> Constraints:
    """Each buffer's name with the names it lists. Naming on one side is enough; a buffer may name itself, which says nothing.

    Names that no buffer has are reported at /buffers/i/conflicts/j. Lists that are not symmetric are kept as they are besides.
    """
    place = {name: i for i, (name, _) in reversed(list(enumerate(lists)))}
    pairs: dict[Pair, None] = {}
    listed: dict[Pair, None] = {}
    for i, (name, others) in enumerate(lists):
        for j, other in enumerate(others):
            at = place.get(other)
            if at is None:
                report.add(Code.UNKNOWN_BUFFER, ("buffers", i, "conflicts", j), f"there is no buffer {quoted(other)}")
                continue
            listed[name, other] = None
            if at != i:
                pairs[(name, other) if i < at else (other, name)] = None
    symmetric = all(name != other and (other, name) in listed for name, other in listed)
    return Constraints(conflicts=tuple(pairs), listed=() if symmetric else tuple(listed))
