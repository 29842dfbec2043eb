"""Several plans within the limits of one: each takes an equal share, and one that was made before takes none."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from ...facts.digest import digest
from ...model.plan import Plan, PlanStatus
from ...model.problem import Problem
from ...verifying.verify import verify
from ..options.options import Options
from .path import WORK_PER_SECOND
from .solving import plan
from .watching import Cancelled


class KnownPlans:
    """Plans that were made before, by a run that was killed, say; by the digest of their problem. What was not found is looked for again."""

    def __init__(self, plans: Iterable[Plan] = ()) -> None:
        self._plans = {
            plan.problem_digest: plan for plan in plans if plan.status.has_plan or plan.status is PlanStatus.INFEASIBLE
        }

    def of(self, problem: Problem) -> Plan | None:
        """The plan of that problem, if there is one and it stands its verification."""
        plan = self._plans.get(digest(problem)) if self._plans else None
        return None if plan is None or verify(problem, plan) else plan


class Shares:
    """Equal shares of the limits."""

    def __init__(
        self, options: Options, count: int, begun: float | None, cancelled: Cancelled | None, start: Iterable[Plan] = ()
    ) -> None:
        begun = time.monotonic() if begun is None else begun
        self._known = KnownPlans(start)
        self._options, self._left, self._cancelled = options, count, cancelled
        self._end = None if options.time_limit is None else begun + options.time_limit
        work = options.work_limit
        if work is None and options.time_limit is not None:
            work = int(WORK_PER_SECOND * options.time_limit)
        self._work = None if work is None else work // count

    def is_over(self) -> bool:
        """Has all the time been used, or does no caller wait any more?"""
        if self._cancelled is not None and self._cancelled():
            return True
        return self._end is not None and time.monotonic() >= self._end

    def plan(self, problem: Problem) -> Plan:
        """The plan that is known, or that one share makes."""
        share = self.next()
        return self._known.of(problem) or plan(problem, share, cancelled=self._cancelled)

    def next(self) -> Options:
        left = None if self._end is None else max(self._end - time.monotonic(), 0.0) / max(self._left, 1)
        self._left -= 1
        return replace(self._options, time_limit=left, work_limit=self._work)
