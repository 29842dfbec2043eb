"""The terms of the objective as expressions over a model's variables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from ....bounds.must_share import crowds
from ....model.errors import Unsupported
from ....model.instance import Term
from ....model.linear_terms import LINEAR, choice_cost, moved_column, peak_price
from .. import engine
from .cover import Cover
from .model import Literal, Model

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

MOST_LOAD_TERMS = 200_000
"""With more terms than this, redundant constraints on live sums are left out: they would cost more than they help."""


@dataclass(slots=True)
class Costs:
    """The terms of an instance's objective over the variables of one model."""

    model: Model
    cover: Cover
    pool_bounds: tuple[int, ...] = ()
    _peaks: list[LinearExprT] | None = None
    _stays: dict[tuple[int, int, int], Literal] = field(default_factory=dict)
    """(block, pool, base) -> the block is there still. Minimising makes it true where possible."""
    _shared: dict[tuple[int, int], Literal] = field(default_factory=dict)
    """(part, part) -> the priced pair shares an address. Minimising makes it false where possible."""

    def term(self, term: Term) -> LinearExprT:
        """The term as an expression."""
        pools = self.model.instance.pools
        match term:
            case Term.LARGEST_PEAK:
                return self._largest_peak()
            case Term.REUSE_COST:
                return self._reuse_cost()
            case _ if term not in LINEAR:
                raise Unsupported(engine.NAME, f"it does not know the term {term}")
            case _:
                price = peak_price(self.model.instance, term)
                priced = zip(pools, self.peaks(), strict=True) if price else ()
                return sum(
                    [self._choice_cost(term), self._moved(term), *(price * pool.cost * peak for pool, peak in priced)]
                )

    def peaks(self) -> list[LinearExprT]:
        """An upper bound on each pool's end; minimising makes it tight."""
        if self._peaks is None:
            self._peaks = [self._peak(pool) for pool in range(len(self.model.instance.pools))]
        return self._peaks

    def _peak(self, pool: int) -> LinearExprT:
        model, heights = self.model, self.model.instance.block_high.tolist()
        here = [(b, place) for (b, p), place in model.where.items() if p == pool]
        if not here:
            return 0
        least = max((place.least + heights[b] for b, place in here if (b, pool) not in model.chosen), default=0)
        if pool < len(self.pool_bounds):
            least = max(least, self.pool_bounds[pool])
        greatest = max(place.greatest + heights[b] for b, place in here)
        if least > greatest:  # the given bound proves that nothing fits; the model finds out by itself
            least = 0
        peak = model.cp.new_int_var(least, greatest, f"peak{pool}")
        for b, _ in here:
            end = model.base[b, pool] + heights[b]
            model.cp.add(peak >= end).only_enforce_if(model.if_in(pool, b))
        self._add_loads(pool, peak)
        return peak

    def _add_loads(self, pool: int, peak: LinearExprT) -> None:
        """Requires each pool's peak to be at least every live sum. Redundant, but speeds up the search."""
        model = self.model
        for outline in self.cover.sets:
            if int((outline.end - outline.start).sum()) > MOST_LOAD_TERMS:
                continue
            live: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for block, start, end, low, high in model.rows(outline, pool):
                for section in range(start, end):
                    live[section].append((block, high - low))
            for load in dict.fromkeys(tuple(sorted(pairs)) for pairs in live.values()):
                forced = sum(size for block, size in load if (block, pool) not in model.chosen)
                free = sum(size * model.chosen[block, pool] for block, size in load if (block, pool) in model.chosen)
                model.cp.add(peak >= forced + free)

    def _largest_peak(self) -> LinearExprT:
        peaks = [peak for peak in self.peaks() if not isinstance(peak, int)]
        if len(peaks) < 2:
            return peaks[0] if peaks else 0
        heights = self.model.instance.block_high.tolist()
        highest = max(place.greatest + heights[block] for (block, _), place in self.model.where.items())
        largest = self.model.cp.new_int_var(0, highest, "largest")
        self.model.cp.add_max_equality(largest, peaks)
        return largest

    def _choice_cost(self, term: Term) -> LinearExprT:
        model, cost = self.model, choice_cost(self.model.instance, term)
        total: LinearExprT = 0
        if cost is not None:
            for block, pool in model.where:
                total += int(cost[block, pool]) * model.chosen.get((block, pool), 1)
        return total

    def _moved(self, term: Term) -> LinearExprT:
        was, column = self.model.instance.was, moved_column(self.model.instance, term)
        if was is None or column is None:
            return 0
        total: LinearExprT = sum(was.cost[:, column].tolist())
        for row in was.stays.tolist():
            block, pool, base = row[:3]
            if row[3 + column] and (block, pool) in self.model.where:
                total -= row[3 + column] * self._stay(block, pool, base)
        return total

    def _stay(self, block: int, pool: int, base: int) -> Literal:
        found = self._stays.get((block, pool, base))
        if found is None:
            found = self._stays[block, pool, base] = self.model.cp.new_bool_var("")
            here, literals = self.model.base[block, pool], self.model.if_in(pool, block)
            if (block, pool) in self.model.steps:
                self.model.cp.add(here == base).only_enforce_if(found)
            elif here != base:
                self.model.cp.add(found == 0)
            for literal in literals:
                self.model.cp.add_implication(found, literal)
        return found

    def _reuse_cost(self) -> LinearExprT:
        total = sum(self._penalty(a, b, cost) for a, b, cost in self.model.instance.penalties.tolist())
        for crowd in crowds(self.model.instance):
            pairs = combinations(crowd.parts, 2)  # follows from the other constraints, but the solver does not find it
            self.model.cp.add(sum(self._shared[pair] for pair in pairs if pair in self._shared) >= crowd.pairs)
        return total

    def _penalty(self, a: int, b: int, cost: int) -> LinearExprT:
        """The cost if the two parts share an address, else 0."""
        pair = (min(a, b), max(a, b))
        model, instance = self.model, self.model.instance
        if cost < 0:
            raise Unsupported(engine.NAME, "a penalty that is a reward")
        (low_a, high_a), (low_b, high_b) = (
            (int(instance.part_low[part]), int(instance.part_high[part])) for part in (a, b)
        )
        one, other = int(instance.part_block[a]), int(instance.part_block[b])
        if high_a == low_a or high_b == low_b or cost == 0:
            return 0
        if one == other:
            return cost if min(high_a, high_b) > max(low_a, low_b) else 0
        pools = [p for p in model.pools_of(one) if (other, p) in model.where]
        if not pools:
            return 0
        if pair not in self._shared:
            self._shared[pair] = self._is_shared(a, b, pools)
        due: LinearExprT = cost * self._shared[pair]
        return due

    def _is_shared(self, a: int, b: int, pools: list[int]) -> Literal:
        """A literal that is true if the two parts share an address of one of these pools."""
        model, instance = self.model, self.model.instance
        (low_a, high_a), (low_b, high_b) = (
            (int(instance.part_low[part]), int(instance.part_high[part])) for part in (a, b)
        )
        one, other = int(instance.part_block[a]), int(instance.part_block[b])
        shared, below, above = (model.cp.new_bool_var("") for _ in range(3))
        for pool in pools:
            base_one, base_other = model.base[one, pool], model.base[other, pool]
            together = model.if_in(pool, one, other)
            model.cp.add(base_one + high_a <= base_other + low_b).only_enforce_if([below, *together])
            model.cp.add(base_other + high_b <= base_one + low_a).only_enforce_if([above, *together])
            model.cp.add_bool_or([below, above, shared, *(~literal for literal in together)])
        return shared
