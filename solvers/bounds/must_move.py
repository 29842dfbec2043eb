"""A lower bound on what must move, since not everything can stay where an older plan had it.

A block that cannot keep its old place has moved. Of blocks that must keep apart but whose old places would now overlap, all but one have moved. Give
each such set an amount y >= 0 so that no block is in sets of more than its own weight together. Then at least the sum of y times (set size - 1) has
moved. A linear program chooses the sets and amounts; the bound is computed exactly from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from math import ceil, gcd
from typing import ClassVar, NamedTuple

import numpy as np

from ..model.conflicts import live_pair_count, part_pairs, sets_of_partners
from ..model.errors import StopReason
from ..model.instance import LINEAR_TERMS, Instance, Linear, Moved, Term
from ..model.outcome import Certificate, Outcome, Proof
from ..model.solver import Control, Feature, Solver, Task
from .packing import Column, pack

MOST_PAIRS = 300_000
"""With more pairs live together, looking for overlapping old places takes too long."""
MOST_TOGETHER = 64
"""Most parts in one set: the verifier checks each pair of them."""
MOST_SETS = 3_000
MOST_LOOKS = 100_000
"""Most parts examined as candidates for sets."""
MOST_WORK = 400_000
WORK_PER_BLOCK = 2

Sets = tuple[tuple[tuple[int, ...], int, int], ...]
"""(parts, numerator, denominator), as in a certificate."""
TERM_OF = {Moved.BUFFERS: Term.MOVED_BUFFERS, Moved.BYTES: Term.MOVED_BYTES}


class MustMove(Solver):
    """Proves bounds on what moves; gives no placement."""

    name: ClassVar[str] = "must_move"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best bounds that the sets found prove, of buffers or bytes, whichever the objective counts."""
        if not instance.weighs_moves or live_pair_count(instance) > MOST_PAIRS:
            return Outcome(StopReason.WORK_LIMIT)
        old = _Old(instance)
        work = WORK_PER_BLOCK * instance.blocks
        proofs = []
        most = MOST_WORK if task.limits.work is None else min(task.limits.work, MOST_WORK)
        counted = {LINEAR_TERMS.get(term, Linear()).moved for term in instance.terms}
        for moved in (each for each in Moved if each in counted):
            sets, spent = old.sets(moved, most)
            work += spent
            value = moved_value(sets)
            if value:
                proofs.append(Certificate(Proof.MUST_MOVE, value, sets=sets, term=TERM_OF[moved]))
        return Outcome(StopReason.WORK_LIMIT, certificates=tuple(proofs), work=work)


def moved_value(sets: Sets) -> int:
    """The lower bound that these amounts of these sets prove. A set of one is a part that cannot stay."""
    return ceil(sum(Fraction(over, under) * max(len(parts) - 1, 1) for parts, over, under in sets))


class _Place(NamedTuple):
    """The old place of a part, if it is still allowed there: from one address to another."""

    pool: int
    low: int
    high: int


class _Old:
    """The old places of blocks of one part, and which of them overlap."""

    def __init__(self, instance: Instance) -> None:
        assert instance.was is not None
        self._cost = instance.was.cost
        self._looks = MOST_LOOKS
        count = np.bincount(instance.part_block, minlength=instance.blocks)
        single = {block: part for part, block in enumerate(instance.part_block.tolist()) if count[block] == 1}
        self._part = single
        heights = instance.block_high
        self._place = {
            single[block]: _Place(pool, base, base + int(heights[block]))
            for block, pool, base, *_ in instance.was.stays.tolist()
            if block in single
        }
        was = np.full((len(instance.part_block), 3), -1, dtype=np.int64)
        for part, place in self._place.items():
            was[part] = place
        pairs = part_pairs(instance)
        one, other = was[pairs[:, 0]], was[pairs[:, 1]]
        overlap = np.minimum(one[:, 2], other[:, 2]) > np.maximum(one[:, 1], other[:, 1])
        is_there = (one[:, 0] == other[:, 0]) & (one[:, 0] >= 0)
        self._in_the_way = sets_of_partners(pairs[is_there & overlap].tolist())

    def sets(self, moved: Moved, work: int) -> tuple[Sets, int]:
        """The sets and amounts that prove most, and the work spent."""
        weight = {part: int(self._cost[block, moved.value]) for block, part in self._part.items()}
        found: list[tuple[tuple[int, ...], int, int]] = [
            ((part,), amount, 1) for part, amount in weight.items() if amount and part not in self._place
        ]
        spent = 0
        for members in self._components():
            unit = gcd(*(weight[part] for part in members)) or 1
            cliques = list(self._cliques(members))
            row = {part: number for number, part in enumerate(members)}
            columns = [Column(len(clique) - 1, tuple(row[part] for part in clique)) for clique in cliques]
            packed = pack(columns, [weight[part] // unit for part in members], max(work - spent, 0))
            spent += packed.work
            for clique, amount in zip(cliques, packed.amounts, strict=True):
                fraction = Fraction(amount * unit, packed.denominator)
                if fraction:
                    found.append((clique, fraction.numerator, fraction.denominator))
        return tuple(sorted(found)), spent

    def _components(self) -> Iterator[list[int]]:
        """Groups of parts whose old places overlap, directly or through others."""
        seen = set[int]()
        for first in sorted(self._in_the_way):
            reached, stack = set[int](), [first]
            while stack:
                part = stack.pop()
                if part not in seen:
                    seen.add(part)
                    reached.add(part)
                    stack.extend(self._in_the_way[part])
            if reached:
                yield sorted(reached)

    def _cliques(self, members: list[int]) -> Iterator[tuple[int, ...]]:
        """Cliques grown from each part, and all overlapping pairs, up to the limits."""
        seen = set[tuple[int, ...]]()
        for first in members:
            clique, others = [first], set(self._in_the_way[first])
            while others and len(clique) < MOST_TOGETHER and self._looks > 0:
                self._looks -= len(others)
                best = max(others, key=lambda part: (len(self._in_the_way[part]), -part))
                clique.append(best)
                others &= self._in_the_way[best]
            if len(clique) > 1:
                seen.add(tuple(sorted(clique)))
        yield from sorted(seen)
        left = MOST_SETS - len(seen)
        pairs = ((one, other) for one in members for other in sorted(self._in_the_way[one]) if one < other)
        yield from islice((pair for pair in pairs if pair not in seen), max(left, 0))
