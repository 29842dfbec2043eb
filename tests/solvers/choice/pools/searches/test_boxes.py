"""Boxes that CP-SAT answers at once become wider, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from solvers.choice.pools import budget
from solvers.choice.pools.prices.crowds import Crowd, Relaxed
from solvers.choice.pools.program.program import Costs, Heights, Program, Room, Row
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Answer, Question
from solvers.choice.pools.searches.boxes import CLOSE, NARROW, BoxSearch
from solvers.model.errors import StopReason
from solvers.model.solver import Limits, Silent

TOP = 1 << 20
ROOM = Room(capacity=TOP, reserved=(), spare=0, lowest=0)
PROGRAM = Program(
    homes=((0, 1),),
    rooms=(ROOM, ROOM),
    rows=(Row(0, 0, 0, ((0, TOP),)), Row(1, 0, 0, ((0, TOP),))),
    terms=(Costs(((0, 0),), (1, 1)),),
    apart=(),
)
BEST = 2 * TOP
WORK = 4_000


class Denying(Asking):
    """Says that no choice is in a box, for so much work, if the box is no wider than it can see; its linear programs prove nothing."""

    def __init__(self, takes: int, sees: int = TOP) -> None:
        super().__init__(Limits(), 0, Silent())
        self.widths = list[int]()
        self._takes, self.sees = takes, sees

    def relax_box(
        self, program: Program, heights: Heights, crowds: Sequence[Crowd], enough: int, work: int
    ) -> Relaxed | None:
        self.work += 1
        middle = tuple((low + high) // 2 for low, high in heights)
        return Relaxed(middle, (), (), (), 0.0, 1, (1.0, 1.0), ())

    def ask(self, program: Program, question: Question, work: int | None, then: object = None) -> Answer:
        width = max(high - low for low, high in question.heights)
        self.widths.append(width)
        self.work += self._takes
        return Answer(None, None, None, None if width <= self.sees else StopReason.WORK_LIMIT, self._takes)


def searched(asking: Denying) -> int:
    """What a search proves by what this one says."""
    return BoxSearch(PROGRAM, asking, Question(0), BEST, WORK).run(0)


def test_wide_boxes_are_settled_where_that_takes_hardly_anything() -> None:
    asking = Denying(budget.SOON_PER_ENTRY * PROGRAM.entries)
    assert searched(asking) == BEST
    assert len(asking.widths) < NARROW
    assert max(asking.widths) > 8 * BEST // NARROW


def test_boxes_are_as_narrow_as_ever_where_answers_take_work() -> None:
    asking = Denying(budget.SOON_PER_ENTRY * PROGRAM.entries + 1)
    assert searched(asking) < BEST  # which takes too long
    assert len(asking.widths) > NARROW
    assert max(asking.widths) <= max(BEST // NARROW, 2 * BEST // CLOSE)


def test_hardly_any_question_is_about_boxes_too_wide_to_be_answered() -> None:
    asking = Denying(1, sees=TOP // 16)
    searched(asking)
    too_wide = [width for width in asking.widths if width > asking.sees]
    assert 0 < len(too_wide) <= NARROW.bit_length()
    assert max(asking.widths) > BEST // NARROW
