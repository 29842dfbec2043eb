"""Costs ruled out: blocks are held at their places in an older plan, and pairs with a cost of reuse keep apart. What remains has no such costs.

First all costs are ruled out, as far as they can be together. After that those stay ruled out that the best placement does not pay, and some that it pays
are added: halves, quarters and so on down to single ones, the dearest first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..bounds.first_bounds import first_bounds
from ..heuristics.layout import Layout
from ..heuristics.local_search import WORK_OF_LOOKING
from ..model.errors import StopReason
from ..model.instance import LINEAR_TERMS, Bools, Instance, Ints, Linear, Placement, Term
from ..model.linear_terms import moved_column
from ..model.objective import share_addresses
from ..model.outcome import Outcome, Value
from ..model.solver import Control, Goal, Task
from .execute import Engines
from .kept_apart import may_be_apart, parted
from .known import Known
from .roster import LEAST_WORK, packers, task_of_round

SHARE_OF_A_TRY = 4
"""Each try gets a quarter of the work that is left."""
WORK_OF_A_BLOCK, WORK_OF_A_TRY = 10, 100
"""For each block: the work of a layout, and that of a try beside what solvers count."""


class Held:
    """Rules out costs of an instance, for one run."""

    def __init__(
        self,
        instance: Instance,
        task: Task,
        engines: Engines,
        known: Known,
        solve: Callable[[Instance, Task, Control], Outcome],
    ) -> None:
        self._instance, self._engines, self._known, self._solve = instance, engines, known, solve
        self._task = replace(task, bound=(), target=(), pool_bounds=())
        self._stays = _stays(instance)
        self._costs = np.concatenate([_costs_of_reuse(instance), self._stays[:, 3]])
        """What each pair costs if it shares, 0 if that cannot be ruled out; then what each block costs if it moves."""
        self._is_of_use = bool(self._costs.any()) and task.goal is Goal.MINIMISE
        order = np.argsort(-self._costs, kind="stable")
        self._dearest = order[self._costs[order] > 0]
        """The numbers of all costs, the dearest first."""
        self._layout: Layout | None = None
        """Only the blocks that are held are in it."""
        self._held = dict[int, int]()
        """The pool of each of them."""
        self._chosen = np.zeros(len(self._costs), dtype=np.bool_)
        """What is ruled out before more is added."""
        self._settled: set[bytes] = set()
        """What was ruled out together, with nothing better left to be found."""
        self._ended_at: Value | None = None
        """The value at which nothing was left to be found."""
        self._at, self._count = 0, max(len(self._dearest), 1)
        """Which of the costs that are paid is ruled out next, and how many with it."""

    @property
    def is_open(self) -> bool:
        """Might something better be found?"""
        return self._is_of_use and self._known.value not in (None, self._ended_at)

    def begin(self, work: int) -> None:
        """Rule out nothing, as if there were no costs, and then everything, with this work in all."""
        end, nothing = self._engines.work + work, np.zeros(len(self._costs), dtype=np.bool_)
        if not self._instance.has_choice:
            self._try(nothing, 0, work // 2)
        self._hold(nothing)
        self._try(self._with(self._dearest), 0, end - self._engines.work)

    def improve(self, number: int, work: int) -> None:
        """Look for something better than the best placement, with this work in this round."""
        end, value = self._engines.work + work, None
        fails, are_settled = 0, True
        least = LEAST_WORK + WORK_OF_A_TRY * self._instance.blocks
        while (left := end - self._engines.work) >= 2 * least:
            if self._known.value != value:
                assert self._known.placement is not None
                value, fails, are_settled = self._known.value, 0, True
                is_paid = self._is_paid(self._known.placement)
                self._hold(~is_paid & (self._costs > 0))
                paid = self._dearest[is_paid[self._dearest]]
            if fails > len(paid):
                self._ended_at = value if are_settled else None
                return
            self._at = self._at if self._at < len(paid) else 0
            chosen = self._with(paid[self._at : self._at + self._count])
            share = max(left // SHARE_OF_A_TRY, least) if len(paid) else left
            are_settled &= self._try(chosen, number, share)
            if self._known.value != value:
                self._count *= 2
            else:
                fails, self._at, self._count = fails + 1, self._at + self._count, max(self._count // 2, 1)

    def _try(self, chosen: Bools, number: int, work: int) -> bool:
        """Rule out these costs. True if nothing better is left to be found in this way."""
        relay, key = self._known.relay(packers()[0]), chosen.tobytes()
        if key in self._settled:
            return True
        self._engines.work += WORK_OF_A_TRY * self._instance.blocks
        rest = self._without(chosen)
        is_settled = self._is_hopeless(rest, relay)
        if not is_settled and relay.stopped() is None:
            outcome = self._solve(rest, task_of_round(self._task, number, max(work, 0)), relay)
            self._engines.count(outcome, *outcome.took_part)
            if outcome.placement is not None:
                relay.incumbent(outcome.placement)
            is_settled = outcome.stop is StopReason.PROVED
        if is_settled:
            self._settled.add(key)
        return is_settled

    def _is_hopeless(self, rest: Instance, control: Control) -> bool:
        """Is every placement of the rest too dear in the terms that come first?"""
        value = self._known.value
        terms = rest.terms
        if value is None or terms != self._instance.terms[: len(terms)]:
            return False
        first = first_bounds(rest, control.stopped)
        return bool(first.shortage) or first.value > value[: len(terms)]

    def _is_paid(self, placement: Placement) -> Bools:
        """For each cost, true if this placement pays it."""
        block, pool, base, _ = self._stays.T
        shares = share_addresses(self._instance, placement, self._instance.penalties[:, :2])
        moved = (placement.pool[block] != pool) | (placement.offset[block] != base)
        is_paid: Bools = np.concatenate([shares, moved])
        return is_paid

    def _hold(self, chosen: Bools) -> None:
        """Rule out these costs, which some placement does not pay, before others are added."""
        self._chosen = chosen
        if not len(self._stays):
            return
        if self._layout is None:
            assert self._known.placement is not None
            self._layout = Layout(self._instance, self._known.placement)
            self._layout.lift(list(self._layout.members))
        self._layout.take(self._held)
        self._held = dict[int, int]()
        for number in np.flatnonzero(chosen[len(self._instance.penalties) :]).tolist():
            self._stay(*self._stays[number, :3].tolist())
        self._engines.work += WORK_OF_A_BLOCK * self._instance.blocks

    def _with(self, numbers: Ints) -> Bools:
        """What is ruled out, and of these costs, the first ones first, those that can be ruled out as well."""
        pairs = len(self._instance.penalties)
        chosen = self._chosen.copy()
        chosen[numbers[numbers < pairs]] = True
        added = list[int]()
        for number in numbers[numbers >= pairs].tolist():
            block, pool, base = self._stays[number - pairs, :3].tolist()
            if self._can_stay(block, pool, base):
                self._stay(block, pool, base)
                added.append(block)
                chosen[number] = True
        if self._layout is not None:
            self._layout.take(added)
        for block in added:
            del self._held[block]
        return chosen

    def _can_stay(self, block: int, pool: int, base: int) -> bool:
        """Is nothing that is held in the way of the block?"""
        assert self._layout is not None
        self._engines.work += WORK_OF_LOOKING + self._layout.work_of_look
        if block in self._held:
            return False
        mates = self._layout.members[int(self._instance.pool_class[block])]
        pools = {self._held[each] for each in mates if each in self._held}
        return pools <= {pool} and self._layout.is_free(block, pool, base)

    def _stay(self, block: int, pool: int, base: int) -> None:
        assert self._layout is not None
        self._layout.set_down([(block, pool, base)])
        self._held[block] = pool

    def _without(self, chosen: Bools) -> Instance:
        """The instance with these costs ruled out, and the others left out."""
        instance, pairs = self._instance, len(self._instance.penalties)
        block, pool, base, _ = self._stays[chosen[pairs:]].T
        allowed, lowest, highest = instance.allowed.copy(), instance.lowest.copy(), instance.highest.copy()
        allowed[block] = False
        allowed[block, pool] = True
        lowest[block, pool] = highest[block, pool] = base
        rest = parted(instance, ~chosen[:pairs])
        return replace(
            rest,
            terms=tuple(term for term in instance.terms if _remains(term)) or (Term.SUM_OF_PEAKS,),
            allowed=allowed,
            lowest=lowest,
            highest=highest,
            was=None,
        )


def _costs_of_reuse(instance: Instance) -> Ints:
    """(r) what each pair costs if it shares; 0 if it cannot keep apart, or nobody counts it."""
    is_free = may_be_apart(instance) & instance.weighs_reuse
    costs: Ints = np.where(is_free, instance.penalties[:, 2], 0)
    return costs


def _stays(instance: Instance) -> Ints:
    """(s, 4) block, pool and base in the older plan, and what the first term that asks counts if the block is not there."""
    if not instance.weighs_moves:
        return np.zeros((0, 4), dtype=np.int64)
    assert instance.was is not None
    column = next(each for term in instance.terms if (each := moved_column(instance, term)) is not None)
    return instance.was.stays[:, [0, 1, 2, 3 + column]]


def _remains(term: Term) -> bool:
    """Does the term count anything once costs are ruled out?"""
    adds = LINEAR_TERMS.get(term, Linear())
    return term is not Term.REUSE_COST and (adds.moved is None or adds.peaks)
