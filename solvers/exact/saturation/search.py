"""Is there room for items below a height? A search that always places the item with the fewest addresses left, as DSATUR does with colours.

The addresses at which an item can still begin are the bits of a number, so what one item takes from another is one operation. Ties go to the item that
keeps most from others.

Of all placements the search finds the one that is least where the items are compared in the order of its branches. In this one no item can begin lower
while the others stay, nor is it lower upside down, or with two like items or two layers of equal items exchanged. So these addresses alone are tried:

- 0, and where an item in the way ends or may still end;
- for the first item, those in the lower half;
- for an item, none above one that is like it: of the same size, in the way of the same others, and in its way;
- where all sizes are 1, the layers in use and the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...model.interruption import check_interrupted
from ...model.solver import never

LOOK_EVERY = 64
"""Nodes between two looks at the clock."""
OPEN_PER_OPERATION = 4
"""So many items are compared in the time of one operation on addresses."""
BITS_PER_OPERATION = 1_024
"""And an operation on more addresses counts once more for each so many."""


class Found(NamedTuple):
    """Where the items begin, if there is room for them; None and sure: there is none; None and not sure: the work or the time ended."""

    offsets: tuple[int, ...] | None
    operations: int
    is_sure: bool


class _Branch(NamedTuple):
    """An item to be placed, and how to go back from the address that it has."""

    item: int
    rivals: tuple[int, ...]
    """Those in its way that are not placed."""
    alike: frozenset[int]
    taken: list[tuple[int, int]]
    """The addresses that others had before."""
    top: int
    """The end of the highest item that was placed before."""


def place_below(
    height: int,
    sizes: Sequence[int],
    rivals: Sequence[Sequence[int]],
    most_operations: int | None = None,
    stopped: Callable[[], object] = never,
) -> Found:
    """Look for places below the height; `rivals` has for each item those that it must be apart from, in ascending order. Items of no size are at 0."""
    if max(sizes, default=0) > height:
        return Found(None, 0, is_sure=True)
    core, last = _core(height, sizes, rivals)
    if most_operations is not None and len(core) ** 2 > most_operations:
        return Found(None, most_operations, is_sure=False)  # to begin would take more
    search = _Search(
        height, sizes, [[other for other in rivals[item] if other in core] for item in range(len(sizes))], core
    )
    is_sure = search.run(most_operations, stopped)
    if not is_sure or search.open:
        return Found(None, search.operations, is_sure)
    offsets = search.offsets
    for item in reversed(last):
        blocked = sorted(
            (offsets[other], offsets[other] + sizes[other])
            for other in rivals[item]
            if other in offsets and sizes[other]
        )
        at = 0
        for begin, end in blocked:
            if begin - at >= sizes[item]:
                break
            at = max(at, end)
        offsets[item] = at
    return Found(
        tuple(offsets[item] if sizes[item] else 0 for item in range(len(sizes))), search.operations, is_sure=True
    )


def _core(height: int, sizes: Sequence[int], rivals: Sequence[Sequence[int]]) -> tuple[set[int], list[int]]:
    """The items that may find no room, and the others, each of which finds some beside all that are not listed before it, wherever they are."""
    core = {item for item, size in enumerate(sizes) if size}
    blocked = [
        sum(sizes[other] + size - 1 for other in rivals[item] if other in core) for item, size in enumerate(sizes)
    ]
    last = list[int]()
    waiting = sorted(core)
    while waiting:
        item = waiting.pop()
        if item not in core or blocked[item] > height - sizes[item]:
            continue
        core.discard(item)
        last.append(item)
        for other in rivals[item]:
            if other in core:
                blocked[other] -= sizes[item] + sizes[other] - 1
                waiting.append(other)
    return core, last


class _Search:
    """The items that are not placed, the addresses that are left to each, and the places of the others."""

    def __init__(self, height: int, sizes: Sequence[int], rivals: Sequence[Sequence[int]], core: set[int]) -> None:
        self.open = core
        self.offsets: dict[int, int] = {}
        self.operations = len(core) ** 2
        self._height, self._sizes, self._rivals = height, sizes, rivals
        sums = _sums(height, [sizes[item] for item in sorted(core)])
        self._left = {item: sums & ((1 << height - sizes[item] + 1) - 1) for item in sorted(core)}
        by_worth = sorted(core, key=lambda item: (-sizes[item] * len(rivals[item]), item))
        self._rank = {item: rank for rank, item in enumerate(by_worth)}
        groups: dict[tuple[int, frozenset[int]], set[int]] = {}
        for item in sorted(core):
            groups.setdefault((sizes[item], frozenset((item, *rivals[item]))), set()).add(item)
        self._alike = {item: frozenset(group) for group in groups.values() for item in group}
        self._is_flat = all(sizes[item] == 1 for item in core)
        self._cost = 1 + height // BITS_PER_OPERATION

    def run(self, most: int | None, stopped: Callable[[], object]) -> bool:
        """Go on until all are placed, or nothing is left to try; False if the operations or the time ended before."""
        path = list[tuple[_Branch, int]]()
        nodes = 0
        goes_down = bool(self.open)
        while goes_down or path:
            if goes_down:
                nodes += 1
                if nodes % LOOK_EVERY == 0:
                    check_interrupted()
                    if stopped():
                        return False
                branch, choices = self._branch(path[-1][0] if path else None)
            else:
                branch, choices = path.pop()
                self._undo(branch)
            if most is not None and self.operations > most:
                return False
            goes_down = False
            while choices and not goes_down:
                low = choices & -choices
                choices ^= low
                goes_down = self._place(branch, low)
                if not goes_down:
                    self._undo(branch)
            if goes_down:
                path.append((branch, choices))
                goes_down = bool(self.open)
                if not goes_down:
                    return True
            else:
                self.open.add(branch.item)
        return True

    def _branch(self, above: _Branch | None) -> tuple[_Branch, int]:
        """The item to be placed next, taken from the open ones, and the addresses to be tried."""
        left, rank = self._left, self._rank
        item, fewest = -1, self._height + 2
        for each in self.open:
            count = left[each].bit_count()
            if count < fewest or (count == fewest and rank[each] < rank[item]):
                item, fewest = each, count
        self.open.discard(item)
        rivals = tuple(other for other in self._rivals[item] if other in self.open)
        self.operations += self._cost * (len(self.open) // OPEN_PER_OPERATION + len(self._rivals[item]) + 1)
        supported = 1
        for other in self._rivals[item]:
            at = self.offsets.get(other)
            supported |= (left[other] if at is None else 1 << at) << self._sizes[other]
        choices = left[item] & supported
        top = 0
        if above is None:
            choices &= (1 << (self._height - self._sizes[item]) // 2 + 1) - 1
        else:
            top = max(above.top, self.offsets[above.item] + self._sizes[above.item])
        if self._is_flat:
            choices &= (1 << top + 1) - 1
        return _Branch(item, rivals, self._alike[item], [], top), choices

    def _place(self, branch: _Branch, low: int) -> bool:
        """Place the item at the address of this bit; False if some other has no address left."""
        at, size, left = low.bit_length() - 1, self._sizes[branch.item], self._left
        self.operations += self._cost * (len(branch.rivals) + 1)
        self.offsets[branch.item] = at
        end = 1 << at + size
        for other in branch.rivals:
            before = left[other]
            first = at - self._sizes[other] + 1
            after = before & ~(end - (1 << first if first > 0 else 1))
            if other in branch.alike:
                after &= ~(low - 1)
            if after != before:
                branch.taken.append((other, before))
                left[other] = after
                if not after:
                    return False
        return True

    def _undo(self, branch: _Branch) -> None:
        """Take the item back from its address."""
        del self.offsets[branch.item]
        for other, before in branch.taken:
            self._left[other] = before
        branch.taken.clear()


def _sums(height: int, sizes: Sequence[int]) -> int:
    """A bit for each sum of some of the sizes, up to the height."""
    sums, within = 1, (1 << height + 1) - 1
    for size in sizes:
        sums |= sums << size & within
    return sums
