"""Lowers one peak by asking whether there is a placement no higher than H: first at the bound, then between the bound and the best placement.

A placement lowers the best peak, a refutation raises the bound; they meet at the optimum. With a fixed height, CP-SAT mostly answers many times faster
than it minimises a variable one. Every question has a budget of its own; if all were too hard, the next round asks again with twice as much. Where there
is a model for the least peak itself, that is asked for once, after the first height that was too hard or too low.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from ...geometry.order import repair
from ...model.conflicts import live_pair_count, slowness
from ...model.errors import StopReason
from ...model.instance import Instance, Placement
from ...model.objective import evaluate
from ...model.outcome import Certificate, Outcome, Proof
from ...model.solver import Control, Goal, Task, Warm
from .engine import NAME, WORK_PER_BLOCK, WORK_PER_CONFLICT, Answer, Budget, Crowd, ReadValue, solve
from .program.cover import Cover, cover
from .program.model import Model
from .single_peak import SinglePeak, first_bound

FIRST_WORK = 100_000
SHARE_OF_FIRST_ROUND = 4
"""The first round's question at the bound may take a quarter of all work."""
SHARE_OF_THE_REST = 4
"""Every other question of a round may take a quarter of that: most optima are at the bound."""
SHARE_OF_SECOND_OPINION = 8
WORK_OF_LEAST, SHARE_OF_LEAST = 2_000_000, (1, 2)
"""For the question for the least peak itself, without a limit and as a part of what is left."""
LEAST_WORK = 1_000
MOST_PAIRS_TO_REPAIR = 100_000


Build: TypeAlias = Callable[[Instance, Cover, int], Model]
"""Builds the model of all placements that end at or below a height."""
BuildLeast: TypeAlias = Callable[[Instance, Cover, int, int], tuple[Model, Any]]
"""Builds the model that minimises a peak between a bound and a height, and that peak; None if there is no placement."""


class Models(NamedTuple):
    """What can be asked."""

    below: Build
    least: BuildLeast | None = None


class Descent:
    """The state of one run: bound, best placement and remaining work."""

    def __init__(
        self,
        instance: Instance,
        single: SinglePeak,
        task: Task,
        control: Control,
        warm: Warm,
        budget: Budget,
        models: Models,
    ) -> None:
        self.bound = single.at_least(first_bound(instance, single, task))
        """Proven least peak; None if nothing fits."""
        self.best: Placement | None = task.start if warm.gives_bound else None
        self.peak: int | None = None if self.best is None else instance.end_of(self.best.offset)
        self._instance, self._single_peak, self._task, self._control = instance, single, task, control
        self._build, self._build_least = models
        self._hint = task.start if warm.gives_hint else None
        self._target = single.peak_for(task.target)
        self._second_opinion = task.start if task.warm is None else None
        """Tried as a second hint, at the bound, with little work: a hint ruins some searches and saves others."""
        crowd = Crowd(live_pair_count(instance), slowness(instance))
        self._budget = replace(budget, rate=crowd.rate(budget.rate))
        self._cover = cover(instance)
        self._fixed_work = WORK_PER_BLOCK * instance.blocks + crowd.work
        self._least_work = max(LEAST_WORK, 2 * crowd.work)
        """With less work left, another question is not worth its cost."""
        self._work = WORK_PER_CONFLICT * len(instance.conflicts)
        self._solves = 0
        self._has_found = False
        self._has_refuted = False
        self._stop: StopReason | None = None

    def minimise(self) -> Outcome:
        """Lowers the peak until it meets the bound or the budget ends."""
        total = self._budget.work
        work = FIRST_WORK if total is None else max(total // SHARE_OF_FIRST_ROUND, LEAST_WORK)
        if self._task.goal is Goal.FIT or self._single_peak.is_flat:
            self._ask_once(self._single_peak.ceiling)
        if self.peak is None and not self._is_done():
            self._decide(self._single_peak.ceiling, work, self._hint)  # is there any placement at all?
        while not self._is_done():
            self._round(work)
            work *= 2
        return self._outcome()

    def _ask_once(self, height: int) -> None:
        """Looks for any placement: all that fit are equally good."""
        while not self._is_done():
            self._decide(height, None, self._hint)

    def _round(self, work: int) -> None:
        """Asks from the bound upwards, halving the distance between the last height that was too hard and the best placement."""
        height = self._enough
        too_hard: int | None = None
        while height is not None and not self._is_done():
            is_bound = height == self._enough
            answer = self._decide(height, work if is_bound else work // SHARE_OF_THE_REST, self._hint)
            if answer is Answer.UNKNOWN and is_bound and self._second_opinion is not None and not self._is_done():
                answer = self._decide(height, work // SHARE_OF_SECOND_OPINION, self._second_opinion)
            if answer is not Answer.FEASIBLE and self._build_least is not None and not self._is_done():
                self._ask_for_least(self._build_least)
                self._build_least = None
                return
            if answer is Answer.INFEASIBLE:
                too_hard, height = None, self._enough
                continue
            if answer is Answer.UNKNOWN:
                too_hard = height
            height = None if too_hard is None else self._between(too_hard)

    @property
    def _enough(self) -> int | None:
        """The height to ask for first: nothing lower exists, or none is needed."""
        return None if self.bound is None else max(self.bound, self._target)

    def _between(self, low: int) -> int | None:
        """A reachable height near the middle between `low` and the best peak, both exclusive; None if there is none."""
        high = self._single_peak.ceiling + 1 if self.peak is None else self.peak
        middle = self._single_peak.at_least(low + (high - low + 1) // 2)
        if middle is None or middle >= high:
            middle = self._single_peak.at_most(high - 1)
        return middle if middle is not None and low < middle < high else None

    def _decide(self, height: int, work: int | None, hint: Placement | None) -> Answer:
        """Asks whether there is a placement that ends at or below the height, with at least the work that one question costs."""
        left = self._left()
        work = None if work is None else max(work, self._fixed_work)
        self._work += self._fixed_work
        model = self._build(self._instance, self._cover, height)
        if model.is_impossible:
            self._refute(height)
            return Answer.INFEASIBLE
        if left is not None and model.work >= left:
            self._stop = StopReason.WORK_LIMIT
            return Answer.UNKNOWN
        self._work += model.work
        left = None if left is None else left - model.work
        if hint is not None:
            model.suggest(hint)
        seen: list[Placement] = []

        def keep(value: ReadValue) -> None:
            seen.append(model.placement(value))

        # Run times are heavy-tailed: each question gets another seed, so that the next round avoids the same dead end.
        budget = replace(
            self._budget,
            work=min((w for w in (left, work) if w is not None), default=None),
            seed=self._budget.seed + self._solves,
        )
        self._solves += 1
        reply = solve(model.cp, budget, self._control, keep)
        self._work += reply.work
        if seen:
            self._accept(seen[-1])
            return Answer.FEASIBLE
        if reply.answer is Answer.INFEASIBLE:
            self._refute(height)
            return Answer.INFEASIBLE
        if reply.stopped is not StopReason.WORK_LIMIT:
            self._stop = reply.stopped
        return Answer.UNKNOWN

    def _ask_for_least(self, build: BuildLeast) -> None:
        """Asks for the least peak itself, once."""
        left, bound = self._left(), self._enough
        top = self._single_peak.ceiling if self.peak is None else self._single_peak.at_most(self.peak - 1)
        if bound is None or top is None or top < bound:
            return
        self._work += self._fixed_work
        model, peak = build(self._instance, self._cover, bound, top)
        if peak is None:
            self._refute(top)
            return
        seen: list[Placement] = []
        work = WORK_OF_LEAST if left is None else left * SHARE_OF_LEAST[0] // SHARE_OF_LEAST[1]
        budget = replace(self._budget, work=work, presolve=True)
        reply = solve(model.cp, budget, self._control, lambda value: seen.append(model.placement(value)))
        self._work += reply.work
        if reply.answer is Answer.INFEASIBLE:
            self._refute(top)
            return
        if seen:
            self._accept(seen[-1])
        if reply.bound is not None and reply.bound > bound:
            self._refute(reply.bound - 1)
        if reply.stopped is not None and reply.stopped is not StopReason.WORK_LIMIT:
            self._stop = reply.stopped

    def _accept(self, placement: Placement) -> None:
        """Keeps the placement if it is better, after lowering it as far as its order allows."""
        peak = self._instance.end_of(placement.offset)
        if self.bound is not None and peak > self.bound and live_pair_count(self._instance) <= MOST_PAIRS_TO_REPAIR:
            lowered = repair(self._instance, placement.pool, placement.offset)
            if lowered is not None and self._instance.end_of(lowered.offset) < peak:
                placement, peak = lowered, self._instance.end_of(lowered.offset)
        if self.peak is None or peak < self.peak:
            self.best, self.peak, self._has_found = placement, peak, True
            self._hint = None if self._hint is None else placement
            self._second_opinion = None if self._second_opinion is None else placement
            self._control.incumbent(placement)

    def _refute(self, height: int) -> None:
        """Records that nothing ends at or below this height."""
        self._has_refuted = True
        if self.bound is not None and height >= self.bound:
            self.bound = self._single_peak.at_least(height + 1)
            if self.bound is not None:
                self._control.bound(self._single_peak.value(self.bound))

    def _left(self) -> int | None:
        return None if self._budget.work is None else self._budget.work - self._work

    def _is_done(self) -> bool:
        if self._stop is None:
            self._stop = self._reason_to_stop()
        return self._stop is not None

    def _reason_to_stop(self) -> StopReason | None:
        if self.bound is None:
            return StopReason.PROVED
        enough = self._enough
        if self.peak is not None and enough is not None:
            if self.peak <= enough or self._single_peak.is_flat:
                return StopReason.PROVED
            if self._task.goal is Goal.FIT:
                return StopReason.GOAL_MET
        left = self._left()
        if left is not None and left < self._least_work:
            return StopReason.WORK_LIMIT
        return self._control.stopped()

    def _outcome(self) -> Outcome:
        """The outcome so far."""
        stop = self._stop or StopReason.WORK_LIMIT
        value = None if self.best is None else evaluate(self._instance, self.best)
        if self.bound is None:
            return Outcome(stop, bound=self._task.bound, infeasible=True, solver=NAME, work=self._work)
        proof = Certificate(Proof.SEARCH, self.bound, self._single_peak.pool, solver=NAME)
        return Outcome(
            stop=stop,
            placement=self.best,
            value=value,
            bound=self._single_peak.value(self.bound),
            certificates=(proof,) if self._has_refuted else (),
            solver=NAME if self._has_found else None,
            work=self._work,
            reproducible=stop.is_repeatable,
        )
