"""The optimum stated in a problem's name, and whether a result contradicts it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from ...model.plan import Plan, PlanStatus

FACT = re.compile(r"(?:^| )(optimum|bound)=([0-9]{1,19})(?= |$)", re.ASCII)
NUMBER_IN_NAME = re.compile(r"[0-9]{1,19}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about the smallest peak, independently of solvers."""

    optimum: int | None = None
    bound: int | None = None

    @classmethod
    def of(cls, name: str | None) -> Known:
        """Return it from a generated problem's name; nothing from others."""
        facts = {word: int(number) for word, number in FACT.findall(name or "")}
        return cls(facts.get("optimum"), facts.get("bound"))

    def contradiction(self, plan: Plan, capacity: int | None) -> str | None:
        """Return why the plan or its claims must be wrong, or None."""
        least = self.optimum if self.optimum is not None else self.bound
        if plan.peak is not None and least is not None and plan.peak < least:
            return f"the peak {plan.peak} is below {least}, which no plan can beat"
        if self.optimum is None:
            return None
        if plan.status is PlanStatus.INFEASIBLE:
            fits = capacity is None or capacity >= self.optimum
            return f"called infeasible, but there is a plan of {self.optimum}" if fits else None
        if plan.bound > self.optimum:
            return f"the bound {plan.bound} is above {self.optimum}, which is reached"
        if plan.status is PlanStatus.OPTIMAL and len(plan.objective.terms) == 1 and plan.peak != self.optimum:
            return f"called optimal at {plan.peak}, but there is a plan of {self.optimum}"
        return None


def capacity_from_name(file: str, known: Known) -> int | None:
    """Return the last number between dots in the file's name, or the known optimum."""
    for part in reversed(PurePath(file).name.split(".")[1:-1]):
        if NUMBER_IN_NAME.fullmatch(part):
            return int(part)
    return known.optimum
