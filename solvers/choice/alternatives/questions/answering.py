"""Answers questions about choices with CP-SAT, in a child process (see solvers.sandbox): what all models have.

Importing this module imports nothing heavy; answering does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from ....exact.cpsat import engine
from ....model.solver import Control
from ..instance import Answer, Choice, Choices, Question
from .wire import write_answer

WORKERS = 1
"""Constant, so that every machine gives the same answer."""


class Answering(ABC):
    """Answers questions in a process of its own, each within its budget."""

    rate: ClassVar[int]
    """Work for each second that CP-SAT counts."""

    _chosen: list[list[Any]]
    """The literals of each group's alternatives."""
    _cost: Any
    _level: Any
    """The variable of the load (or value)."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._base: Any = None
        """The model that each question adds to a copy of."""

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """Answer in the child process."""
        budget = engine.Budget(
            question["work"],
            question["deadline"],
            question["seed"],
            WORKERS,
            rate=self.rate,
            relaxations=engine.Relaxations.ALL,
        )
        return write_answer(self.ask(question["question"], budget, control))

    @abstractmethod
    def ask(self, question: Question, budget: engine.Budget, control: Control) -> Answer:
        """The answer within the budget."""

    def _begin(self) -> Any:
        """A new model with the literals of the choice and its cost."""
        choices, model = self._choices, engine.new_model()
        self._base = model
        self._chosen = [[model.new_bool_var("") for _ in of_group] for of_group in choices.costs]
        for literals in self._chosen:
            model.add_exactly_one(literals)
        for (g, a), (h, b) in choices.requires:
            model.add_implication(self._chosen[g][a], self._chosen[h][b])
        for (g, a), (h, b) in choices.forbids:
            model.add_bool_or([self._chosen[g][a].negated(), self._chosen[h][b].negated()])
        flat = [literal for literals in self._chosen for literal in literals]
        self._cost = engine.weighted_sum(flat, [price for of_group in choices.costs for price in of_group])
        return model

    def _best(
        self, model: Any, question: Question, budget: engine.Budget, control: Control
    ) -> tuple[tuple[Choice, int] | None, engine.Reply]:
        """The best choice found with its cost or level, and how CP-SAT ended."""
        model.minimize(self._cost if question.for_cost else self._level)
        for literals, alternative in zip(self._chosen, question.near or (), strict=False):
            for a, literal in enumerate(literals):
                model.add_hint(literal, a == alternative)
        best: list[tuple[Choice, int]] = []

        def on_solution(value: engine.ReadValue) -> None:
            choice = tuple(next(a for a, literal in enumerate(group) if value(literal)) for group in self._chosen)
            best[:] = [(choice, self._choices.cost(choice) if question.for_cost else value(self._level))]

        reply = engine.solve(model, budget, control, on_solution)
        return (best[0] if best else None), reply
