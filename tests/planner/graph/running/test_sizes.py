"""What a run uses is counted: short programs that use tensors very often end in an error of their size, soon, whatever makes them use so many."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from planner import BadInput
from planner.graph import Function, GraphOptions, Operator, OperatorKind, Program, Tensor, TensorKind, program_problem
from planner.graph.checks.soundness import require_sound_program
from planner.graph.running import sizes
from planner.model.errors import Code
from planner.model.problem import Pool

FEW = 2000
"""Uses that are allowed here."""
CALL, COMPUTE, VIEW = OperatorKind.CALL, OperatorKind.COMPUTE, OperatorKind.VIEW
X, Y = Tensor("x", (4,), kind=TensorKind.INPUT), Tensor("y", (4,))


def caller(name: str, callee: str, times: int, given: int = 1) -> Function:
    """Return a function that runs another so often, handing over its input so many times."""
    made = tuple(Tensor(f"t{i}", (4,)) for i in range(times))
    calls = tuple(Operator(CALL, ("x",) * given, (each.id,), functions=(callee,)) for each in made)
    last = Operator(COMPUTE, (made[-1].id,), ("y",))
    return Function(name, (X, Y, *made), (*calls, last), ("x",), ("y",))


def leaf(*operators: Operator, more: tuple[Tensor, ...] = ()) -> Function:
    return Function("leaf", (X, Y, *more), operators, ("x",), ("y",))


def one_that_reads_much() -> Program:
    return Program((leaf(Operator(COMPUTE, ("x",) * 60, ("y",))), caller("main", "leaf", 100)), ("main",))


def one_that_is_handed_much() -> Program:
    names = tuple(f"x{i}" for i in range(60))
    given = tuple(Tensor(name, (4,), kind=TensorKind.INPUT) for name in names)
    many = Function("leaf", (*given, Y), (Operator(COMPUTE, (), ("y",)),), names, ("y",))
    return Program((many, caller("inner", "leaf", 2, 60), caller("main", "inner", 100)), ("main",))


def long_chains_of_views() -> Program:
    """Each view of what is handed over keeps all before it needed."""
    names = ["x", *(f"v{i}" for i in range(60))]
    views = tuple(Operator(VIEW, (a,), (b,)) for a, b in pairwise(names))
    many = leaf(*views, Operator(COMPUTE, (names[-1],), ("y",)), more=tuple(Tensor(name, (4,)) for name in names[1:]))
    return Program((many, caller("main", "leaf", 2)), ("main",))


def many_names_of_one_state() -> Program:
    names = tuple(f"s{i}" for i in range(60))
    given = tuple(Tensor(name, (4,), kind=TensorKind.MUTABLE) for name in names)
    many = Function("leaf", given, tuple(Operator(COMPUTE, (), (name,)) for name in names), names)
    calls = (Operator(CALL, ("s",) * 60, (), functions=("leaf",)),) * 2
    state = Tensor("s", (4,), kind=TensorKind.MUTABLE)
    return Program((many, Function("main", (state,), calls, ("s",))), ("main",))


@pytest.mark.parametrize(
    "make", [one_that_reads_much, one_that_is_handed_much, long_chains_of_views, many_names_of_one_state]
)
def test_short_programs_that_use_very_much_are_refused(
    make: Callable[[], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = make()
    require_sound_program(program)
    monkeypatch.setattr(sizes, "MANY_USES", FEW)
    monkeypatch.setattr(sizes, "LOOK_EVERY", 100)
    with pytest.raises(BadInput, match="a run uses tensors more than") as caught:
        program_problem(program, (Pool("m"),), GraphOptions())
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == (Code.TOO_LARGE, "/functions")
    monkeypatch.undo()
    assert program_problem(program, (Pool("m"),), GraphOptions()).problem.buffers


def test_a_program_may_use_as_much_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MANY_USES", 10)
    made = tuple(Tensor(f"t{i}", (4,)) for i in range(FEW))
    operators = tuple(Operator(COMPUTE, ("x", "x"), (each.id,)) for each in made)
    program = Program((Function("main", (X, *made), operators, ("x",), (made[-1].id,)),), ("main",))
    assert len(program_problem(program, (Pool("m"),), GraphOptions()).problem.buffers) == FEW + 1


def test_long_names_of_what_runs_often_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    long = leaf(Operator(COMPUTE, ("x",), ("y",), name="n" * 500))
    program = Program((long, caller("main", "leaf", 100)), ("main",))
    assert program_problem(program, (Pool("m"),), GraphOptions()).problem.steps
    monkeypatch.setattr(sizes, "MANY_LETTERS", 10_000)
    with pytest.raises(BadInput, match="the names of what runs have more than"):
        program_problem(program, (Pool("m"),), GraphOptions())


def test_transfers_that_end_in_any_order_are_told_apart() -> None:
    """What a transfer needs is needed until somebody waits for it, also under the name of a view of its result."""
    load, wait = OperatorKind.IDMA_LOAD, OperatorKind.IDMA_WAIT
    tensors = (X, *(Tensor(name, (4,)) for name in ("a", "b", "v", "c", "d")))
    operators = (
        Operator(load, ("x",), ("a",)),
        Operator(load, ("x",), ("b",)),
        Operator(VIEW, ("a",), ("v",)),
        Operator(wait, ("b",), ("c",)),
        Operator(wait, ("v",), ("d",)),
        Operator(COMPUTE, ("c",), ()),
    )
    program = Program((Function("main", tensors, operators, ("x",)),), ("main",))
    buffers = program_problem(program, (Pool("m"),), GraphOptions()).problem.buffers
    lives = {buffer.id: buffer.live for buffer in buffers}
    assert (lives["x"], lives["a"], lives["b"]) == (((0, 5),), ((0, 5),), ((1, 4),))
