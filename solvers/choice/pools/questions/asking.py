"""Asks questions about programs, and counts the work they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....model.errors import StopReason
from ....model.solver import Control, Limits
from ....sandbox.conversation import Conversation, Reply
from .. import budget
from ..prices.crowds import Crowd, Relaxed
from ..program.program import Heights, Program
from .question import NAME, Answer, Question, read_answer, read_relaxed, written


class Asking:
    """Asks a process of its own, which remembers the last program it was asked about."""

    def __init__(self, limits: Limits, seed: int, control: Control) -> None:
        self.work = 0
        self.stop: StopReason | None = None
        """Why no more questions are possible: the clock, lack of memory, or a crash."""
        self._limits, self._seed = limits, seed
        self._talk = Conversation(
            NAME,
            "solvers.exact.cpsat",
            "solvers.choice.pools.questions.answering:Answering",
            None,
            limits.memory_bytes,
            control,
        )
        self._known: Program | None = None
        self._relaxed: tuple[Program, tuple[int, ...]] | None = None
        """The program and held terms of the linear program it has: it goes on from its last solution, and knows its covers."""

    def close(self) -> None:
        """End the process."""
        self._talk.close()

    def is_over(self, end: int) -> bool:
        """True if all work up to this end is used up, or no more questions are possible."""
        return self.work >= end or self.stop is not None

    def ask(self, program: Program, question: Question, work: int | None) -> Answer:
        """The answer within this much work. Raises Unsupported, Unavailable and SolverFailed."""
        if self.stop is not None:
            return Answer(None, None, None, self.stop)
        least = budget.LEAST_PER_ENTRY_WITH_PEAKS if question.weighs_peaks(program) else budget.LEAST_PER_ENTRY
        if work is not None and work < least * program.entries:
            self.work += budget.A_QUESTION  # so that a caller who keeps asking comes to an end
            return Answer(None, None, None, StopReason.WORK_LIMIT)
        goes_on = self._has_covers_of(program)
        reply = self._said(program, {"question": written(question), "work": work, "goes_on": goes_on})
        if reply.fields is None:
            return Answer(None, None, None, self.stop)
        answer = read_answer(reply.fields, program)
        self.work += answer.work
        if answer.stopped not in (None, StopReason.WORK_LIMIT):
            self.stop = reply.reason(answer.stopped)
        return answer._replace(stopped=reply.reason(answer.stopped))

    def relax(self, program: Program, held: tuple[int, ...], work: int, rounds: int | None = None) -> Relaxed | None:
        """Solve the linear program of the term after those held within this much work and this many rounds; None if it was not solved."""
        request = {"question": None, "held": held, "heights": (), "work": work, "rounds": rounds}
        is_known = self._relaxed is not None and self._relaxed[0] is program and self._relaxed[1] == held
        fields = self._said(None if is_known else program, request | {"goes_on": self._has_covers_of(program)}).fields
        self._relaxed = program, held
        if fields is None:
            return None
        relaxed, spent = read_relaxed(fields, program, len(held))
        self.work += spent
        return relaxed

    def relax_box(
        self, program: Program, heights: Heights, crowds: Sequence[Crowd], enough: int, work: int
    ) -> Relaxed | None:
        """The same of the first term with pools of these heights; `crowds` are likely to bind, and a cost from `enough` on needs no further ones."""
        request = {"question": None, "heights": heights, "crowds": crowds, "enough": enough, "work": work}
        fields = self._said(None if self._known is program else program, request).fields
        if fields is None:
            return None
        relaxed, spent = read_relaxed(fields, program, 0)
        self.work += spent
        return relaxed

    def _has_covers_of(self, program: Program) -> bool:
        return self._relaxed is not None and self._relaxed[0] is program

    def _said(self, program: Program | None, request: dict[str, Any]) -> Reply:
        """The process's reply about a program, or (None) about its linear program; without an answer it has ended for good."""
        if self.stop is not None:
            return Reply(None, self.stop)
        self.work += budget.A_QUESTION + (0 if program is None else budget.MODEL_PER_ENTRY * program.entries)
        request |= {
            "program": None if program is None or program is self._known else written(program),
            "deadline": self._limits.deadline,
            "seed": self._seed,
        }
        reply = self._talk.ask(request, self._limits.deadline)
        self._known = program or self._known
        if reply.fields is None:
            self.stop = reply.stop or StopReason.SOLVER_FAILED
        return reply
