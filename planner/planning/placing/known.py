"""Plans that were made before, by a run that was killed, say: each is taken up where its problem is to be planned again."""

from __future__ import annotations

from collections.abc import Iterable

from ...facts.digest import digest
from ...model.plan import Plan, PlanStatus
from ...model.problem import Problem
from ...verifying.verify import verify


class KnownPlans:
    """By the digest of their problem. What was not found before is looked for again."""

    def __init__(self, plans: Iterable[Plan] = ()) -> None:
        self._plans = {
            plan.problem_digest: plan for plan in plans if plan.status.has_plan or plan.status is PlanStatus.INFEASIBLE
        }

    def of(self, problem: Problem) -> Plan | None:
        """The plan of that problem, if there is one and it stands its verification."""
        plan = self._plans.get(digest(problem)) if self._plans else None
        return None if plan is None or verify(problem, plan) else plan
