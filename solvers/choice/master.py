"""The questions that forget addresses: the cheapest choice within a load, and the least load within a cost, with CP-SAT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..cpsat import engine
from ..model.errors import StopReason
from ..model.solver import Control, Limits
from .instance import Choice, Choices, Cut, Pick

WORK_PER_DETERMINISTIC_SECOND = 2_000_000
"""Of these models, which are small and mostly linear, CP-SAT counts more of what it does than of others."""
LIGHT_SHARE = 8
"""The least load within a cost is hard to prove; it gets this part of a question's work, and then is asked for otherwise."""
WORK_PER_TERM = 2
WORK_PER_QUESTION = 5_000
"""What building a model takes besides."""
WORKERS = 1
"""Constant, so that every machine gives the same answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The best choice that was found, and what is proven of all."""

    choice: Choice | None
    bound: int | None
    """No choice that was asked for is better. None: there is none at all."""
    stopped: StopReason | None

    @property
    def is_impossible(self) -> bool:
        return self.choice is None and self.bound is None and self.stopped is None


class Master:
    """Asks about one instance, with all that has been learned of it meanwhile."""

    def __init__(self, choices: Choices, limits: Limits, seed: int, control: Control, work_each: int | None) -> None:
        self.choices, self.cuts = choices, list[Cut]()
        self.left_aside: dict[Choice, int] = {}
        """Choices that are not asked for again, and the load that each has at least: bounds count them in."""
        self.work = 0
        self._limits, self._seed, self._control, self._work_each = limits, seed, control, work_each
        self._terms = sum(len(load.if_any) for load in choices.loads)

    def cheapest(self, most_load: int | None, near: Choice | None = None) -> Answer:
        """The choice that costs least within the load."""
        aside = [
            self.choices.cost(each) for each, load in self.left_aside.items() if most_load is None or load <= most_load
        ]
        return _counting_in(aside, self._ask(for_cost=True, most_load=most_load, most_cost=None, near=near))

    def lightest(self, most_cost: int | None, most_load: int | None = None, near: Choice | None = None) -> Answer:
        """The choice with the least load, within the cost."""
        aside = [
            load
            for each, load in self.left_aside.items()
            if (most_cost is None or self.choices.cost(each) <= most_cost) and (most_load is None or load <= most_load)
        ]
        return _counting_in(aside, self._ask(for_cost=False, most_load=most_load, most_cost=most_cost, near=near))

    def _ask(self, *, for_cost: bool, most_load: int | None, most_cost: int | None, near: Choice | None) -> Answer:
        self.work += WORK_PER_QUESTION + WORK_PER_TERM * self._terms
        choices, model = self.choices, engine.new_model()
        chosen = [[model.new_bool_var("") for _ in of_group] for of_group in choices.costs]
        for literals in chosen:
            model.add_exactly_one(literals)
        for (g, a), (h, b) in choices.requires:
            model.add_implication(chosen[g][a], chosen[h][b])
        for (g, a), (h, b) in choices.forbids:
            model.add_bool_or([chosen[g][a].negated(), chosen[h][b].negated()])
        flat = [literal for literals in chosen for literal in literals]
        cost = engine.weighted_sum(flat, [price for of_group in choices.costs for price in of_group])
        for each in self.left_aside:
            model.add_bool_or([chosen[g][a].negated() for g, a in enumerate(each)])
        if most_cost is not None:
            model.add(cost <= most_cost)
        load = self._load(model, chosen, most_load)
        if load is None:
            return Answer(None, None, None)
        model.minimize(cost if for_cost else load)
        if near is not None:
            for literals, alternative in zip(chosen, near, strict=True):
                for a, literal in enumerate(literals):
                    model.add_hint(literal, a == alternative)
        best: list[Choice] = []

        def on_solution(value: engine.ReadValue) -> None:
            best[:] = [tuple(next(a for a, literal in enumerate(group) if value(literal)) for group in chosen)]

        share = LIGHT_SHARE if most_cost is not None and not for_cost else 1
        reply = engine.solve(model, self._budget(share), self._control, on_solution)
        self.work += reply.work
        bound = reply.bound
        if reply.answer is engine.Answer.OPTIMAL and best:
            bound = choices.cost(best[0]) if for_cost else self.load(best[0])
        return Answer(best[0] if best else None, bound, reply.stopped)

    def load(self, choice: Choice) -> int:
        """What the choice is known to need at least."""
        of_cuts = [c.least for c in self.cuts if c.least is not None and all(choice[g] == a for g, a in c.picks)]
        return max([self.choices.load(choice), *of_cuts])

    def _load(self, model: Any, chosen: Sequence[Sequence[Any]], most: int | None) -> Any:
        """The load as a variable; None if nothing is as low."""
        loads = self.choices.loads
        greatest = max(
            [load.always + sum(size for size, _ in load.if_any) for load in loads]
            + [cut.least for cut in self.cuts if cut.least is not None],
            default=0,
        )
        least = max([load.always for load in loads], default=0)
        top = max(greatest, 0) if most is None else min(max(greatest, 0), most)
        if top < max(least, 0):
            return None
        level = model.new_int_var(max(least, 0), top, "")
        either: dict[tuple[Pick, ...], Any] = {}
        for load in loads:
            literals: list[Any] = []
            sizes: list[int] = []
            for size, picks in load.if_any:
                those = self._any_of(model, chosen, picks, either)
                literals += those
                sizes += [size] * len(those)
            if literals:
                model.add(engine.weighted_sum(literals, sizes) <= level - load.always)
        for cut in self.cuts:
            literals = [chosen[g][a] for g, a in cut.picks]
            if cut.least is None or cut.least > top:
                model.add_bool_or([literal.negated() for literal in literals])
            else:
                model.add(level >= cut.least).only_enforce_if(literals)
        return level

    @staticmethod
    def _any_of(
        model: Any, chosen: Sequence[Sequence[Any]], picks: tuple[Pick, ...], either: dict[tuple[Pick, ...], Any]
    ) -> list[Any]:
        """Literals that add up to 1 if one of them is chosen at least: of one group, their own."""
        if len({group for group, _ in picks}) == 1:
            return [chosen[g][a] for g, a in picks]
        if picks not in either:
            either[picks] = model.new_bool_var("")
            for g, a in picks:
                model.add_implication(chosen[g][a], either[picks])
        return [either[picks]]

    def _budget(self, share: int) -> engine.Budget:
        left = None if self._limits.work is None else max(self._limits.work - self.work, 0)
        each = None if self._work_each is None else self._work_each // share
        work = left if each is None else each if left is None else min(left, each)
        return engine.Budget(
            work=work,
            deadline=self._limits.deadline,
            seed=self._seed,
            workers=WORKERS,
            rate=WORK_PER_DETERMINISTIC_SECOND,
            is_linear=True,
        )


def _counting_in(aside: Sequence[int], answer: Answer) -> Answer:
    """The answer with a bound that holds for what was left aside, too."""
    known = [*aside, *([] if answer.bound is None else [answer.bound])]
    return replace(answer, bound=min(known, default=None))
