"""A model written down as sums is the one that OR-Tools makes of expressions."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from solvers.exact.cpsat import engine
from solvers.exact.cpsat.sums import Sums
from solvers.model.solver import Silent
from tests.small.strategies import effort

ENTRIES = st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=6)


@effort(50, 2_000)
@given(ENTRIES, ENTRIES, ENTRIES, st.integers(-9, 9))
def test_sums_are_what_expressions_become(
    first: list[tuple[int, int]], second: list[tuple[int, int]], goal: list[tuple[int, int]], number: int
) -> None:
    sums, model = Sums(), engine.new_model()
    for _ in range(4):
        sums.variable(0, 1)
    sums.variable(2, 7)
    names = [*(model.new_bool_var("") for _ in range(4)), model.new_int_var(2, 7, "")]

    def expression(entries: list[tuple[int, int]]) -> Any:
        return engine.weighted_sum([names[each] for each, _ in entries], [weight for _, weight in entries])

    def is_a_sum(entries: list[tuple[int, int]]) -> bool:
        return any(sum(weight for each, weight in entries if each == name) for name in range(5))

    sums.exactly_one([0, 2])
    model.add_exactly_one([names[0], names[2]])
    if is_a_sum(first):
        sums.limit(first, high=number)
        model.add_linear_constraint(expression(first), -(1 << 63), number)
    if is_a_sum(second):
        sums.limit_if(-1 - 3, second, low=number)
        model.add_linear_constraint(expression(second), number, (1 << 63) - 1).only_enforce_if(names[3].negated())
    if is_a_sum(goal):
        sums.minimise(goal, number)
        model.minimize(expression(goal) + number)
    sums.hint([(1, 1), (4, 3)])
    model.add_hint(names[1], 1)
    model.add_hint(names[4], 3)
    assert str(sums.proto) == str(model.proto)
    assert sums.has_objective() == model.has_objective()
    assert not sums.validate()


def test_the_best_solution_is_part_of_the_reply() -> None:
    sums = Sums()
    first, second = sums.variable(0, 9), sums.variable(0, 9)
    sums.limit([(first, 2), (second, 3)], low=7)
    sums.minimise([(first, 1), (second, 1)], 5)
    reply = engine.solve(sums, engine.Budget(100_000, None), Silent())
    assert (reply.answer, reply.bound) == (engine.Answer.OPTIMAL, 8)
    assert sum(reply.values) == 3
    sums.limit([(first, 1), (second, 1)], high=2)
    assert engine.solve(sums, engine.Budget(100_000, None), Silent()).values == []


def test_questions_about_choices_are_answered_without_numpy() -> None:
    """Importing it takes longer than many an answer."""
    code = """if True:
        import sys
        from solvers.sandbox import fork_server
        from solvers.exact.cpsat import preload
        preload()
        from solvers.choice.pools.program.program import Costs, Program, Room, Row
        from solvers.choice.pools.questions.answering import Answering
        from solvers.choice.pools.questions.question import Question
        from solvers.model.solver import Silent
        homes, both = ((0, 1), (0, 1)), ((0, 4), (1, 3))
        rooms, row = (Room(5, (), 0, 0), Room(None, (), 0, 0)), Row(0, 0, 0, both)
        program = Program(homes, rooms, (row,), (Costs(((0, 4), (0, 3)), (0, 0)),), ())
        answering = Answering(None)
        limits = {"work": 100_000, "deadline": None, "seed": 0, "goes_on": False}
        asked = {"program": program, "question": Question(0)}
        print(answering.answer(asked | limits, Silent())["value"])
        asked = {"program": None, "question": None, "crowds": None, "held": (), "heights": (), "rounds": None}
        asked |= {"enough": float("inf")}
        print(answering.answer(asked | limits, Silent())["relaxed"] is not None)
        print("numpy" in sys.modules)
    """
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["3", "True", "False"]
