"""Plans made function by function are valid and need no less memory than a plan of the whole program."""

from __future__ import annotations

from collections import Counter

from planner import BadInput, Options, Plan, Problem, plan, verify
from planner.graph import (
    Function,
    GraphOptions,
    Operator,
    OperatorKind,
    Program,
    Tensor,
    TensorKind,
    nested_plan,
    program_problem,
)
from planner.graph.operators import functions_of
from planner.model.problem import Pool
from tests.planner.graph.random_programs import random_program
from tests.small.strategies import NIGHTLY

K = OperatorKind
POOL = (Pool("sram"),)


def solve(problem: Problem) -> Plan:
    return plan(problem, Options(workers=1))


def compute(source: str, result: str) -> Operator:
    return Operator(K.COMPUTE, (source,), (result,))


def two_calls() -> Program:
    """Return a program that calls a function twice; the function's first buffer is large and its last small."""
    inner = Function(
        "inner",
        (
            Tensor("x", (10,), kind=TensorKind.INPUT),
            Tensor("wide", (100,)),
            Tensor("wider", (60,)),
            Tensor("y", (10,)),
        ),
        (compute("x", "wide"), compute("wide", "wider"), compute("wider", "y")),
        ("x",),
        ("y",),
    )
    main = Function(
        "main",
        (Tensor("x", (10,), kind=TensorKind.INPUT), Tensor("a", (10,)), Tensor("kept", (80,)), Tensor("b", (10,))),
        (
            Operator(K.CALL, ("x",), ("a",), functions=("inner",)),
            compute("a", "kept"),
            Operator(K.CALL, ("a",), ("b",), functions=("inner",)),
            Operator(K.COMPUTE, ("kept", "b"), ()),
        ),
        ("x",),
        ("b",),
    )
    return Program((inner, main), ("main",))


def test_a_function_s_buffers_have_an_interval_for_each_call() -> None:
    found = program_problem(two_calls(), POOL)
    live = {buffer.id: buffer.live for buffer in found.problem.buffers}
    assert live["inner/wide"] == ((0, 2), (4, 6))
    assert live["main/kept"] == ((3, 8),)
    assert live["main/b"] == ((6, 9),)


def test_nested_arenas_hold_the_memory_of_their_functions() -> None:
    found = nested_plan(two_calls(), POOL, GraphOptions(), solve)
    assert [arena.function for arena in found.arenas] == ["inner", "main"]
    assert found.arenas[0].plan.peak == 160
    assert found.peak == 10 + 10 + 80 + 160
    assert all(verify(arena.problem, arena.plan) == () for arena in found.arenas)
    whole = solve(program_problem(two_calls(), POOL).problem)
    assert whole.peak is not None
    assert whole.peak <= found.peak


def test_what_a_loop_hands_on_is_named_after_it() -> None:
    body = Function(
        "body", (Tensor("x", (8,), kind=TensorKind.INPUT), Tensor("y", (8,))), (compute("x", "y"),), ("x",), ("y",)
    )
    refine = Operator(K.LOOP, ("x",), ("y",), name="refine", functions=("body",), carried=1)
    main = Function("main", (Tensor("x", (8,), kind=TensorKind.INPUT), Tensor("y", (8,))), (refine,), ("x",), ("y",))
    found = nested_plan(Program((body, main), ("main",)), POOL, GraphOptions(), solve)
    names = {buffer.id for arena in found.arenas for buffer in arena.problem.buffers}
    assert "refine.next0" in names


def test_the_whole_program_at_once_needs_no_more() -> None:
    """Left out are programs that run a function from several places, where its arena may lie elsewhere each time."""
    compared = saved = 0
    for seed in range(80 if NIGHTLY else 50):
        program = random_program(seed)
        try:
            whole = solve(program_problem(program, POOL).problem)
        except BadInput:
            continue
        nested = nested_plan(program, POOL, GraphOptions(), solve)
        assert all(verify(arena.problem, arena.plan) == () for arena in nested.arenas)
        assert whole.peak is not None
        assert nested.peak is not None
        runs = Counter(name for f in program.functions for operator in f.operators for name in functions_of(operator))
        if max(runs.values(), default=0) <= 1:
            compared += 1
            assert whole.peak <= nested.peak, seed
        saved += whole.peak < nested.peak
    assert compared > 12
    assert saved > 6
