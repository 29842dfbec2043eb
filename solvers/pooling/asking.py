"""Asks about programs, and counts what that takes."""

from __future__ import annotations

from ..model.errors import StopReason
from ..model.solver import Control, Limits
from ..sandbox.conversation import Conversation
from .program import Program
from .question import NAME, Answer, Question, read_answer, write_question

WORK_PER_ENTRY = 2
"""What making a model takes for each number in it."""
WORK_PER_QUESTION = 5_000


class Asking:
    """To a process of its own, which knows the last program that it was asked about."""

    def __init__(self, limits: Limits, seed: int, control: Control) -> None:
        self.work = 0
        self.stop: StopReason | None = None
        """Why nothing can be asked any more: the clock, want of memory, or that it broke."""
        self._limits, self._seed = limits, seed
        self._talk = Conversation(
            NAME, "solvers.cpsat", "solvers.pooling.answering:Answering", None, limits.memory_bytes, control
        )
        self._known: Program | None = None

    def close(self) -> None:
        """Nothing more will be asked."""
        self._talk.close()

    def ask(self, program: Program, question: Question, work: int | None) -> Answer:
        """The answer, within so much work. Raises Unsupported, Unavailable and SolverFailed."""
        if self.stop is not None:
            return Answer(None, None, None, self.stop)
        self.work += WORK_PER_QUESTION + WORK_PER_ENTRY * program.entries
        asked = write_question(question, None if program is self._known else program)
        asked |= {"work": work, "deadline": self._limits.deadline, "seed": self._seed}
        reply = self._talk.ask(asked, self._limits.deadline)
        self._known = program
        if reply.fields is None:
            self.stop = reply.stop or StopReason.SOLVER_FAILED
            return Answer(None, None, None, self.stop)
        answer = read_answer(reply.fields, program)
        self.work += answer.work
        if answer.stopped not in (None, StopReason.WORK_LIMIT):
            self.stop = answer.stopped
        return answer
