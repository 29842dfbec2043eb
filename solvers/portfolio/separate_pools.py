"""The common case: no block has a choice of pools, and only peaks count. Each pool, and each component of it, is solved on its own."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import partial
from itertools import accumulate
from operator import itemgetter

import numpy as np

from ..geometry.presolve import by_pool
from ..geometry.simpler import stepped
from ..model.errors import StopReason
from ..model.instance import Instance, Ints, Placement, Term
from ..model.linear_terms import LINEAR, choice_cost, peak_price, peak_worth
from ..model.objective import evaluate, value_of_peaks
from ..model.outcome import Outcome, Value
from ..model.registry import SolverKind, is_of, proves
from ..model.solver import Control, Goal, Task
from .board import Board, Relay
from .execute import FULL, Answer, Engines, ask, execute
from .roster import FIRST_ROUND_WORK, LEAST_WORK, USUAL_PARTS, round_work, share_of, task_of_round, team
from .single_pool import Component, SinglePool
from .turns import Part, Turn, play

WIDTH_PER_WORK = 18
"""Live sections for each unit of work that the search needs for its first dive."""

SHARE_OF_STEPS, WORK_OF_STEPS = 2, 1_000_000
"""The part of the work for solving in steps; and the work if there is no limit."""
PARTS_FOR_WEIGHTS, WORK_OF_WEIGHTS = 4, 1_000_000
"""The part of the work that is left, and the most work, for bounds by weights."""
MOST_IN_STEPS = 50_000
"""With more blocks, greedy once more takes seconds."""
AGAIN_STEP = 499_979
"""An engine with two turns in a round has another seed in the second."""


def _only_found(component: Component, outcome: Outcome) -> Outcome:
    """What an outcome found of the component in steps, with its real end, without what it proved."""
    assert outcome.placement is not None
    return Outcome(outcome.stop, outcome.placement, (component.peak_of(outcome.placement),))


class SeparatePools:
    """One run. Pools may end lower than those of the `whole` instance."""

    def __init__(
        self,
        instance: Instance,
        task: Task,
        control: Control,
        engines: tuple[str, ...],
        by_name: bool,
        whole: Instance | None = None,
    ) -> None:
        self.instance = instance
        self.task = task
        self.engines = Engines(engines, by_name)
        self.weighs = not by_name
        """Whoever asks for an engine by name wants its own bounds."""
        self.board = Board(instance, control)
        self.pool_of = np.argmax(instance.allowed, axis=1)
        # Time is not squeezed: the orders of placing depend on how long a block lives in the user's steps.
        any_will_do = task.goal is Goal.FIT  # then a bound is of use only where greedy finds none
        pieces = list(by_pool(instance, self.pool_of))
        wholes = pieces if whole is None or whole is instance else by_pool(whole, self.pool_of)
        self.pools = [
            SinglePool(
                piece,
                control.stopped,
                is_quick=any_will_do,
                whole=None if piece.instance.pools[0].capacity == other.instance.pools[0].capacity else other.instance,
            )
            for piece, other in zip(pieces, wholes, strict=True)
        ]
        self.target_peak = peak_worth(instance, task.target) if task.target and len(instance.pools) == 1 else None
        """The caller's target as a peak; None without one, or with several pools, whose peaks it does not tell."""
        self.solver: str | None = None
        self.rounds = 0
        for pool in self.pools:
            self.board.put(pool.settled, pool.number, pool.settled_at)

    def run(self, patience: int | None = None) -> Outcome:
        """Solve it; with `patience` it is given up after so much work without a placement."""
        self._prove()
        if any(pool.impossible for pool in self.pools):
            return self._outcome(StopReason.PROVED)
        for pool in self.pools:
            self._greedy(pool)
            self._begin_with_start(pool)
        self._solve_in_steps()
        while (stop := self._finished()) is None:
            if patience is not None and self.board.value is None and self.engines.work >= patience:
                stop = StopReason.WORK_LIMIT
                break
            stop = self._round()
            if stop is not None:
                break
            if self.rounds == 1 and self.weighs and self._finished() is None:
                self._weigh()
        return self._outcome(stop)

    def _greedy(self, pool: SinglePool) -> None:
        """Make a first placement; if a capacity is in the way, one that keeps to it where it can."""
        any_will_do = self.task.goal is Goal.FIT and pool.capacity is None
        goal = Goal.FIT if any_will_do else Goal.MINIMISE
        task = Task(limits=self.task.limits, goal=goal, seed=self.task.seed, target=(self._enough(pool),))
        outcome = execute("greedy", pool.uncapped(), task, Relay(self.board))
        self.engines.count(outcome, "greedy")
        if outcome.placement is None:
            pool.measure(self.board.stopped)
            pool.split_all(self.board.stopped)
            self._greedy_apart(pool, task)
            return
        offset, is_last = outcome.placement.offset, self.task.goal is Goal.FIT
        if not pool.fits(offset):
            pool.measure(self.board.stopped)
        is_last |= self.task.start is None and self.board.stopped() is not None
        pool.accept(offset, self.board.stopped, is_last=is_last)
        if pool.placed.any():
            self.solver = self.solver or "greedy"
            at = pool.placed
            self.board.put(pool.blocks[at], pool.number, pool.address(pool.offset[at]))

    def _greedy_apart(self, pool: SinglePool, task: Task) -> None:
        """Make a first placement of each component, since one of them has none."""
        limit = task.limits.work
        if limit is not None:
            each = max(limit - self.engines.work, 0) // max(len(pool.open), 1)
            task = replace(task, limits=replace(task.limits, work=each))
        for component in pool.open if len(pool.open) > 1 else ():
            if self.board.stopped():
                return
            outcome = execute("greedy", component.piece.instance, task, Relay(self.board))
            self.engines.count(outcome, "greedy")
            if outcome.placement is not None and pool.improve(
                component, outcome.placement, component.peak_of(outcome.placement)
            ):
                self.solver = self.solver or "greedy"
                self._put(pool, component, outcome.placement)

    def _begin_with_start(self, pool: SinglePool) -> None:
        """Take the caller's placement for every component where it is better than greedy's."""
        if self.task.start is None:
            return
        # What was disjoint stays disjoint: sizes are whole units.
        offset = pool.moved(self.task.start.offset)
        for component in pool.open:
            piece = component.piece
            found = Placement.in_one_pool(offset[piece.blocks])
            if pool.improve(component, found, component.peak_of(found)):
                self.solver = None
                self._put(pool, component, found)

    def _solve_in_steps(self) -> None:
        """Components whose blocks begin at multiples of one number, but do not end so: as if they did, with half of the work. Then only their ends are open."""
        every = [(pool, component) for pool in self.pools for component in pool.open]
        for number, (pool, component) in enumerate(every):
            wide = stepped(component.piece.instance) if component.blocks <= MOST_IN_STEPS else None
            limit, parts = self.task.limits.work, SHARE_OF_STEPS * (len(every) - number)
            work = WORK_OF_STEPS if limit is None else max(limit - self.engines.work, 0) // parts
            if wide is None or work < LEAST_WORK or not self.engines.active or self._finished() is not None:
                continue
            limits = replace(self.task.limits, work=work)
            task = replace(self.task, limits=limits, start=component.placement, bound=(), target=(), pool_bounds=())
            engines = tuple(self.engines.active)
            outcome = SeparatePools(wide.instance, task, Relay(self.board), engines, by_name=False).run()
            self.engines.count(outcome, *outcome.took_part)
            if outcome.placement is not None:
                self._take(pool, component, outcome.solver or "greedy", _only_found(component, outcome))
            proven_by = next((each.solver for each in outcome.certificates if each.solver is not None), None)
            if proven_by is not None:
                bound = tuple(max(bound - wide.waste[0], 0) for bound in outcome.bound[:1])
                self._take(pool, component, proven_by, replace(outcome, placement=None, value=None, bound=bound))

    def _enough(self, pool: SinglePool) -> int:
        """The peak that is low enough: the pool's bound, or the caller's target for it; its capacity if fitting is all that counts."""
        if self.task.goal is Goal.FIT and pool.capacity is not None:
            return pool.capacity
        if self.target_peak is None:
            return pool.bound
        return max(pool.bound, pool.in_units(self.target_peak))

    def _finished(self) -> StopReason | None:
        for pool in self.pools:
            pool.close()
        if any(pool.impossible for pool in self.pools) or all(pool.done for pool in self.pools):
            return StopReason.PROVED
        if self.board.value is not None and self.board.value == self._bound():
            return StopReason.PROVED  # the objective does not count the peaks that are still open
        if self.board.value is not None and self.board.value <= self.task.target:
            return StopReason.PROVED
        if self.task.goal is Goal.FIT and self.board.placement is not None:
            return StopReason.GOAL_MET
        stop = self.board.stopped()
        if stop is not None:
            return stop
        return None if self.engines.active else self.engines.stop

    def _round(self) -> StopReason | None:
        """Run every engine on every open component, then take what they found in an order that does not depend on which was first."""
        self.rounds += 1
        # Who works on what, and with what knowledge, is settled before any engine begins: results of a round must not influence it.
        every = [
            Turn(pool, component, self._team(component), self._enough(pool), partial(self._put, pool, component))
            for pool in self.pools
            for component in pool.open
            if not (self.task.goal is Goal.FIT and component.placement)
        ]
        short = [turn for turn in every if self._begins_short(turn.component)]
        todo = self._affordable(short or every)
        budget = self._budget(todo, LEAST_WORK if short else FIRST_ROUND_WORK // USUAL_PARTS)
        is_last = budget == 0
        if is_last:
            todo, budget = self._last_resort(every)
        if budget == 0:
            return self.engines.stop
        before, active, value = self.engines.work, list(self.engines.active), self.board.value
        play(todo, self.task.limits.workers, self.board, budget, partial(self._ask, budget))
        for turn in todo:
            peak, bound, found = turn.component.best_peak, turn.component.bound, set[str]()
            for name, answer in turn.answers():
                self.engines.heard(name, answer)
                if isinstance(answer, Outcome):
                    if _is_better(answer, peak, bound):
                        found.add(name)
                    self._take(turn.pool, turn.component, name, answer)
            if short:  # what is found with so little work says little of what more is worth
                turn.component.had_short_turn = True
            else:
                turn.component.turns += 1
                turn.component.earnings.end_round(dict.fromkeys(name for name, _ in turn.team), found)
            if (
                turn.settled and turn.component.placement is not None
            ):  # an engine that was not needed may have put another
                self._put(turn.pool, turn.component, turn.component.placement)
        self._prove()
        spent = self.engines.work - before
        is_stuck = is_idle = spent == 0 and self.engines.active == active
        if not any(map(proves, self.engines.active)):
            is_stuck |= spent < budget and self.board.value == value  # engines end early if nothing is left to try
        is_stuck &= all(turn.component.turns for turn in every)
        is_stuck |= is_idle and is_last  # the next round would be the same
        return self.engines.stop if is_stuck and self._finished() is None else None

    def _affordable(self, turns: list[Turn]) -> list[Turn]:
        """As many as can have enough work to get anywhere, first those that had fewest turns: what they leave over, the others have in later rounds."""
        limit = self.task.limits.work
        if limit is None or self._parts(turns) * LEAST_WORK <= limit - self.engines.work:
            return turns
        turns = sorted(turns, key=lambda turn: turn.component.turns)
        weights = accumulate(turn.weight for turn in turns)
        return turns[: max(1, bisect_right(list(weights), FULL * (limit - self.engines.work) // LEAST_WORK))]

    def _parts(self, turns: list[Turn]) -> int:
        """Into how many parts the work of a round of these turns is cut."""
        return -(-sum(turn.weight for turn in turns) // FULL)

    def _team(self, component: Component) -> tuple[tuple[str, int], ...]:
        """The engines that work on the component in this round, and the weight of each: less for those that found nothing while others did."""
        number = 0 if self._begins_short(component) else component.turns + 1
        members = team(self.engines.active, component, number, self.task.limits.work)
        return tuple((name, parts * component.earnings.parts(name)) for name, parts in members)

    def _begins_short(self, component: Component) -> bool:
        """Is a short round the next? Where one of several engines is quick, that often finishes the component."""
        if component.turns or component.had_short_turn:
            return False
        names = {name for name, _ in team(self.engines.active, component, 0)}
        return len(names) > 1 and any(share_of(name).is_quick for name in names)

    def _budget(self, todo: list[Turn], least: int) -> int:
        """The work of each part in this round, which is to be at least so much and enough for a dive; 0 when nothing is left."""
        first = max([least, *(_dive_work(turn.component) for turn in todo)])
        if self.task.limits.work is not None and all(share_of(name).at_once for name in self.engines.active):
            first = self.task.limits.work
        return round_work(self.task.limits.work, self.engines.work, self._parts(todo), first=first)

    def _last_resort(self, every: list[Turn]) -> tuple[list[Turn], int]:
        """What is left, which is too little for teams, goes to the largest share of each if there is no plan without it."""
        todo = [
            Turn(turn.pool, turn.component, ((max(turn.team, key=itemgetter(1))[0], FULL),), turn.enough, turn.put)
            for turn in every
            if turn.component.placement is None and turn.team
        ]
        limit = self.task.limits.work
        return todo, 0 if limit is None else max(limit - self.engines.work, 0) // max(len(todo), 1) if todo else 0

    def _ask(self, work: int, part: Part, relay: Relay, active_threads: Ints) -> Answer:
        """Run one engine on one component, with what was known when the round began."""
        component = part.turn.component
        task = task_of_round(self.task, self.rounds, part.work(work))
        task = replace(
            task,
            seed=task.seed + part.again * AGAIN_STEP,
            target=(self._enough(part.turn.pool),),
            start=component.placement,
            bound=(component.bound,),
            pool_bounds=(component.bound,),
            active_threads=active_threads,
        )
        if component.above is None or not is_of(SolverKind.IMPROVER, part.name):
            return ask(part.name, component.piece.instance, task, relay)
        return ask(part.name, component.uncapped, replace(task, goal=Goal.MINIMISE, start=component.above), relay)

    def _put(self, pool: SinglePool, component: Component, placement: Placement) -> None:
        self.board.put(pool.blocks[component.piece.blocks], pool.number, pool.address(placement.offset))

    def _take(self, pool: SinglePool, component: Component, name: str, outcome: Outcome) -> None:
        found = outcome.placement
        if found is not None and outcome.value is not None and pool.improve(component, found, outcome.value[0]):
            self.solver = name
            self._put(pool, component, found)
        if outcome.infeasible:
            pool.give_up(name)
        elif outcome.bound and proves(name):  # others repeat the bound of the component, of which the pool has no proof
            pool.refute(component, outcome.bound[0], name)

    def _weigh(self) -> None:
        """Look for better bounds of the pools that are still open by weights of what conflicts."""
        limit = self.task.limits.work
        still_open = [pool for pool in self.pools if pool.open and not pool.done]
        for number, pool in enumerate(still_open):
            left = None if limit is None else max(limit - self.engines.work, 0)
            parts = PARTS_FOR_WEIGHTS * (len(still_open) - number)
            work = WORK_OF_WEIGHTS if left is None else min(left // parts, WORK_OF_WEIGHTS)
            self.engines.work += pool.weigh(work, self.board.stopped)
        self._prove()

    def _prove(self) -> None:
        if not any(pool.impossible for pool in self.pools):
            self.board.prove(self._bound())

    def _pool_bounds(self) -> tuple[int, ...]:
        bounds = [0] * len(self.instance.pools)
        for pool in self.pools:
            bounds[pool.number] = pool.address(pool.bound)
        return tuple(bounds)

    def _bound(self) -> Value:
        """The bound with every term at its least: without a choice of pools, the lowest peaks are best for all terms at once."""
        bounds = self._pool_bounds()
        offset = np.array(bounds, dtype=np.int64)[self.pool_of] - self.instance.block_high
        terms = dict(zip(self.instance.terms, evaluate(self.instance, Placement(self.pool_of, offset)), strict=True))
        of_peaks = value_of_peaks(self.instance, bounds)
        for term in terms.keys() & LINEAR:
            cost = choice_cost(self.instance, term)
            terms[term] = peak_price(self.instance, term) * of_peaks
            terms[term] += 0 if cost is None else sum(cost[np.arange(self.instance.blocks), self.pool_of].tolist())
        terms[Term.LARGEST_PEAK] = max(bounds, default=0)
        return tuple(terms[term] for term in self.instance.terms)

    def _outcome(self, stop: StopReason) -> Outcome:
        stuck = [pool for pool in self.pools if pool.impossible]
        placement = self.board.placement
        if stuck:
            placement = None
        outcome = Outcome(
            stop=stop,
            placement=placement,
            value=None if placement is None else evaluate(self.instance, placement),
            bound=self._bound(),
            pool_bounds=self._pool_bounds(),
            certificates=tuple(pool.certificate for pool in [*stuck, *(p for p in self.pools if not p.impossible)]),
            infeasible=bool(stuck),
            solver=self.solver,
        )
        return self.engines.sign(outcome)


def _is_better(outcome: Outcome, peak: int | None, bound: int) -> bool:
    """True if the engine found or proved more than this."""
    is_lower = outcome.value is not None and (peak is None or outcome.value[0] < peak)
    return is_lower or outcome.infeasible or bool(outcome.bound and outcome.bound[0] > bound)


def _dive_work(component: Component) -> int:
    """The work the search needs to place every block of the component once, by the sections that they live in."""
    instance = component.piece.instance
    return int((instance.rect_end - instance.rect_start).sum()) // WIDTH_PER_WORK
