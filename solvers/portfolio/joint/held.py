"""Costs ruled out: blocks are held at their places in an older plan, and pairs with a cost of reuse keep apart. What remains has no such costs.

First nothing is ruled out, then all that can be together. Each is solved like any other instance, and its placement is one more to begin with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...bounds.first_bounds import first_bounds
from ...heuristics.layout import Layout
from ...heuristics.local_search import WORK_OF_LOOKING
from ...model.instance import LINEAR_TERMS, Bools, Instance, Ints, Linear, Term
from ...model.linear_terms import moved_column
from ...model.outcome import Outcome
from ...model.solver import Control, Goal, Task
from ..execute import Engines
from ..roster import packers, task_of_round
from .kept_apart import may_be_apart, parted
from .known import Known

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
        self.is_of_use = bool(self._costs.any()) and task.goal is Goal.MINIMISE

    def begin(self, work: int) -> None:
        """Rule out nothing, as if there were no costs, and then all that can be ruled out together, with this work in all, if it is enough to begin."""
        if work < 2 * (WORK_OF_A_TRY + WORK_OF_A_BLOCK) * self._instance.blocks:
            return
        end = self._engines.work + work
        if not self._instance.has_choice:
            self._try(np.zeros(len(self._costs), dtype=np.bool_), work // 2)
        self._try(self._compatible(), end - self._engines.work)

    def _try(self, chosen: Bools, work: int) -> None:
        """Rule out these costs, and see whether what remains leads to something better."""
        relay, rest = self._known.relay(packers()[0]), self._without(chosen)
        self._engines.work += WORK_OF_A_TRY * self._instance.blocks
        if work <= 0 or relay.stopped() is not None or self._is_hopeless(rest, relay):
            return
        outcome = self._solve(rest, task_of_round(self._task, 0, work), relay)
        self._engines.count(outcome, *outcome.took_part)
        if outcome.placement is not None:
            relay.incumbent(outcome.placement)

    def _is_hopeless(self, rest: Instance, control: Control) -> bool:
        """Is every placement of the rest too dear in the terms that come first?"""
        value = self._known.value
        terms = rest.terms
        if value is None or terms != self._instance.terms[: len(terms)]:
            return False
        first = first_bounds(rest, control.stopped)
        return bool(first.shortage) or first.value > value[: len(terms)]

    def _compatible(self) -> Bools:
        """The costs that can be ruled out together, as far as pairs of them tell; of blocks in each other's way the dearest is held."""
        chosen = self._costs > 0
        if not len(self._stays):
            return chosen
        pairs = len(self._instance.penalties)
        assert self._known.placement is not None
        layout = Layout(self._instance, self._known.placement)
        layout.lift(list(layout.members))
        self._engines.work += WORK_OF_A_BLOCK * self._instance.blocks
        pool_of = dict[int, int]()
        """Of each block that is held."""
        for number in np.argsort(-self._stays[:, 3], kind="stable").tolist():
            block, pool, base, _ = self._stays[number].tolist()
            mates = layout.members[int(self._instance.pool_class[block])]
            self._engines.work += WORK_OF_LOOKING + layout.work_of_look
            chosen[pairs + number] = (
                block not in pool_of
                and all(pool_of.get(mate, pool) == pool for mate in mates)
                and layout.is_free(block, pool, base)
            )
            if chosen[pairs + number]:
                layout.set_down([(block, pool, base)])
                pool_of[block] = pool
        return chosen

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
