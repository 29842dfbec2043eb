"""Who asks the questions that forget addresses, with all that has been learned of an instance meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..model.errors import StopReason
from ..model.solver import Control, Limits
from ..sandbox.conversation import Conversation
from .instance import Answer, Choice, Choices, Cut, Question
from .wire import NAME, read_answer, write_question

LIGHT_SHARE = 8
"""The least load within a cost is hard to prove; it gets this part of a question's work, and then is asked for otherwise."""
WORK_PER_TERM = 5
WORK_PER_QUESTION = 20_000
"""What asking takes besides."""


class Master:
    """Asks about one instance."""

    def __init__(self, choices: Choices, limits: Limits, seed: int, control: Control, work_each: int | None) -> None:
        self.choices, self.cuts = choices, list[Cut]()
        self.left_aside: dict[Choice, int] = {}
        """Choices that are not asked for again, and the load that each has at least: bounds count them in."""
        self.work = 0
        self._limits, self._seed, self._work_each = limits, seed, work_each
        self._terms = sum(len(load.if_any) for load in choices.loads)
        self._talk = Conversation(
            NAME, "solvers.cpsat", "solvers.choice.questions:Questions", choices, limits.memory_bytes, control
        )
        self._known_loads: dict[Choice, int] = {}

    def close(self) -> None:
        """Nothing more will be asked."""
        self._talk.close()

    def cheapest(
        self, most_load: int | None, near: Choice | None = None, caps: Sequence[tuple[int, int]] = ()
    ) -> Answer:
        """The choice that costs least within the load; where there are caps, of loads, the bound holds within these alone."""
        aside = [
            self.choices.cost(each) for each, load in self.left_aside.items() if most_load is None or load <= most_load
        ]
        return _counting_in(aside, self._ask(Question(True, most_load, near=near, caps=tuple(caps))))

    def lightest(self, most_cost: int | None, most_load: int | None = None, near: Choice | None = None) -> Answer:
        """The choice with the least load, within the cost."""
        aside = [
            load
            for each, load in self.left_aside.items()
            if (most_cost is None or self.choices.cost(each) <= most_cost) and (most_load is None or load <= most_load)
        ]
        return _counting_in(aside, self._ask(Question(False, most_load, most_cost, near=near)))

    def load(self, choice: Choice) -> int:
        """What the choice is known to need at least."""
        of_cuts = [c.least for c in self.cuts if c.least is not None and all(choice[g] == a for g, a in c.picks)]
        return max([self._load(choice), *of_cuts])

    def _load(self, choice: Choice) -> int:
        if self.choices.memories is None:
            return self.choices.load(choice)
        if choice not in self._known_loads:
            self._known_loads[choice] = self._ask(Question(False, fixed=choice), learned=False).bound or 0
        return self._known_loads[choice]

    def _ask(self, question: Question, *, learned: bool = True) -> Answer:
        self.work += WORK_PER_QUESTION + WORK_PER_TERM * self._terms
        if learned:
            question = replace(question, cuts=tuple(self.cuts), left_aside=tuple(self.left_aside))
        share = LIGHT_SHARE if question.most_cost is not None and not question.for_cost else 1
        asked = {
            "question": write_question(question),
            "work": self._budget(share),
            "deadline": self._limits.deadline,
            "seed": self._seed,
        }
        reply = self._talk.ask(asked, self._limits.deadline)
        if reply.fields is None:
            return Answer(None, None, reply.stop or StopReason.SOLVER_FAILED)
        answer = read_answer(reply.fields, self.choices)
        self.work += answer.work
        return answer

    def _budget(self, share: int) -> int | None:
        left = None if self._limits.work is None else max(self._limits.work - self.work, 0)
        each = None if self._work_each is None else self._work_each // share
        return left if each is None else each if left is None else min(left, each)


def _counting_in(aside: Sequence[int], answer: Answer) -> Answer:
    """The answer with a bound that holds for what was left aside, too."""
    if answer.bound is None and answer.stopped is not None:
        return answer
    known = [*aside, *([] if answer.bound is None else [answer.bound])]
    return answer._replace(bound=min(known, default=None))
