"""Several plans within one set of limits: each gets an equal share, and a known plan needs none."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from solvers.model.errors import StopReason

from ...facts.digest import digest
from ...model.plan import ChoiceGoal, Plan, PlanStatus
from ...model.problem import Problem
from ...verifying.arguments.counterexamples import BRIEF
from ...verifying.verify import verify
from ..options.options import Options
from .pipeline import WORK_PER_SECOND
from .solving import plan
from .watching import Cancelled


class KnownPlans:
    """Plans of an earlier run, for example one that was killed, by their problem's digest. Runs that found nothing or were called off are repeated."""

    def __init__(self, plans: Iterable[Plan] = ()) -> None:
        self._plans = {
            plan.problem_digest: plan
            for plan in plans
            if plan.stop is not StopReason.CANCELLED and (plan.status.has_plan or plan.status is PlanStatus.INFEASIBLE)
        }

    def of(self, problem: Problem, goal: ChoiceGoal | None = None, most_cost: int | None = None) -> Plan | None:
        """Return the known plan of that problem, if its verification succeeds.

        With variants it must say that it was sought among the same choices; one without a choice does not.
        """
        plan = self._plans.get(digest(problem)) if self._plans else None
        if plan is None or verify(problem, plan, effort=BRIEF):
            return None
        if problem.variants is None:
            return plan
        choice = plan.choice
        return plan if choice is not None and (choice.goal, choice.most_cost) == (goal, most_cost) else None


class SharedLimits:
    """Limits of which each plan gets an equal share."""

    def __init__(
        self, options: Options, count: int, begun: float | None, cancelled: Cancelled | None, start: Iterable[Plan] = ()
    ) -> None:
        begun = time.monotonic() if begun is None else begun
        self._known = KnownPlans(start)
        self._options, self._left, self._cancelled = options, count, cancelled
        self._end = None if options.time_limit is None else begun + options.time_limit
        self._half = None if options.time_limit is None else begun + options.time_limit / 2
        self._has_overrun = False
        work = options.work_limit
        if work is None and options.time_limit is not None:
            work = int(WORK_PER_SECOND * options.time_limit)
        self._work = None if work is None else work // count

    def is_over(self) -> bool:
        """True if the time is used up or the caller has cancelled."""
        if self._cancelled is not None and self._cancelled():
            return True
        return self._end is not None and time.monotonic() >= self._end

    def is_overrun(self) -> bool:
        """True if half of the time is gone, and the last plan took more than its share: the others would, too."""
        return self._has_overrun and self._half is not None and time.monotonic() >= self._half

    def plan(self, problem: Problem) -> Plan:
        """Return the known plan, or one made with a share."""
        share, begun = self.next(), time.monotonic()
        made = self._known.of(problem) or plan(problem, share, cancelled=self._cancelled)
        self._has_overrun = share.time_limit is not None and time.monotonic() - begun > share.time_limit
        return made

    def next(self) -> Options:
        left = None if self._end is None else max(self._end - time.monotonic(), 0.0) / max(self._left, 1)
        self._left -= 1
        return replace(self._options, time_limit=left, work_limit=self._work)
