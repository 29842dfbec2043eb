"""The possible bases of each block in each pool: what alignments, lists of pools, walls and fixed places allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import lcm
from typing import NamedTuple

import numpy as np

from solvers.model.instance import ADDRESS_LIMIT, Bools, Ints

from ...facts.colocation import Congruence, joined
from ...facts.intervals import merged
from ...model.columns.buffers import BufferColumns
from ...model.deadline import PREPARING, in_time, tick
from ...model.errors import BadInput, Code, Finding
from ...model.problem import Buffer, Pool, Problem

MOST_RANGES = 16
"""So many reserved ranges of a pool are looked at, from below."""


class Blocks(NamedTuple):
    """Buffers as parts of the blocks that they move in; part i is buffer i."""

    part_block: Ints
    part_low: Ints
    """The distance of each part above its block's base."""
    first: Ints
    """The first part of each block."""
    members: Mapping[int, tuple[int, ...]]
    """The parts of each block that has several."""
    height: Ints


class Bases:
    """What a problem says about the bases of its blocks: arrays with a row for each block and a column for each pool."""

    def __init__(
        self, problem: Problem, blocks: Blocks, special: Sequence[tuple[int, Buffer]], pool_index: Mapping[str, int]
    ) -> None:
        self._buffers, self._pools = problem.buffers, problem.pools
        self._blocks, self._special, self._pool_index = blocks, special, pool_index
        self._shape = (len(blocks.first), len(problem.pools))

    def rules(self) -> tuple[Ints, Ints, Bools]:
        """Return modulus and residue of the base, and whether the block may be in the pool at all."""
        first, part_low = self._blocks.first, self._blocks.part_low
        modulus, residue = np.ones(self._shape, dtype=np.int64), np.zeros(self._shape, dtype=np.int64)
        allowed, possible = self._allowed(), np.ones(self._shape, dtype=bool)
        alignment_of = _alignments(self._buffers)
        alignment = alignment_of[first]
        if len(alignment) and (alignment == alignment[0]).all():  # the usual case, and faster than sorting
            values, which = alignment[:1], np.zeros(len(alignment), dtype=np.int64)
        else:
            values, which = np.unique(alignment, return_inverse=True)
        huge = [block for block in np.flatnonzero(alignment == 0).tolist() if block not in self._blocks.members]
        alike: dict[tuple[int, int | None], int] = {}
        """Pools with the same alignment and base have the same rules."""
        for p, pool in enumerate(self._pools):
            twin = alike.setdefault((pool.alignment, pool.base), p)
            if twin != p:
                modulus[:, p], residue[:, p] = modulus[:, twin], residue[:, twin]
                allowed[:, p] &= possible[:, twin]
                continue
            of_value = _rules(pool, values)
            if len(values):
                modulus[:, p], residue[:, p] = of_value[0][which], of_value[1][which]
            for block in self._of_one_alignment(pool, alignment_of, modulus[:, p], residue[:, p], possible[:, p]):
                parts = self._blocks.members[block]
                tick(PREPARING)
                rule = joined(_rule(pool, self._buffers[i].alignment, int(part_low[i])) for i in parts)
                if rule is None:
                    possible[block, p] = False
                else:
                    rule = _storable(rule)
                    modulus[block, p], residue[block, p] = rule.modulus, rule.residue
            allowed[:, p] &= possible[:, p]
            for block in huge:
                rule = _storable(_rule(pool, self._buffers[first[block]].alignment, 0))
                modulus[block, p], residue[block, p] = rule.modulus, rule.residue
        return modulus, residue, allowed

    def _of_one_alignment(
        self, pool: Pool, alignment: Ints, modulus: Ints, residue: Ints, possible: Bools
    ) -> Iterable[int]:
        """Fill in the rules of blocks of several parts with one alignment, in arrays; return the other blocks."""
        members = self._blocks.members
        if not members:
            return ()
        of_block = self._blocks.part_block
        least, greatest = np.full(len(modulus), ADDRESS_LIMIT), np.zeros(len(modulus), dtype=np.int64)
        np.minimum.at(least, of_block, alignment)
        np.maximum.at(greatest, of_block, alignment)
        is_one = (least == greatest) & (least > 0)
        if pool.alignment * int(greatest.max()) >= ADDRESS_LIMIT:
            return members
        common = np.lcm(pool.alignment, np.maximum(greatest, 1))
        wanted = -(self._blocks.part_low + (pool.base or 0)) % common[of_block]
        low, high = np.full(len(modulus), ADDRESS_LIMIT), np.zeros(len(modulus), dtype=np.int64)
        np.minimum.at(low, of_block, wanted)
        np.maximum.at(high, of_block, wanted)
        of_several = np.zeros(len(modulus), dtype=bool)
        of_several[[*members]] = True
        some = is_one & of_several
        modulus[some], residue[some] = common[some], low[some]
        possible[some] = low[some] == high[some]
        return np.flatnonzero(of_several & ~is_one).tolist()

    def _allowed(self) -> Bools:
        allowed = np.ones(self._shape, dtype=bool)
        block = self._blocks.part_block.tolist()
        alike: dict[tuple[str, ...], list[int]] = {}
        """The blocks that may be only in these pools."""
        for i, buffer in in_time(self._special, PREPARING, "buffer"):
            if buffer.pools is not None:
                alike.setdefault(tuple(buffer.pools), []).append(block[i])
            if buffer.fixed is not None:
                alike.setdefault((buffer.fixed.pool,), []).append(block[i])
        for names, blocks in alike.items():
            closed = np.ones(len(self._pools), dtype=bool)
            closed[[self._pool_index[name] for name in names]] = False
            allowed[np.ix_(np.array(blocks), np.flatnonzero(closed))] = False
        return allowed

    def bounds(self, modulus: Ints, residue: Ints, was: Iterable[int]) -> tuple[Ints, Ints]:
        """Return the least and the greatest base under the rules above; `was` holds the ends of buffers in an older plan."""
        part_block, part_low = self._blocks.part_block, self._blocks.part_low
        horizon = self._horizon(modulus, residue, was)
        lowest = residue.copy()
        highest = np.empty_like(residue)
        for p, pool in enumerate(self._pools):
            ceiling = horizon if pool.size is None else min(pool.size, horizon)
            highest[:, p] = ceiling - self._blocks.height
        for i, buffer in self._special:
            if buffer.max_offset is not None:
                block = part_block[i]
                np.minimum(highest[block], buffer.max_offset - part_low[i], out=highest[block])
        for i, buffer in self._special:
            if buffer.fixed is not None and buffer.fixed.offset is not None:
                block, p = part_block[i], self._pool_index[buffer.fixed.pool]
                base = buffer.fixed.offset - part_low[i]
                fits = (
                    lowest[block, p] <= base <= highest[block, p]
                    and (base - residue[block, p]) % modulus[block, p] == 0
                )
                lowest[block, p] = base if fits else 0
                highest[block, p] = base if fits else -1
        highest -= (highest - residue) % modulus
        return lowest, highest

    def held(self, modulus: Ints, residue: Ints, lowest: Ints, highest: Ints) -> Bools:
        """Return whether a gap between reserved ranges holds the block, as far as its bases from the least to the greatest are known."""
        held = np.ones(self._shape, dtype=bool)
        height = self._blocks.height.copy()
        height[[*self._blocks.members]] = 0  # what several parts leave free may be reserved
        for p, pool in enumerate(self._pools):
            least = lowest[:, p].copy()
            for begin, end in merged(pool.reserved)[:MOST_RANGES]:
                touched = (least < end) & (least + height > begin) & (height > 0)
                least[touched] = end + (residue[touched, p] - end) % modulus[touched, p]
            held[:, p] = least <= highest[:, p]
        return held

    def _horizon(self, modulus: Ints, residue: Ints, was: Iterable[int]) -> int:
        """Return an end that no sensible plan exceeds: everything stacked above all fixed and reserved ranges, at the coarsest alignment."""
        stacked: int = sum(self._blocks.height.tolist())
        if stacked >= ADDRESS_LIMIT:
            raise BadInput(
                Finding(
                    Code.TOO_LARGE,
                    "/buffers",
                    "the sizes add up to 2^62 bytes or more; split the problem or use a larger unit than bytes",
                )
            )
        fixed = [
            b.fixed.offset + b.size for _, b in self._special if b.fixed is not None and b.fixed.offset is not None
        ]
        floor = max([0, *fixed, *was, *(end for pool in self._pools for _, end in pool.reserved)])
        padding: int = sum(modulus.max(axis=1, initial=1).tolist())
        return min(floor + stacked + padding + int(residue.max(initial=0)), ADDRESS_LIMIT - 1)


def _alignments(buffers: Sequence[Buffer]) -> Ints:
    """Return the alignment of each buffer; 0 if it is too large to store."""
    if isinstance(buffers, BufferColumns):
        return np.where(buffers.alignment < ADDRESS_LIMIT, buffers.alignment, 0)
    return np.array([buffer.alignment if buffer.alignment < ADDRESS_LIMIT else 0 for buffer in buffers], dtype=np.int64)


def _rule(pool: Pool, alignment: int, low: int) -> Congruence:
    """Return what the alignment of a member that begins `low` above the block's base requires of the base."""
    modulus = lcm(pool.alignment, max(alignment, 1))
    return Congruence(modulus, -(low + (pool.base or 0)) % modulus)


def _rules(pool: Pool, alignments: Ints) -> tuple[Ints, Ints]:
    """Return modulus and residue of the bases of plain blocks, for each of these alignments."""
    if pool.alignment * max(int(alignments.max(initial=1)), 1) < ADDRESS_LIMIT:
        moduli = np.lcm(pool.alignment, np.maximum(alignments, 1))
        return moduli, -(pool.base or 0) % moduli
    rules = [_storable(_rule(pool, int(a), 0)) for a in alignments.tolist()]
    return np.array([r.modulus for r in rules], dtype=np.int64), np.array([r.residue for r in rules], dtype=np.int64)


def _storable(rule: Congruence) -> Congruence:
    """Return the rule with a modulus that can be stored: beyond all addresses, it only fixes the base to the residue."""
    if rule.modulus < ADDRESS_LIMIT:
        return rule
    return Congruence(ADDRESS_LIMIT - 1, min(rule.residue, ADDRESS_LIMIT - 2))
