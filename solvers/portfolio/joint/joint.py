"""Problems that do not separate into single pools: with a choice of pools, or with objectives that weigh shared addresses or moves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from ...bounds.first_bounds import first_bounds
from ...geometry.presolve import scaled, unit
from ...geometry.tie_breaks import can_tie, least_tie, preferring, rank_tie
from ...model.errors import SolverError, StopReason
from ...model.instance import Instance, Placement
from ...model.interruption import GivenUp, check_interrupted, interrupted_by
from ...model.linear_terms import choice_cost
from ...model.needs import is_joint
from ...model.objective import evaluate
from ...model.outcome import Outcome, Proof
from ...model.registry import SolverKind, is_of
from ...model.solver import Control, Goal, Task
from ..board import Board
from ..execute import FULL, Earnings, Engines, ask, execute
from ..roster import (
    FIRST_ROUND_WORK,
    LEAST_WORK,
    engines_of_auto,
    packers,
    role_of,
    round_work,
    task_of_round,
)
from ..separate import solve_separate_pools
from .ahead import Answers, within, working_ahead
from .held import Held
from .in_one import joined, solve_in_one
from .in_rooms import LEADER_OF_ROOMS, solve_in_rooms
from .kept_apart import Ways, ways_to_share
from .known import Known
from .proven import Proven
from .settled_pools import OF_PEAKS, SettledPools

SHARE_OF_GREEDY = 8
"""Where the choice of pools has a cost, greedy gets an eighth of the work: what it would find with more, local search finds sooner."""
A_BLOCK_BEFORE_LEADERS, SHARE_BEFORE_LEADERS, MOST_BEFORE_LEADERS = 40, 32, 40_000
"""If an engine that starts from prices leads, that is so much for each block at most, since a pass or two are worth most of it; or this share, up to so much."""
SHARE_FOR_PEAKS = 3
"""If the first term counts only peaks, greedy's many orders are worth more; if no term counts anything else, they often prove the least peaks."""
SHARE_OF_LEADER = 0.9
"""The leader's part of the work left after greedy."""
WORK_OF_LEADER = 4_000_000
"""The leader's work if there is no limit; it is asked again with more in later rounds."""
SHARE_OF_HOLDING, WORK_OF_HOLDING = 4, 500_000
"""The part of the work left after greedy with which costs of moves and reuse are ruled out; and the work if there is no limit."""
ANEW = 4
"""It begins anew each time, so with less than such a part of what its first run took it finds nothing more."""
SHARE_OF_ROOMS = 0.9
"""The part of the work left after greedy with which gaps between reserved ranges are solved as pools."""
MANY_BLOCKS = 5_000
"""From this many blocks on, greedy's passes over several pools take seconds."""
GROWTH = 4
"""Growth of work from round to round: these engines start anew in each, and mostly prove things in one long run."""


def solve_joint(instance: Instance, task: Task, control: Control, engines: tuple[str, ...], by_name: bool) -> Outcome:
    """Run greedy, then the engines in rounds, one after the other; each starts from all results before it."""
    return Joint(instance, task, control, engines, by_name).solve()


def solve_again(instance: Instance, task: Task, control: Control) -> Outcome:
    """Solve what a choice leaves open, which may separate into single pools."""
    engines = engines_of_auto(instance)
    if is_joint(instance):
        return solve_joint(instance, task, control, engines, by_name=False)
    return solve_separate_pools(instance, task, control, engines, by_name=False)


def work_of_part(limit: int | None, spent: int, parts: int) -> int:
    """The work for each part of the engines' shares in the next round; 0 when nothing is left."""
    return round_work(limit, spent, parts, first=FIRST_ROUND_WORK // FULL, least=LEAST_WORK // FULL, growth=GROWTH)


def solve_as_they_are(instance: Instance, task: Task, control: Control, *, is_bounded: bool = True) -> Outcome:
    """Solve an instance with the pools as they are; without engines that only bound it, if a plan is all that is wanted."""
    engines = engines_of_auto(instance)
    if not is_joint(instance):
        return solve_separate_pools(instance, task, control, engines, by_name=False)
    run = Joint(instance, task, control, engines, by_name=False)
    run.has_rooms, run.as_one, run.bounders = False, None, run.bounders if is_bounded else []
    return run.solve()


class Joint:
    """One run. The instance is scaled as a whole; terms counted in bytes are scaled back at the end."""

    def __init__(
        self, instance: Instance, task: Task, control: Control, engines: tuple[str, ...], by_name: bool
    ) -> None:
        self.original = instance
        self.unit = unit(instance)
        self.instance = scaled(instance, self.unit)
        self.task = replace(task, start=None)  # in bytes; engines count in units
        self.start = task.start
        places = int(np.count_nonzero(instance.allowed))
        engines = tuple(name for name in engines if by_name or role_of(name).takes(places, instance.blocks))
        self.engines = Engines((name for name in engines if not is_of(SolverKind.BOUNDER, name)), by_name)
        self.bounders = [
            name
            for name in engines
            if is_of(SolverKind.BOUNDER, name) and (instance.has_choice or role_of(name).needs_no_choice)
        ]
        self.settler = next((name for name in self.engines.active if by_name or role_of(name).settles_ties), None)
        """The engine that picks the best of several placements of the least cost."""
        self.board = Board(instance, control)
        check_interrupted()
        first = first_bounds(instance, control.stopped)
        self.proven = Proven(self.original, self.unit, first, self.board)
        self.known = Known(self.instance, self.unit, self.board)
        may_repack = not by_name and bool(engines) and not OF_PEAKS.isdisjoint(instance.terms)
        self.settled_pools = (
            SettledPools(self.instance, self.task, self.engines, self.known, self.proven) if may_repack else None
        )
        may_hold = not by_name and bool(engines) and (instance.weighs_moves or instance.weighs_reuse)
        self.held = Held(self.instance, self.task, self.engines, self.known, solve_again) if may_hold else None
        self.ways: Ways | None = None
        """All ways to pay the least cost of reuse, once that is known."""
        self.seeks_ways = not by_name and bool(engines)
        self.has_rooms = not by_name and bool(engines) and any(pool.reserved for pool in self.instance.pools)
        """May gaps between reserved ranges be solved as pools of their own?"""
        self.as_one = joined(self.instance) if not by_name and engines else None
        self.steady = True
        """True if another run would settle ties in the same way."""
        self.rounds = 0
        self.earnings = Earnings()
        self.ahead: Answers = {}

    def solve(self) -> Outcome:
        """The whole run."""
        self.begin()
        while self.is_open and (part := work_of_part(self.task.limits.work, self.engines.work, self.parts)):
            self.round(part)
        self.settle_ties()
        return self.outcome()

    @property
    def is_open(self) -> bool:
        """True if there is more to find or prove, and an engine that could."""
        return self._finished() is None and bool(self.engines.active)

    @property
    def parts(self) -> int:
        """The number of parts that the work of the next round is divided into."""
        return sum(map(self.earnings.parts, self._asked)) + FULL * self._can_pack()

    @property
    def _asked(self) -> list[str]:
        """The engines of the next round: none, where the rest is settled by keeping pairs apart."""
        return [] if self.ways is not None and self.ways.is_only else list(self.engines.active)

    def begin(self) -> None:
        """Find the bounds that need no search, and greedy's placement."""
        self.proven.tell()
        if self.start is not None and not self.proven.infeasible:
            known = Placement(self.start.pool, self.start.offset // self.unit)
            self.known.take(known, evaluate(self.instance, known), None)
        # However late it is, greedy makes a plan, if need be in a hurry: a run without one is worth nothing.
        if self._finished() is None or (self._finished() is StopReason.TIME_LIMIT and self.known.placement is None):
            self._ask("greedy", self._greedy_work())
        if self._finished() is None and self.settled_pools is not None:
            self.settled_pools.try_all(self.rounds)
        if self._finished() is None:
            self._hold()
        if self._finished() is None and self.as_one is not None:
            further = partial(solve_as_they_are, is_bounded=False)
            self._solve_instead(partial(solve_in_one, self.as_one, solve=solve_again, further=further), 1.0)
        elif self._finished() is None and self.has_rooms:
            self._solve_instead(partial(solve_in_rooms, self.instance, solve=solve_as_they_are), SHARE_OF_ROOMS)
        leaders = [name for name in self.engines.active if role_of(name).leads]
        others = self.bounders if leaders and self._finished() is None else []
        task = replace(self.task, start=self.known.placement)
        with working_ahead(others, self.instance, task, self.board) as self.ahead:
            for name in leaders:
                if self._finished() is None:
                    self._lead(name)
            for name in self.bounders:
                left, least = self._left(), role_of(name).least_work_per_block * self.instance.blocks
                if self._finished() is None and (left is None or left >= least):
                    self._ask(name, left)
        self._seek_ways()

    def _lead(self, name: str) -> None:
        """Run a leader with most of the work, and never again if too little is left."""
        left, before = self._left(), self.engines.work
        self._ask(name, WORK_OF_LEADER if left is None else int(left * SHARE_OF_LEADER))
        left = self._left()
        if left is not None and left * ANEW < self.engines.work - before:
            self.engines.retire(name)

    def round(self, work: int) -> None:
        """Run every engine once, with this much work for each part of its share."""
        self.rounds += 1
        before, waits = self.engines.work, False
        names, found = self._asked, set[str]()
        if self._can_pack() and self._finished() is None:
            self._pack(work * FULL)
        for name in names:
            if self._finished() is not None:
                break
            share = work * self.earnings.parts(name)
            granted = self.earnings.grant(name, share)
            if granted < min(share, LEAST_WORK):
                waits = True
                continue
            spent, value, bound = self.engines.work, self.known.value, self.proven.bound
            self._ask(name, granted)
            self.earnings.took(name, granted, self.engines.work - spent)
            if (self.known.value, self.proven.bound) != (value, bound):
                found.add(name)
        self.earnings.end_round(names, found)
        if self.engines.work == before and not waits:
            self.engines.active.clear()  # nothing is left for them to do
        self._seek_ways()

    def _greedy_work(self) -> int | None:
        """Greedy's work: all there is, unless others use it better. Then it gets a share, and where a pass takes long only the first one, which is always made."""
        left = self._left()
        if left is None or not any(role_of(name).saves_greedy for name in self.engines.active):
            return left
        if self.instance.blocks >= MANY_BLOCKS:
            return 0
        costs = [choice_cost(self.instance, term) is not None for term in self.instance.terms]
        if any(costs) and any(role_of(name).leads for name in self.engines.active):
            passes = A_BLOCK_BEFORE_LEADERS * self.instance.blocks
            return max(min(left // SHARE_OF_GREEDY, passes), min(left // SHARE_BEFORE_LEADERS, MOST_BEFORE_LEADERS))
        return left // (SHARE_OF_GREEDY if costs[0] else SHARE_FOR_PEAKS)

    def _left(self) -> int | None:
        return None if self.task.limits.work is None else max(self.task.limits.work - self.engines.work, 0)

    def settle_ties(self) -> None:
        """With the sum of peaks at its least, look for the same sum with less in the pools that are to be used last."""
        if self._finished() is not StopReason.PROVED or self.proven.infeasible or not can_tie(self.instance):
            return
        assert self.known.placement is not None
        assert self.known.value is not None
        if rank_tie(self.instance, self.known.placement) == least_tie(self.instance, self.proven.bounds_in_units()):
            return
        if self.settled_pools is not None:
            if not self.settled_pools.all_are_tried:
                self.settled_pools.try_all(self.rounds)
            if self.settled_pools.all_are_tried:
                return
        if self.settler is None:
            return
        instance, bound = preferring(self.instance, self.known.value)
        left = self._left()
        limits = replace(self.task.limits, work=None if left is None else left // 4)
        task = replace(self.task, limits=limits, start=self.known.placement, bound=bound, pool_bounds=())
        try:
            outcome = execute(self.settler, instance, task, self.known.relay(self.settler))
        except SolverError:
            return  # the sum is proven; only the tie stays open
        self.engines.count(outcome, self.settler)
        self.steady = outcome.reproducible
        if outcome.placement is not None:
            self.known.take(outcome.placement, evaluate(self.instance, outcome.placement), self.settler)

    def _seek_ways(self) -> None:
        """If the cost of reuse comes first and is at its least, find out in which ways it can be."""
        best, value = self.known.placement, self.known.value
        if not self.seeks_ways or self._finished() is not None or best is None or value is None:
            return
        if value[:1] == self.proven.bound[:1]:
            self.ways, self.seeks_ways = ways_to_share(self.instance, best), False

    def _can_pack(self) -> bool:
        return self.ways is not None or (self.settled_pools is not None and self.settled_pools.can_lower())

    def _hold(self) -> None:
        """Rule out costs of moves and reuse, for one more placement to begin with."""
        if self.held is None or not self.held.is_of_use or self.known.placement is None:
            return
        left = self._left()
        with suppress(GivenUp), interrupted_by(self._give_up):
            self.held.begin(WORK_OF_HOLDING if left is None else left // SHARE_OF_HOLDING)

    def _solve_instead(self, solve: Callable[[Task, Control], Outcome | None], share: float) -> None:
        """Solve an instance with other pools, with such a part of the work: what it gives holds for these."""
        left = self._left()
        task = task_of_round(self.task, 0, WORK_OF_LEADER if left is None else int(left * share))
        outcome = solve(replace(task, start=self.known.placement), self.known.relay(LEADER_OF_ROOMS))
        if outcome is not None:
            self.engines.count(outcome, *outcome.took_part)
            self._take(outcome, LEADER_OF_ROOMS)

    def _pack(self, work: int) -> None:
        """Pack the best placement's choice of pools lower; or all ways to share."""
        if self.ways is not None:
            self._try_ways(self.ways, work)
        elif self.settled_pools is not None:
            self.settled_pools.lower(self.rounds, work)

    def _try_ways(self, ways: Ways, work: int) -> None:
        """Look for something better in each way to share, and take what is proven of all together."""
        assert self.known.value is not None
        task = replace(self.task, start=self.known.placement, bound=(), target=(), pool_bounds=())
        task = task_of_round(task, self.rounds, work)
        outcome = ways.solve(task, self.known.relay(packers()[0]), self.known.value, solve_again)
        self.engines.count(outcome, *outcome.took_part)
        if outcome.bound > self.proven.bound:
            self.proven.take_search(outcome, outcome.solver or packers()[0])

    def _ask(self, name: str, work: int | None) -> None:
        task = replace(
            task_of_round(self.task, self.rounds, work),
            start=self.known.placement,
            bound=self.proven.bound,
            pool_bounds=self.proven.bounds_in_units(),
        )
        later = partial(ask, name, self.instance, task, self.known.relay(name))
        answer = within(self.ahead.pop(name, None), work, later)
        if self.known.placement is None:
            outcome = answer()
        else:
            try:
                with interrupted_by(self._give_up):
                    outcome = answer()
            except GivenUp:
                return
        self.engines.heard(name, outcome)
        if not isinstance(outcome, Outcome):
            return
        if is_of(SolverKind.RELAXATION, name) and work is not None and outcome.work < work // 2:
            self.engines.retire(name)
        self._take(outcome, name)

    def _take(self, outcome: Outcome, name: str) -> None:
        """Take what a run found and proved."""
        if outcome.placement is not None and outcome.value is not None:
            self.known.take(outcome.placement, outcome.value, outcome.solver or name)
        self.proven.infeasible |= outcome.infeasible
        if is_of(SolverKind.BOUNDER, name):
            self._take_bounds(outcome)
        elif outcome.infeasible or outcome.bound > self.proven.bound:
            self.proven.take_search(outcome, name)
        for found in () if is_of(SolverKind.BOUNDER, name) or outcome.infeasible else outcome.certificates:
            if found.proof is Proof.PRICED_ROOM:
                self.proven.take_prices(found)
            elif found.proof is Proof.SEARCH and found.term is not None:
                self.proven.take_search_of_later(found)
        if self.known.value is not None and self.proven.raised(self.known.value) == self.known.value:
            self.proven.bound = self.known.value  # otherwise engines find more without being told
            self.proven.tell()

    def _take_bounds(self, outcome: Outcome) -> None:
        """Take what a bounder proved. To work it out again takes a while, for which there is no time once there is a placement."""
        if self.known.placement is None or outcome.infeasible:
            self.proven.take_bounds(outcome)
            return
        with suppress(GivenUp), interrupted_by(self._give_up):
            self.proven.take_bounds(outcome)

    def _give_up(self) -> None:
        """Raise if time is up: there is a placement already, which preparations for better ones must not cost."""
        if self.board.stopped() is not None:
            raise GivenUp

    def _finished(self) -> StopReason | None:
        if self.proven.infeasible:
            return StopReason.PROVED
        if self.known.value is not None:
            if self.task.goal is Goal.FIT:
                return StopReason.GOAL_MET
            if self.known.value == self.proven.bound:
                return StopReason.PROVED
        return self.board.stopped()

    def outcome(self) -> Outcome:
        """The outcome of the run: what was found and proven, and why it ended."""
        stop = self._finished() or self.engines.stop
        placement = None if self.proven.infeasible else self.board.placement
        value = None if placement is None else self.board.value
        outcome = Outcome(
            stop=stop,
            placement=placement,
            value=value,
            bound=self.proven.in_bytes(self.proven.raised(self.known.value)),
            floors=() if self.proven.infeasible else self.proven.floors(value),
            pool_bounds=self.proven.pool_bounds(),
            certificates=self.proven.certificates(value),
            infeasible=self.proven.infeasible,
            solver=self.known.solver,
            reproducible=self.steady,
        )
        signed = self.engines.sign(outcome)
        if signed.is_optimal and stop is not StopReason.GOAL_MET:  # perhaps by what was raised once time was up
            return replace(signed, stop=StopReason.PROVED)
        return signed
