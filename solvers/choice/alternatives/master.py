"""Asks the questions that ignore addresses, with all that has been learned about an instance so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ...model.errors import SolverFailed, StopReason, Unsupported
from ...model.solver import Control, Limits
from ...sandbox.conversation import Conversation, Reply
from .bounds.lines import Asked, Prices, read_prices
from .instance import Answer, Choice, Choices, Cut, Question
from .questions.wire import NAME, read_answer
from .together import Joint

SIDE_BY_SIDE = 2
"""Questions asked at a time, where possible."""
LIGHT_SHARE = 8
"""The least load within a cost is hard to prove: it gets 1/LIGHT_SHARE of a question's work, and then is asked for in another way."""
WORK_PER_TERM = 7
WORK_PER_QUESTION = 5_000
"""Work of asking itself."""


class Asking:
    """Asks one service, and counts the work that takes."""

    service: ClassVar[str]

    def __init__(
        self, choices: Choices, subject: object, limits: Limits, seed: int, control: Control, work_each: int | None
    ) -> None:
        self.choices = choices
        self.work = 0
        self.work_each = work_each
        """The work of each question."""
        self._limits, self._seed = limits, seed
        self._talks = [
            Conversation(NAME, "solvers.exact.cpsat", self.service, subject, limits.memory_bytes, control)
            for _ in range(min(limits.workers, SIDE_BY_SIDE))
        ]

    def close(self) -> None:
        """End the service."""
        for talk in self._talks:
            talk.close()

    def _ask(self, question: Question, work: int | None) -> Answer:
        return self._taken(self._talks[0].ask(self._words(question, work), self._limits.deadline))

    def _ask_both(self, one: Question, other: Question, work: int | None) -> tuple[Answer, Answer]:
        """Ask both, side by side if there are workers for it; the answers are the same."""
        first, second = self._replies(self._words(question, work) for question in (one, other))
        return self._taken(first), self._taken(second)

    def _replies(self, questions: Iterable[Mapping[str, object]]) -> list[Reply]:
        """The replies to as many questions as SIDE_BY_SIDE at most, side by side if there are workers for it."""
        asked = [*questions]
        if len(self._talks) < len(asked):
            return [self._talks[0].ask(question, self._limits.deadline) for question in asked]
        asking = [
            talk.asking(question, self._limits.deadline) for talk, question in zip(self._talks, asked, strict=False)
        ]
        replies: list[Reply | None] = [None] * len(asked)
        while None in replies:
            for k, reply in enumerate(replies):
                if reply is None:
                    replies[k] = next(asking[k])
        return [reply for reply in replies if reply is not None]

    def _words(self, question: Question, work: int | None) -> dict[str, object]:
        return {
            "question": question,
            "work": work,
            "deadline": self._limits.deadline,
            "seed": self._seed,
        }

    def _taken(self, reply: Reply) -> Answer:
        if reply.fields is None:
            return Answer(None, None, reply.stop or StopReason.SOLVER_FAILED)
        answer = read_answer(reply.fields, self.choices)
        self.work += answer.work
        return answer._replace(stopped=reply.reason(answer.stopped))


class Exact(Asking):
    """Asks about choices and addresses together: loads are values."""

    service = "solvers.choice.alternatives.together:Together"

    def __init__(self, joint: Joint, limits: Limits, seed: int, control: Control, work_each: int | None) -> None:
        super().__init__(joint.choices, joint, limits, seed, control, work_each)

    def ask(self, question: Question) -> Answer:
        """The answer; a problem that is too large for it counts as unanswered."""
        self.work += WORK_PER_QUESTION
        try:
            return self._ask(question, self.work_each)
        except Unsupported:
            return Answer(None, None, StopReason.WORK_LIMIT)


class Master(Asking):
    """Asks about one instance without addresses, with all that has been learned about it so far."""

    service = "solvers.choice.alternatives.questions.without_addresses:Questions"

    def __init__(self, choices: Choices, limits: Limits, seed: int, control: Control, work_each: int | None) -> None:
        super().__init__(choices, choices, limits, seed, control, work_each)
        self.cuts = list[Cut]()
        self.left_aside: dict[Choice, int] = {}
        """Choices that are not asked for again, with a lower bound on the load of each; bounds take them into account."""
        self._terms = sum(len(load.if_any) for load in choices.loads)
        self._known_loads: dict[Choice, int] = {}

    def cheapest(
        self,
        most_load: int | None,
        near: Choice | None = None,
        caps: Sequence[tuple[int, int]] = (),
        but: Choice | None = None,
    ) -> Answer:
        """The cheapest choice within the load, apart from `but`; with caps on loads the bound holds only within these.

        What was left aside is not counted in.
        """
        question = self._learned(Question(True, most_load, near=near, caps=tuple(caps)))
        aside = question.left_aside if but is None else (*question.left_aside, but)
        return self._question(replace(question, left_aside=aside))

    def cheapest_of_both(self, wanted: Sequence[tuple[int | None, Choice | None]]) -> tuple[Answer, Answer]:
        """The same for two loads, each with a choice to begin with."""
        one, other = (self._learned(Question(True, most_load, near=near)) for most_load, near in wanted)
        self._count(2)
        return self._ask_both(one, other, self._budget(1))

    def with_aside(self, most_load: int | None, answer: Answer) -> Answer:
        """The answer with its bound extended to choices that were set aside."""
        aside = [
            self.choices.cost(each) for each, load in self.left_aside.items() if most_load is None or load <= most_load
        ]
        return _counting_in(aside, answer)

    def lightest(self, most_cost: int | None, most_load: int | None = None, near: Choice | None = None) -> Answer:
        """The choice with the least load within the cost."""
        aside = [
            load
            for each, load in self.left_aside.items()
            if (most_cost is None or self.choices.cost(each) <= most_cost) and (most_load is None or load <= most_load)
        ]
        return _counting_in(aside, self._question(self._learned(Question(False, most_load, most_cost, near=near))))

    def prices(self, asked: Asked, work: int) -> Prices | None:
        """Prices that prove much of the least value within a cost, or the least cost within a value; None if none were found."""
        question = {"prices": asked, "work": work, "deadline": self._limits.deadline, "seed": self._seed}
        self.work += WORK_PER_QUESTION
        reply = self._talks[0].ask(question, self._limits.deadline)
        if reply.fields is None:
            return None
        spent = reply.fields.get("work")
        if type(spent) is not int or spent < 0:
            raise SolverFailed(NAME, "its answer is not a number")
        self.work += spent
        return read_prices(reply.fields.get("prices"), self.choices, NAME)

    def know(self, cut: Cut) -> None:
        """Learn a cut; it holds for choices that were set aside, too."""
        self.cuts.append(cut)
        for each, load in self.left_aside.items():
            if cut.least is not None and cut.holds_for(each):
                self.left_aside[each] = max(load, cut.least)

    def load(self, choice: Choice) -> int:
        """A lower bound on what the choice needs."""
        of_cuts = [cut.least for cut in self.cuts if cut.least is not None and cut.holds_for(choice)]
        return max([self._load(choice), *of_cuts])

    def _load(self, choice: Choice) -> int:
        if choice not in self._known_loads:
            if self.choices.memories is None and not self.choices.rows:
                load = self.choices.load(choice)
            else:
                load = self._question(Question(False, fixed=choice)).bound or 0
            self._known_loads[choice] = load
        return self._known_loads[choice]

    def _learned(self, question: Question) -> Question:
        return replace(question, cuts=tuple(self.cuts), left_aside=tuple(self.left_aside))

    def _count(self, questions: int) -> None:
        self.work += questions * (WORK_PER_QUESTION + WORK_PER_TERM * self._terms)

    def _question(self, question: Question) -> Answer:
        self._count(1)
        share = LIGHT_SHARE if question.most_cost is not None and not question.for_cost else 1
        return self._ask(question, self._budget(share))

    @property
    def work_in_all(self) -> int | None:
        """All work that is allowed; None without limit."""
        return self._limits.work

    @property
    def work_left(self) -> int | None:
        """The work left for everything; None without limit."""
        return None if self._limits.work is None else max(self._limits.work - self.work, 0)

    def _budget(self, share: int) -> int | None:
        left = self.work_left
        each = None if self.work_each is None else self.work_each // share
        return left if each is None else each if left is None else min(left, each)


def _counting_in(aside: Sequence[int], answer: Answer) -> Answer:
    """The answer with its bound extended to what was set aside."""
    if answer.bound is None and answer.stopped is not None:
        return answer
    known = [*aside, *([] if answer.bound is None else [answer.bound])]
    return answer._replace(bound=min(known, default=None))
