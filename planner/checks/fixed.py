"""Checks of addresses that are already decided: by `fixed`, or by colocation with a fixed buffer. In arrays if all that counts of the buffers is in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import lcm
from typing import NamedTuple

import numpy as np

from solvers.model.instance import Ints

from ..facts.colocation import Congruence
from ..facts.figures import fixed_ones
from ..facts.intervals import first_meeting, merged, merged_as_held, overlap
from ..facts.sweep import Piece, Pieces, all_apart, meetings
from ..model.columns.buffers import counted_alignments, restricted
from ..model.columns.varied import NOWHERE, VariedColumns, are_any_fixed
from ..model.deadline import tick
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS, Buffer, Interval, Pool, Problem
from .colocations import Groups
from .names import Names
from .pairs import PairKeys
from .pool_choice import Homes
from .report import Place, Report, quoted

MAX_MEETINGS = 1_000_000
"""The most overlaps of buffers that are allowed to overlap that are examined. Beyond, finding contradictions is left to the solvers."""

MOST_COUNTED = 100_000
"""The most overlaps that are counted."""

MAX_RULES = 64
"""The most different alignments examined in one group once their common multiple exceeds the address range."""


class Pinned(NamedTuple):
    """A buffer whose address is decided."""

    pool: int
    offset: int
    by: int
    """The buffer whose `fixed` decides it: itself, or one colocated with it."""


class PinnedColumns(Mapping[int, Pinned]):
    """The buffers in columns that are fixed at an offset, by their numbers. Their sizes and pools are sound; nothing ties them to each other."""

    def __init__(self, columns: VariedColumns, names: Names) -> None:
        offset = columns.rare.get("offset")
        self._columns = columns
        self._which = np.zeros(0, np.int64) if offset is None else np.flatnonzero(offset != NOWHERE)
        self._offset = self._which if offset is None else offset if len(self) == len(offset) else offset[self._which]
        homes = np.array([-1 if each.home is None else names.pools[each.home] for each in columns.sayings])
        self._pool = homes.astype(np.min_scalar_type(-len(names.pools)))[columns.said[self._which]]

    def __len__(self) -> int:
        return len(self._which)

    def __iter__(self) -> Iterator[int]:
        return iter(self._which.tolist())

    def __getitem__(self, i: int) -> Pinned:
        at = int(np.searchsorted(self._which, i))
        if at == len(self._which) or self._which[at] != i:
            raise KeyError(i)
        return Pinned(int(self._pool[at]), int(self._offset[at]), i)

    def misplaced(self, problem: Problem) -> list[int]:
        """Return the numbers of those that break a rule of their pool or of their own, in order."""
        columns, found = self._columns, np.zeros(len(self), bool)
        highest = columns.rare.get("max_offset")
        if highest is not None:
            found = (highest[self._which] != NOWHERE) & (self._offset > highest[self._which])
        for p in _used(self._pool):
            at = np.flatnonzero(self._pool == p)
            which = self._which[at]
            found[at] |= _break_rules(problem.pools[p], self._offset[at], columns.size[which], columns.alignment[which])
        numbers: list[int] = self._which[found].tolist()
        return numbers

    def pieces(self) -> Iterator[Pieces]:
        """Return, for each pool, the addresses that its buffers take, and when."""
        columns, which = self._columns, self._which
        start, end, owner = columns.lives()
        kept = (start < end) & (columns.size[owner] > 0)
        if len(which) < len(columns):
            is_pinned = np.zeros(len(columns), bool)
            is_pinned[which] = True
            kept &= is_pinned[owner]
        if not kept.all():
            start, end, owner = start[kept], end[kept], owner[kept]
        del kept
        at = np.searchsorted(which, owner) if len(which) < len(columns) else owner
        low = self._offset[at]
        high, pool = low + columns.size[owner], self._pool[at]
        del at
        used = _used(pool)
        if len(used) == 1:
            yield Pieces(low, high, start, end, owner)
            return
        for p in sorted(used, key=lambda p: int(np.argmax(pool == p))):  # in the order of the buffers
            its = pool == p
            yield Pieces(low[its], high[its], start[its], end[its], owner[its])


def _used(numbers: Ints) -> list[int]:
    """Return the different ones of these small numbers."""
    found: list[int] = np.flatnonzero(np.bincount(numbers)).tolist()
    return found


def _break_rules(pool: Pool, offset: Ints, size: Ints, alignment: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell of each of the pool's buffers whether it lies outside, in a reserved range or unaligned."""
    end = offset + size
    address = offset.astype(np.uint64) + np.uint64(pool.base or 0)
    found = (address % alignment.astype(np.uint64) != 0) | (address % np.uint64(pool.alignment) != 0)
    if pool.size is not None:
        found |= end > pool.size
    reserved = np.array(merged(pool.reserved), dtype=np.int64).reshape(-1, 2)
    if len(reserved):
        at = np.minimum(np.searchsorted(reserved[:, 1], offset, side="right"), len(reserved) - 1)
        found |= (offset < reserved[at, 1]) & (reserved[at, 0] < end) & (offset < end)
    broken: np.ndarray[tuple[int], np.dtype[np.bool_]] = found
    return broken


def check_fixed(problem: Problem, names: Names, groups: Groups, homes: Homes, report: Report) -> None:
    buffers, reserved = problem.buffers, [merged_as_held(pool.reserved) for pool in problem.pools]
    pinned: Mapping[int, Pinned]
    suspects: Iterable[int]
    if isinstance(buffers, VariedColumns) and not (groups.are_any and are_any_fixed(buffers)):
        pinned = PinnedColumns(buffers, names)
        suspects = pinned.misplaced(problem)
    else:
        pinned = suspects = _pin(problem, names, groups, report)
    for i in suspects:
        pin = pinned[i]
        buffer, pool = problem.buffers[i], problem.pools[pin.pool]
        for text in _objections(buffer, pool, pin.offset, reserved[pin.pool]):
            reason = "" if pin.by == i else f" (it follows {quoted(problem.buffers[pin.by].id)}, which is fixed)"
            whole = f"buffer {quoted(buffer.id)} at {pin.offset} in pool {quoted(pool.name)} {text}{reason}"
            report.add(Code.CONTRADICTION, ("buffers", pin.by, "fixed", "offset"), whole)
    _check_overlaps(problem, names, groups, pinned, report)
    is_any_offset_right = all(pool.alignment == 1 for pool in problem.pools)
    if (is_any_offset_right and {*counted_alignments(buffers)} <= {1}) or _are_all_aligned(problem, groups):
        return
    for root, members in groups.members.items():
        tick("checking")
        if is_any_offset_right and all(problem.buffers[i].alignment == 1 for i in members):
            continue
        if root not in pinned:
            _check_alignments(problem, groups, members, homes.choices(members), report)


def _are_all_aligned(problem: Problem, groups: Groups) -> bool:
    """True if the members of each group lie at multiples of all alignments from its lowest one, and so are aligned where that is."""
    whole = lcm(*{pool.alignment for pool in problem.pools}, *counted_alignments(problem.buffers))
    if groups.forest is None or whole > MAX_ADDRESS or any((pool.base or 0) % whole for pool in problem.pools):
        return False
    return not (groups.forest.offsets.astype(np.int64) % whole).any()


def _pin(problem: Problem, names: Names, groups: Groups, report: Report) -> dict[int, Pinned]:
    """Return every buffer whose address is decided; in a group, the first fixed member decides for all."""
    pinned: dict[int, Pinned] = {}
    for i, buffer in restricted(problem.buffers) if problem.facts.neighbour is None else fixed_ones(problem):
        fixed = buffer.fixed
        if fixed is None or fixed.offset is None:
            continue
        pool = names.pools[fixed.pool]
        if i not in groups.root:
            pinned[i] = Pinned(pool, fixed.offset, i)
            continue
        known = pinned.get(i)
        if known is None:
            for j in groups.members[groups.root[i]]:
                pinned[j] = Pinned(pool, fixed.offset + groups.shift[j] - groups.shift[i], i)
        elif known.offset != fixed.offset:
            text = (
                f"buffer {quoted(buffer.id)} is fixed at {fixed.offset}, but follows "
                f"{quoted(problem.buffers[known.by].id)}, which puts it at {known.offset}"
            )
            report.add(Code.CONTRADICTION, ("buffers", i, "fixed", "offset"), text)
    return pinned


def _objections(buffer: Buffer, pool: Pool, offset: int, reserved: Sequence[Interval]) -> list[str]:
    texts = []
    end = offset + buffer.size
    if offset < 0:
        texts.append("begins below the pool")
    elif pool.size is not None and end > pool.size:
        texts.append(f"ends at {end}, beyond the pool's size {pool.size}")
    hit = first_meeting(reserved, offset, end)
    if hit is not None:
        texts.append(f"touches the reserved range [{hit[0]}, {hit[1]})")
    alignment = lcm(pool.alignment, buffer.alignment)
    if ((pool.base or 0) + offset) % alignment:
        what = "address" if pool.base else "offset"
        texts.append(
            f"has an {what} that is not a multiple of {quoted(alignment)}, the common alignment of buffer and pool"
        )
    if buffer.max_offset is not None and offset > buffer.max_offset:
        texts.append(f"is above its own max_offset {buffer.max_offset}")
    return texts


def _check_overlaps(
    problem: Problem, names: Names, groups: Groups, pinned: Mapping[int, Pinned], report: Report
) -> None:
    """Report decided addresses that overlap although the buffers conflict, each pair once."""
    if len(pinned) < 2:
        return
    keys = PairKeys(names)
    reported: set[int] = set()
    for i, j, place, why in chain(
        _in_conflict(problem, names, groups, pinned), _live_together(problem, keys, groups, pinned)
    ):
        key = keys.of_indices(i, j)
        if key not in reported:
            reported.add(key)
            a, b = problem.buffers[min(i, j)], problem.buffers[max(i, j)]
            pool = quoted(problem.pools[pinned[i].pool].name)
            text = f"buffers {quoted(a.id)} and {quoted(b.id)} {why}, but are fixed at overlapping addresses of pool {pool}"
            report.add(Code.CONTRADICTION, place, text)
            if len(reported) == MOST_COUNTED:
                return


def _in_conflict(
    problem: Problem, names: Names, groups: Groups, pinned: Mapping[int, Pinned]
) -> Iterator[tuple[int, int, Place, str]]:
    """Yield the listed conflicts of buffers that share decided addresses."""
    for k, (a, b) in enumerate(problem.constraints.conflicts):
        i, j = names.buffers[a], names.buffers[b]
        if i in pinned and j in pinned and not groups.together(i, j) and _share(problem, pinned, i, j):
            yield i, j, ("constraints", "conflicts", k), "must not share addresses"


def _live_together(
    problem: Problem, keys: PairKeys, groups: Groups, pinned: Mapping[int, Pinned]
) -> Iterator[tuple[int, int, Place, str]]:
    """Yield buffers that share decided addresses at some time, and are not excluded."""
    every = pinned.pieces() if isinstance(pinned, PinnedColumns) else _pieces(problem, pinned)
    crowded = [those for those in every if not all_apart(those)]
    exclusions = {keys.of(a, b) for a, b in problem.constraints.exclusions} if crowded else set()
    for those in crowded:
        for i, j in islice(meetings(those), MAX_MEETINGS):
            if not groups.together(i, j) and keys.of_indices(i, j) not in exclusions:
                yield i, j, ("buffers", pinned[max(i, j)].by, "fixed"), "are needed at the same time"


def _pieces(problem: Problem, pinned: Mapping[int, Pinned]) -> Iterator[Pieces]:
    """Return, for each pool, the addresses that its buffers take, and when."""
    pieces: dict[int, list[Piece]] = {}
    for i, pin in pinned.items():
        buffer = problem.buffers[i]
        if buffer.size and buffer.live:
            high = pin.offset + buffer.size
            pieces.setdefault(pin.pool, []).extend((pin.offset, high, s, e, i) for s, e in merged(buffer.live))
    return map(Pieces.of, pieces.values())


def _share(problem: Problem, pinned: Mapping[int, Pinned], i: int, j: int) -> bool:
    if pinned[i].pool != pinned[j].pool:
        return False
    first, second = pinned[i].offset, pinned[j].offset
    return overlap(
        merged([(first, first + problem.buffers[i].size)]), merged([(second, second + problem.buffers[j].size)])
    )


def _check_alignments(
    problem: Problem, groups: Groups, members: list[int], choices: Iterable[int], report: Report
) -> None:
    """Report groups that have no aligned address in any of their pools. Groups without pools are left to the solvers."""
    culprit: int | None = None
    for p in choices:
        stopped = _first_misfit(problem, groups, members, problem.pools[p])
        if stopped is None:
            return
        culprit = stopped if culprit is None else culprit
    if culprit is not None:
        text = (
            f"no address aligns buffer {quoted(problem.buffers[culprit].id)} "
            f"and the other {len(members) - 1} of its colocation group at once"
        )
        report.add(Code.CONTRADICTION, ("constraints", "colocations", groups.link[culprit]), text)


def _first_misfit(problem: Problem, groups: Groups, members: list[int], pool: Pool) -> int | None:
    """Return the first member whose alignment contradicts those before it."""
    whole = Congruence()
    patience = MAX_RULES
    seen: set[tuple[int, int]] = set()
    for i in members:
        modulus = lcm(pool.alignment, problem.buffers[i].alignment)
        rule = Congruence(modulus, -((pool.base or 0) + groups.shift[i]) % modulus)
        if (rule.modulus, rule.residue) in seen:
            continue
        seen.add((rule.modulus, rule.residue))
        both = whole.and_also(rule)
        if both is None:
            return i
        whole = both
        patience -= whole.modulus.bit_length() > 64  # huge numbers are slow, and such an address would not fit anyway
        if not patience:
            return None
    return None
