"""Turns prices that a search found into proofs about all choices, which verification adds up again, and gives each point the best of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from operator import itemgetter

from solvers.choice.alternatives.bounds.lines import Line, Prices, Step
from solvers.choice.alternatives.bounds.supporting import Tried
from solvers.choice.alternatives.instance import Choices
from solvers.choice.alternatives.points import Point

from ....facts.constants import spell_out_constants
from ....facts.plain_choices import least_cost
from ....facts.variants import as_chosen, count_of_alternatives
from ....model.columns.pools import costs_of, names_of, sizes_of
from ....model.plan import ChoiceCertificate, ChoiceGoal, Plan
from ....model.problem import Problem
from ....verifying.arguments.bounds import of_its_choice_alone
from ....verifying.choices.choice import AllChoices, most_memory
from ....verifying.moments import places_argued_of
from .choices import is_largest

MOST_ALTERNATIVES = 20_000
"""With more alternatives it takes too long to write them down for this."""
WORK_PER_PART = 50
"""Work of writing down what is live when, for each buffer of each alternative."""
WORK_OF_A_SWEEP = 10_000
STEPS_PER_WORK = 25


class Proofs:
    """The proofs about one problem so far."""

    def __init__(self, problem: Problem, choices: Choices, *, for_speed: bool) -> None:
        """`for_speed`: all that is asked is what choices cost that fit into the capacities."""
        self._problem, self._choices = problem, choices
        self._pools = names_of(problem.pools)
        assert problem.variants is not None
        self._is_small_enough = count_of_alternatives(problem.variants) <= MOST_ALTERNATIVES
        self._is_memory_free = for_speed and None not in sizes_of(problem.pools)
        """Then room is scarce by the capacities alone."""
        self._certificates = [ChoiceCertificate(least_cost(problem), 0, 1)]

    @cached_property
    def all_choices(self) -> AllChoices:
        """What is proven again."""
        return AllChoices(self._problem)

    def know(self, certificates: Iterable[ChoiceCertificate]) -> None:
        """Take certificates that were found to hold."""
        self._certificates += certificates

    @property
    def lines(self) -> list[Line | Step]:
        """All that is proven so far."""
        of_prices = [
            Line(c.memory, c.cost, c.value) for c in self._certificates if c.within is None and c.value is not None
        ]
        return [*of_prices, *(Step(c.within, c.value) for c in self._certificates if c.within is not None)]

    def prove(self, prices: Prices) -> Line | None:
        """Return what the prices prove; None if that is nothing."""
        price = 1
        if len(self._pools) == 1 and not is_largest(self._problem):
            (price,) = costs_of(self._problem.pools)  # of a byte of the peak, which is what the prices of memory are of
        weights = tuple((self._pools[p], self._choices.times[k], each * price) for p, k, each in prices.room)
        if not self._is_small_enough:
            return None
        memory = 0 if self._is_memory_free else prices.memory
        certificate = ChoiceCertificate(0, memory, prices.cost * price, weights)
        found = self.all_choices.priced.least(certificate)
        if isinstance(found, str):
            return None
        self._certificates.append(replace(certificate, value=found))
        return Line(certificate.memory, certificate.cost, found)

    def sweep(self, value: int) -> Tried:
        """Return what trying all choices within this value shows; None if there are too many."""
        if not self._is_small_enough:
            return Tried(None, 0)
        making = 0 if "swept" in vars(self.all_choices) else WORK_PER_PART
        swept = self.all_choices.swept
        found = swept.within(value)
        self._certificates.append(ChoiceCertificate(found.least_cost, 0, 1, within=value))
        return Tried(
            Step(value, found.least_cost), making * swept.parts + WORK_OF_A_SWEEP + found.steps // STEPS_PER_WORK
        )

    def of(self, point: Point, goal: ChoiceGoal, most_cost: int | None) -> tuple[ChoiceCertificate, ...]:
        """Return the proofs that say most about this point's memory and cost, as far as they concern its goal."""
        is_point = goal is ChoiceGoal.POINT
        most_cost, most_value = (point.cost, point.value) if is_point else (most_cost, most_memory(self._problem))
        of_memory = [(least, c) for c in self._certificates if (least := c.least_memory(most_cost)) is not None]
        of_cost = [(least, c) for c in self._certificates if (least := c.least_cost(most_value)) is not None]
        wanted = ([] if goal is ChoiceGoal.SPEED else [of_memory]) + ([] if goal is ChoiceGoal.SIZE else [of_cost])
        return tuple(dict.fromkeys(max(each, key=itemgetter(0))[1] for each in wanted if each))


def bare(problem: Problem, plan: Plan) -> Plan:
    """Return the plan with what is proven of its choice alone: certificates about all choices may not hold with other sizes."""
    if plan.choice is None or not plan.choice.certificates:
        return plan
    return of_its_choice_alone(places_argued_of(spell_out_constants(as_chosen(problem, plan)), plan.certificates), plan)
