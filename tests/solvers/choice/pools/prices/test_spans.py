"""Where many blocks are live at a time in large problems, spans of time are bounded one after the other, and blocks take the places of others."""

from __future__ import annotations

import numpy as np
import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.placing.at_prices import settled_below
from solvers.choice.pools.placing.displacing import displaced
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.prices import spans
from solvers.choice.pools.prices.crowds import Priced, prices_of
from solvers.choice.pools.prices.relaxation import bound_of
from solvers.choice.pools.prices.spans import Spans, relaxed_in_time
from solvers.choice.pools.program.program import Costs, Program, Room, Row
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.geometry.presolve import scaled, unit
from solvers.geometry.rules import violation
from solvers.model.instance import Instance
from solvers.model.objective import evaluate
from solvers.model.solver import Limits, Silent, Task

WORK = 4_000_000


def instance_of(kind: str, buffers: int, seed: int) -> Instance:
    problem = generate(kind, Request(buffers, seed, 1, {"live": 40}))
    instance = lower(with_preference(problem, Preference.SPEED)).instance
    return scaled(instance, unit(instance))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans so short that small problems have several."""
    monkeypatch.setattr(spans, "CLASSES", 60)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("kind", "seed"), [("pools", 1), ("pools", 2), ("hot", 3)])
def test_the_placement_is_valid_and_little_above_what_the_spans_prove(kind: str, seed: int) -> None:
    instance = instance_of(kind, 240, seed)
    program, task, number = program_of(instance), Task(Limits(work=WORK)), instance.class_number
    asking, packing = Asking(Limits(work=WORK), 0, Silent()), Packing(instance, task, Silent())
    try:
        starts = np.full(len(program.homes), instance.sections, dtype=np.int64)
        np.minimum.at(starts, number, packing.starts)
        relaxed = relaxed_in_time(program, starts, asking, WORK)
        whole = asking.relax(program, (), WORK)
    finally:
        asking.close()
    assert relaxed is not None
    assert whole is not None
    prices = Priced(program, prices_of(relaxed.of_rows, relaxed.of_crowds))
    start, _ = settled_below(instance, program, number, prices, relaxed.peaks)
    assert start is not None
    placement = displaced(instance, 0, packing, start, WORK // 4)
    assert placement is not None
    assert violation(instance, placement) is None
    bound, value = bound_of(program, relaxed), evaluate(instance, placement)[0]
    assert bound_of(program, whole) * 19 // 20 < bound <= value < bound * 11 // 10
    assert value < evaluate(instance, start)[0]


def test_a_span_has_the_first_rows_after_it_without_what_begins_later() -> None:
    rows = (Row(0, 0, 0, ((0, 3), (1, 2))), Row(0, 5, 0, ((1, 2), (2, 4))), Row(0, 9, 0, ((2, 4), (3, 1))))
    rooms = (Room(5, (), 0, 0), Room(None, (), 0, 0))
    program = Program(((0, 1),) * 4, rooms, rows, (Costs(((0, 7),) * 4, (0, 0)),), ())
    span = Spans(program, np.array([0, 0, 5, 9])).cut(0, 5)
    assert span.rows == (0, 1)
    assert span.classes == (0, 1)
    assert [row.members for row in span.program.rows] == [((0, 3), (1, 2)), ((1, 2),)]
