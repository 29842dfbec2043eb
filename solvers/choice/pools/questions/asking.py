"""Asks questions about programs, and counts the work they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeAlias

from ....model.errors import StopReason
from ....model.solver import Control, Limits
from ....sandbox.conversation import Reply
from .. import budget
from ..prices.alike import entries_as_one
from ..prices.crowds import Crowd, Relaxed
from ..prices.relaxation import MOST_ENTRIES, Charged
from ..program.program import Heights, Program, Section
from .lines import Line, LinearProgram
from .question import Answer, Question, read_answer, read_bound, read_heights, read_relaxed

MOST_LINES = 2
"""One answers, and one works ahead."""


class Wish(NamedTuple):
    """A question, and the work it may take."""

    program: Program
    question: Question
    work: int | None

    @property
    def is_too_little(self) -> bool:
        """Would CP-SAT use more before it begins to search?"""
        least = budget.LEAST_PER_ENTRY
        if self.question.weighs_peaks(self.program):
            least = budget.LEAST_PER_ENTRY_WITH_PEAKS
        return self.work is not None and self.work < least * self.program.entries


class ByHeights(NamedTuple):
    """What bounds a second term where the first holds the sum of the heights."""

    bound: int
    first: Relaxed | None
    last: Relaxed | None
    """The linear program of all heights, without crowds, and with them."""
    divisions: list[tuple[tuple[int, ...], Relaxed]]
    """Heights below which choices cost least, as far as is known, and their linear programs; the best first."""

    @property
    def relaxed(self) -> Relaxed | None:
        """The linear program of the best division, or else of all heights."""
        return self.divisions[0][1] if self.divisions else self.first


Next: TypeAlias = Callable[[], Wish | None]
"""What will be asked next, if the present answer changes nothing."""


class Asking:
    """Asks a process of its own, which remembers the last program it was asked about.

    With several workers a second process works ahead: at what will be asked next if nothing changes until then. An answer depends on the question and its
    work alone, and on the linear programs before; so it is the same as without, and counts once it is asked for.
    """

    def __init__(self, limits: Limits, seed: int, control: Control) -> None:
        self.work = 0
        self.stop: StopReason | None = None
        """Why no more questions are possible: the clock, lack of memory, or a crash."""
        self.fault: str | None = None
        """What of that the user should read."""
        self.left: Callable[[], int | None] = lambda: None
        """The work that all steps together have left; None: any."""
        self._limits, self._seed, self._control = limits, seed, control
        self._lines = [Line(limits, control)]
        self._joined: tuple[Program, int] | None = None
        """The last program whose pools were compared, and the numbers in it with those that are alike as one."""
        self._known: Program | None = None
        """The program that was asked about last."""
        self._divided: Line | None = None
        """Which knows the last tree of divisions;"""
        self._narrowed: Line | None = None
        """and the linear program of narrow boxes."""
        self._solved: list[LinearProgram] = []
        """The linear programs so far. One goes on from the last one's solution, and knows all covers found for its program."""
        self._ahead: tuple[Wish, Future[Reply]] | None = None
        """A question that is answered before it is asked."""
        self._solved_ahead: list[tuple[LinearProgram, Future[Reply]]] = []
        """Linear programs, the same."""

    def close(self) -> None:
        """End the processes, and forget who asks: each would keep the other, until garbage is collected."""
        for line in self._lines:
            line.close()
        self.left = lambda: None

    def is_over(self, end: int) -> bool:
        """True if all work up to this end is used up, or no more questions are possible."""
        return self.work >= end or self.stop is not None

    def ask(self, program: Program, question: Question, work: int | None, then: Next = lambda: None) -> Answer:
        """The answer within this much work. Raises Unsupported, Unavailable and SolverFailed."""
        if self.stop is not None:
            return Answer(None, None, None, self.stop)
        wish = Wish(program, question, self._rest(work, program))
        if wish.is_too_little:
            self.work += budget.REFUSED
            return Answer(None, None, None, StopReason.WORK_LIMIT)
        self._charge(program)
        has_covers = self._has_covers_of(program)
        begun = self._begun_ahead(wish)
        if begun is None and self._limits.workers == 1:
            reply = self._lines[0].said(program, self._written(wish, has_covers=has_covers))
        else:
            if begun is None:
                line = self._line_with_covers() if has_covers else self._free_line() or self._lines[0]
                begun = line.begin(program, self._written(wish, has_covers=has_covers))
            self._begin_ahead(then())
            reply = begun.result()
        if self._is_missing(reply):
            return Answer(None, None, None, self.stop)
        assert reply.fields is not None
        answer = read_answer(reply.fields, program)
        self.work += answer.work
        if answer.stopped not in (None, StopReason.WORK_LIMIT):
            self.stop = reply.reason(answer.stopped)
        return answer._replace(stopped=reply.reason(answer.stopped))

    def relax(self, program: Program, held: tuple[int, ...], work: int, rounds: int | None = None) -> Relaxed | None:
        """Solve the linear program of the term after those held within this much work and this many rounds; None if it was not solved."""
        return self._solution(LinearProgram(program, held, rounds, work))

    def _solution(self, wish: LinearProgram) -> Relaxed | None:
        """The solution that is wished for, going on from the last linear program's if that is the same; None if it was not solved."""
        program = wish.program
        is_known = bool(self._solved) and wish.goes_on_from(self._solved[-1])
        if self.stop is not None or not self._charge_relaxing(program, is_known=is_known):
            return None
        reply = self._reply_ahead(wish) or self._relaxed(self._line_with_covers(), wish)
        if self._is_missing(reply):
            return None
        assert reply.fields is not None
        relaxed, spent = read_relaxed(reply.fields, program, len(wish.held))
        self.work += spent
        return relaxed

    def foresee_relaxed(self, program: Program, held: tuple[int, ...], work: int) -> None:
        """If there is a worker for it, solve this linear program ahead: the first of all, or the next after others that are. No more work may be granted."""
        if self._limits.workers == 1 or self._solved or self.stop is not None:
            return
        ahead = [wish for wish, _ in self._solved_ahead]
        line = self._free_line() if not ahead else next((each for each in self._lines if each.solved == ahead), None)
        if line is not None:
            line.solved = ahead
            wish = LinearProgram(program, held, None, work)
            self._solved_ahead.append((wish, line.begin(program, self._relaxing(line, wish))))

    def relax_at_once(
        self, program: Program, held: tuple[int, ...], crowds: Sequence[Crowd], work: int
    ) -> Relaxed | None:
        """The linear program of the term after those held, with these crowds and no others; None if it was not solved."""
        request = {"heights": (), "held": held, "rounds": 1, "enough": math.inf}
        return self._relaxed_with(program, crowds, request | {"work": work}, len(held), is_due=True)

    def relax_charged(
        self, program: Program, charged: Charged, crowds: Sequence[Crowd], rounds: int, work: int
    ) -> Relaxed | None:
        """The linear program of the first term with these charges beside it; `crowds` are likely to bind."""
        request = {"heights": (), "held": (), "rounds": rounds, "enough": math.inf, "charged": charged}
        return self._relaxed_with(program, crowds, request | {"work": work}, 0)

    def can_restrict(self, program: Program) -> bool:
        """Is this the last linear program that was solved, exactly and with no pools as one?"""
        is_last = self._has_covers_of(program) and not self._solved[-1].held
        return is_last and self.joined(program) == program.entries <= MOST_ENTRIES

    def relax_box(
        self,
        program: Program,
        heights: Heights,
        crowds: Sequence[Crowd],
        enough: int,
        work: int,
        *,
        is_wide: bool = False,
    ) -> Relaxed | None:
        """The linear program of the first term with pools of these heights; `crowds` are likely to bind, and a cost from `enough` on needs no further ones.

        Where it `is_wide`, it goes on from that of all heights, if that is the last one that was solved: it has the same levels then, and comes far sooner.
        """
        if is_wide and self.can_restrict(program):
            return self._solution(LinearProgram(program, (), None, work, heights, enough))
        request = {"heights": heights, "held": (), "rounds": None, "enough": enough}
        return self._relaxed_with(program, crowds, request | {"work": work}, 0)

    def relax_narrow(
        self, program: Program, heights: Heights, crowds: Sequence[Crowd], enough: int, work: int
    ) -> Relaxed | None:
        """The same in a narrow box, where lines do for levels: it goes on from the last narrow one."""
        if self.stop is not None or not self._charge_relaxing(program, is_known=self._known is program):
            return None
        self._narrowed = self._narrowed or self._free_line() or self._lines[0]
        request = {"question": None, "crowds": crowds, "narrow": heights, "enough": enough, "work": work}
        return self._relaxed_by(self._narrowed, program, request, 0)

    def bound_by_heights(
        self, program: Program, held: tuple[int, ...], full: Section, known: tuple[int, int], work: int
    ) -> ByHeights | None:
        """A lower bound of the second term, division by division of the fullest section, and what was solved for it; None if there is no answer.

        The first term holds the sum of the heights; `full` is the fullest section. `known` are a bound and the best value.
        """
        if self.stop is not None or not self._charge_relaxing(program, is_known=self._known is program):
            return None
        request = {"question": None, "crowds": None, "full": full, "held": held, "known": known}
        line = self._free_line() or self._lines[0]
        reply = self._said(line, program, request | {"work": work} | self._usual)
        if self._is_missing(reply):
            return None
        assert reply.fields is not None
        bound, spent = read_bound(reply.fields, known[1])
        first, _ = read_relaxed(reply.fields["first"], program, len(held))
        last, _ = read_relaxed(reply.fields["last"], program, len(held))
        divisions = []
        for heights, fields in reply.fields["divisions"]:
            relaxed, _ = read_relaxed(fields, program, len(held))
            if relaxed is not None:
                divisions.append((tuple(map(int, heights)), relaxed))
        self.work += spent
        self._divided = line
        return ByHeights(bound, first, last, divisions)

    def heights_below(self, program: Program, value: int, work: int) -> Heights:
        """The heights, a range for each pool, that the last such bound leaves for what costs less than this value; none if they are not known."""
        if self.stop is not None or self._divided is None:
            return ()
        self.work += budget.REFUSED
        request = {"question": None, "below": value, "work": work}
        reply = self._said(self._divided, program, request | self._usual)
        if self._is_missing(reply):
            return ()
        assert reply.fields is not None
        heights, spent = read_heights(reply.fields, program)
        self.work += spent
        return heights

    def _relaxed_with(
        self, program: Program, crowds: Sequence[Crowd], request: dict[str, Any], held: int, *, is_due: bool = False
    ) -> Relaxed | None:
        is_known = self._known is program
        if self.stop is not None or not self._charge_relaxing(program, is_known=is_known, is_due=is_due):
            return None
        line = self._free_line() or self._lines[0]
        return self._relaxed_by(line, program, {"question": None, "crowds": crowds} | request, held)

    def _relaxed_by(self, line: Line, program: Program, request: dict[str, Any], held: int) -> Relaxed | None:
        reply = self._said(line, program, request | self._usual)
        if self._is_missing(reply):
            return None
        assert reply.fields is not None
        relaxed, spent = read_relaxed(reply.fields, program, held)
        self.work += spent
        return relaxed

    def _has_covers_of(self, program: Program) -> bool:
        return bool(self._solved) and self._solved[-1].program is program

    @property
    def _usual(self) -> dict[str, Any]:
        return {"deadline": self._limits.deadline, "seed": self._seed}

    def _written(self, wish: Wish, *, has_covers: bool) -> dict[str, Any]:
        return {"question": wish.question, "work": wish.work, "goes_on": has_covers} | self._usual

    def _rest(self, work: int | None, program: Program) -> int | None:
        """What is left for a question once its model is made."""
        left = self.left()
        if left is None:
            return work
        rest = max(left - budget.A_QUESTION - budget.MODEL_PER_ENTRY * program.entries, 1)
        return rest if work is None else min(work, rest)

    def _charge(self, program: Program) -> None:
        self.work += budget.A_QUESTION + budget.MODEL_PER_ENTRY * program.entries
        self._known = program

    def joined(self, program: Program) -> int:
        """The numbers in the program for its linear program, in which pools that are alike are one."""
        if self._joined is None or self._joined[0] is not program:
            self._joined = program, entries_as_one(program)
        return self._joined[1]

    def _charge_relaxing(self, program: Program, *, is_known: bool, is_due: bool = False) -> bool:
        """The same for a linear program: pools that are alike are compared and sent, and all else is done with one of them.

        False if too little is left to write it, unless it `is_due`.
        """
        joined, sent = self.joined(program), 0
        if not is_known:
            sent = budget.MODEL_PER_ENTRY * joined + (program.entries - joined) // budget.COMPARED_ALIKE_A_UNIT
        left = None if is_due else self.left()
        if left is not None and left < budget.A_QUESTION + sent + budget.RELAXATION_PER_ENTRY * joined:
            self.work += budget.REFUSED
            return False
        self.work += budget.A_QUESTION + sent
        self._known = program
        return True

    def _is_missing(self, reply: Reply) -> bool:
        """Is there no answer? Then the process has ended for good."""
        if reply.fields is None:
            self.stop, self.fault = reply.stop or StopReason.SOLVER_FAILED, reply.fault
        return reply.fields is None

    def _said(self, line: Line, program: Program, request: dict[str, Any]) -> Reply:
        if self._limits.workers == 1:
            return line.said(program, request)
        return line.begin(program, request).result()

    def _free_line(self) -> Line | None:
        """A line that is idle; with several workers a new one, if need be."""
        self._lines = [line for line in self._lines if not (line.is_idle and line.has_failed)]
        idle = next((line for line in self._lines if line.is_idle), None)
        if idle is None and len(self._lines) < min(MOST_LINES, self._limits.workers):
            idle = Line(self._limits, self._control)
            self._lines.append(idle)
        return idle

    def _begin_ahead(self, wish: Wish | None) -> None:
        """Answer this ahead, if it can be and a line is idle."""
        if wish is None or wish.is_too_little or self._has_covers_of(wish.program):
            return
        if self._ahead is not None and self._ahead[0] == wish:
            return
        line = self._free_line()
        if line is not None:
            self._ahead = wish, line.begin(wish.program, self._written(wish, has_covers=False))

    def _begun_ahead(self, wish: Wish) -> Future[Reply] | None:
        """What was begun ahead, if it is this."""
        if self._ahead is None or self._ahead[0] != wish or self._has_covers_of(wish.program):
            return None
        (_, begun), self._ahead = self._ahead, None
        return begun

    def _line_with_covers(self) -> Line:
        """A line that has solved just the linear programs so far."""
        knowing = [line for line in self._lines if line.solved == self._solved and not line.has_failed]
        if knowing:
            return next((line for line in knowing if line.is_idle), knowing[0])
        line = self._free_line() or self._lines[0]
        line.solved, again, self._solved = [], self._solved, []
        for wish in again:
            self._relaxed(line, wish)
        return line

    def _relaxed(self, line: Line, wish: LinearProgram) -> Reply:
        reply = self._said(line, wish.program, self._relaxing(line, wish))
        self._solved.append(wish)
        return reply

    def _relaxing(self, line: Line, wish: LinearProgram) -> dict[str, Any]:
        """What to say to the line, which then goes on from what it has solved."""
        goes_on = bool(line.solved) and line.solved[-1].program is wish.program
        request = {"question": None, "crowds": None, "held": wish.held, "work": wish.work, "rounds": wish.rounds}
        line.solved = [*line.solved, wish]
        return request | self._usual | {"heights": wish.heights, "enough": wish.enough, "goes_on": goes_on}

    def _reply_ahead(self, wish: LinearProgram) -> Reply | None:
        """The solution worked out ahead, if this is the next one."""
        if self._solved_ahead and wish.is_met_by(self._solved_ahead[0][0]):
            ahead, begun = self._solved_ahead[0]
            reply = begun.result()
            if reply.fields is not None and wish.is_met_by(ahead, is_cut=bool(reply.fields["is_cut"])):
                self._solved_ahead.pop(0)
                self._solved.append(ahead)
                return reply
        self._solved_ahead.clear()
        return None
