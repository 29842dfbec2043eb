"""Sets of blocks that may pairwise not share an object: blocks needed at one time, and blocks in conflict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from ..exact.cpsat.program.cover import cliques_of
from ..kernels import active
from ..model.conflicts import sets_of_partners
from ..model.instance import Instance, Ints
from .interference import MOST_PAIRS, block_pairs, conflict_pairs, distinct, merged_spans


def live_sets(instance: Instance, order: Ints) -> Iterator[tuple[int, Ints]]:
    """Sections, each with the given blocks that are needed in it, as positions in `order`. Sections whose set a neighbour's contains are left out.

    With exclusions between its members a set is no clique: use `Independent` on it.
    """
    position = np.full(instance.blocks, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    mine = position[instance.part_block[instance.rect_part]]
    here = mine >= 0
    starts = _by_section(mine[here], instance.rect_start[here], instance.sections)
    ends = _by_section(mine[here], instance.rect_end[here], instance.sections)
    live: Counter[int] = Counter()
    grown = False
    for section in range(instance.sections):
        for member in ends(section):
            live[member] -= 1
            if not live[member]:
                del live[member]
        begun = starts(section)
        live.update(begun)
        grown = grown or bool(begun)
        if grown and ends(section + 1):
            grown = False
            yield section, np.sort(np.fromiter(live, dtype=np.int64, count=len(live)))


def _by_section(members: Ints, sections: Ints, count: int) -> Callable[[int], list[int]]:
    """A function from a section to the members with an event there."""
    order = np.argsort(sections, kind="stable")
    sorted_members: list[int] = members[order].tolist()
    bounds = np.searchsorted(sections[order], np.arange(count + 2)).tolist()

    def of(section: int) -> list[int]:
        return sorted_members[bounds[section] : bounds[section + 1]]

    return of


class LiveBlocks:
    """The times at which the blocks of an order, the largest first, are needed."""

    def __init__(self, instance: Instance, order: Ints) -> None:
        spans = merged_spans(instance)
        rows = [(number, start, end) for number, block in enumerate(order.tolist()) for start, end in spans[block]]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self._member, self._start, self._end = (np.ascontiguousarray(column) for column in table.T)
        self._sections = instance.sections
        self._size = instance.block_high[order]

    def needed_in(self, section: int) -> Ints:
        """The blocks needed in the section, as positions in the order."""
        members: Ints = np.unique(self._member[(self._start <= section) & (self._end > section)])
        return members

    def peak_sections(self, is_over: Callable[[], bool]) -> list[int]:
        """Sections that, for every size, include one with the most blocks of at least that size.

        The number only grows as the size falls, so sizes between two with equal numbers are skipped.
        """
        last_of_size = np.flatnonzero(np.append(self._size[1:] != self._size[:-1], True)).tolist()
        found: dict[int, None] = {}
        todo = [(0, len(last_of_size) - 1)] if len(self._member) else []
        counted: dict[int, int] = {}

        def count(level: int) -> int:
            if level not in counted:
                rows = int(np.searchsorted(self._member, last_of_size[level], side="right"))
                ones = np.ones(rows, dtype=np.int64)
                most, section = active().kernels.max_live(self._start[:rows], self._end[:rows], ones, self._sections)
                counted[level] = int(most)
                if section is not None:
                    found[int(section)] = None
            return counted[level]

        while todo and not (found and is_over()):  # at least one section, however little time there is
            low, high = todo.pop()
            if count(high) > count(low) and high - low > 1:
                middle = (low + high) // 2
                todo += [(low, middle), (middle, high)]
        return list(found)


class Independent:
    """Takes from a live set blocks that must all be in different objects: of an excluded pair, the larger one."""

    def __init__(self, instance: Instance, order: Ints) -> None:
        self._excluded = sets_of_partners(_within(instance, order, instance.part_block[instance.exclusions]).tolist())

    def of(self, members: Ints) -> Ints:
        if not self._excluded:
            return members
        there, left_out = set(members.tolist()), set[int]()
        for member in sorted(there & self._excluded.keys()):
            if member not in left_out:
                left_out.update(other for other in self._excluded[member] if other > member and other in there)
        return members[~np.isin(members, list(left_out))] if left_out else members


def has_exclusions(instance: Instance, order: Ints) -> bool:
    """True if two of these blocks may share although they are needed together."""
    return bool(len(_within(instance, order, instance.part_block[instance.exclusions])))


def conflict_cliques(instance: Instance, order: Ints, most: int = MOST_PAIRS) -> Iterator[list[int]]:
    """Cliques, as positions in `order`, that contain every clashing pair that is in no live set; with exclusions, every clashing pair.

    Raises Unsupported if there are more than so many pairs.
    """
    pairs = block_pairs(instance, most) if has_exclusions(instance, order) else conflict_pairs(instance)
    return map(list, cliques_of(_within(instance, order, pairs)))


def _within(instance: Instance, order: Ints, pairs: Ints) -> Ints:
    """The pairs with both blocks in the order, as positions in `order`, sorted."""
    position = np.full(instance.blocks, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    placed = np.sort(position[pairs], axis=1).reshape(-1, 2)
    return distinct(placed[(placed[:, 0] >= 0) & (placed[:, 0] < placed[:, 1])], len(order))
