"""Boxes of heights prove what is so, and those that CP-SAT answers at once become wider, no others."""

from __future__ import annotations

from random import Random

import pytest

from solvers.choice.pools import budget
from solvers.choice.pools.prices.crowds import Priced, Relaxed, prices_of
from solvers.choice.pools.program.program import Costs, Heights, Program, Room, Row
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Answer, Question
from solvers.choice.pools.searches import boxes as boxes_of_heights
from solvers.choice.pools.searches.boxes import CLOSE, NARROW, BoxSearch
from solvers.model.errors import StopReason
from solvers.model.solver import Limits, Silent

from ..prices.test_crowds import choices, program_like

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

    def relax_box(self, program: Program, heights: Heights, *rest: object, **others: object) -> Relaxed:
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


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_boxes_find_and_prove_what_the_whole_program_does(kind: str) -> None:
    program = program_like(kind, 20, 7)
    limits = Limits(work=20_000_000)
    asking = Asking(limits, 0, Silent())
    try:
        whole = asking.ask(program, Question(0), 10_000_000)
        assert whole.stopped is None
        assert whole.value is not None
        boxes = BoxSearch(program, asking, Question(0), whole.value + 1, 10_000_000)
        assert boxes.run(0) == whole.value
        assert boxes.found[0].value == whole.value
        assert program.value(0, boxes.found[0].pools, boxes.found[0].tops) == whole.value
    finally:
        asking.close()


@pytest.mark.parametrize("kind", ["pools", "hot"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_boxes_prove_what_brute_force_finds(kind: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all of their linear programs go on from that of all heights."""
    monkeypatch.setattr(boxes_of_heights, "WIDE", 1 << 40)
    asking = Asking(Limits(work=200_000_000), 0, Silent())
    try:
        for seed in range(10):
            program = program_like(kind, 7, seed)
            values = sorted(program.value(0, *each) for each in choices(program))
            for best in (values[0], values[0] + 1, values[len(values) // 2]):
                boxes = BoxSearch(program, asking, Question(0), best, 1_000_000)
                relaxed = asking.relax(program, (), 1_000_000) if goes_on else None
                assert boxes.run(0, relaxed) == values[0], f"seed {seed}, {best} being known"
                assert best == values[0] or boxes.found[0].value == values[0]
            boxes = BoxSearch(program, asking, Question(0), values[-1], 20_000)
            assert boxes.run(0) <= values[0], f"seed {seed}, with little work"
    finally:
        asking.close()


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_boxes_prove_nothing_false_where_heights_are_weighed(kind: str) -> None:
    asking = Asking(Limits(work=200_000_000), 0, Silent())
    weighed = 0
    try:
        for seed in range(10):
            program = program_like(kind, 7, seed)
            least, *_, most = sorted(program.value(0, *each) for each in choices(program))
            for work in (2_000, 20_000, 1_000_000):
                boxes = BoxSearch(program, asking, Question(0), most + 1, work, weighs=True)
                bound = boxes.run(0)
                assert bound <= boxes.go_on(least, work) <= least, f"seed {seed}, {work} units"
                weighed += boxes.likely is not None
        assert weighed
    finally:
        asking.close()


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_linear_programs_that_go_on_bound_each_box(kind: str, asking: Asking) -> None:
    """That of all heights, and that of narrow boxes: at the prices of either, no choice in the box costs less, and mostly they prove what one of the box does."""
    chance, close = Random(1), 0
    for seed in range(6):
        program = program_like(kind, 7, seed)
        every = list(choices(program))
        assert asking.relax(program, (), 1_000_000) is not None
        for _ in range(8):
            _, around = chance.choice(every)
            highest = [max(program.highest(pool), top) for pool, top in enumerate(around)]
            box = tuple(
                (chance.randint(0, top), chance.randint(top, most)) for top, most in zip(around, highest, strict=True)
            )
            costs = [
                program.value(0, pools, tuple(map(max, tops, (low for low, _ in box))))
                for pools, tops in every
                if all(top <= high for top, (_, high) in zip(tops, box, strict=True))
            ]
            least, enough = min(costs), 1 << 60
            found = {
                "of the box": asking.relax_box(program, box, (), enough, 1_000_000),
                "of all": asking.relax_box(program, box, (), enough, 1_000_000, is_wide=True),
                "of narrow boxes": asking.relax_narrow(program, box, (), enough, 1_000_000),
            }
            bounds = {
                name: Priced(program, prices_of(relaxed.of_rows, relaxed.of_crowds), box).bound
                for name, relaxed in found.items()
                if relaxed is not None
            }
            assert all(bound <= least for bound in bounds.values()), (seed, box, bounds)
            close += min(bounds.values()) * 100 >= bounds["of the box"] * 98
    assert close >= 40


class Ignorant(Asking):
    """An Asking that finds out nothing about any box."""

    def relax_box(self, *asked: object, **others: object) -> None:
        self.work += 1

    def ask(self, program: Program, question: Question, work: int | None, then: object = None) -> Answer:
        self.work += 1
        return Answer(None, None, None, StopReason.WORK_LIMIT)


def test_unknown_boxes_prove_nothing() -> None:
    """Nothing is proven even if all boxes are cut into single points while work is left."""
    room = Room(capacity=4, reserved=(), spare=0, lowest=0)
    program = Program(((0, 1),), (room, room), (Row(0, 0, 0, ((0, 4),)),), (Costs(((1, 2),), (1, 0)),), ())
    asking = Ignorant(Limits(), 0, Silent())
    try:
        assert BoxSearch(program, asking, Question(0), 900, 10_000).run(1) == 1
        assert asking.work < 100
    finally:
        asking.close()
