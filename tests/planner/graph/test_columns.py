"""Programs in columns equal the same programs in tuples, and give the same problems and findings."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from planner.graph import (
    Function,
    GraphProblem,
    Operator,
    OperatorKind,
    Program,
    Tensor,
    TensorKind,
    program_problem,
)
from planner.graph.columns import OperatorColumns, TensorColumns, form_of_operator
from planner.model.errors import BadInput, Finding
from planner.model.problem import Pool
from tests.planner.graph.random_programs import random_program

SEEDS = range(80)


def in_columns(program: Program) -> Program:
    functions = []
    for function in program.functions:
        tensors, operators = TensorColumns(), OperatorColumns()
        tensors.extend(function.tensors)
        operators.extend(function.operators)
        functions.append(replace(function, tensors=tensors, operators=operators))
    return replace(program, functions=tuple(functions))


def outcome(program: Program) -> GraphProblem | tuple[Finding, ...]:
    try:
        return program_problem(program, (Pool("a"), Pool("b")))
    except BadInput as error:
        return error.findings


def test_random_programs_in_columns_give_the_same_problems() -> None:
    for seed in SEEDS:
        program = random_program(seed)
        columns = in_columns(program)
        assert columns == program
        assert outcome(columns) == outcome(program)


def test_damaged_programs_in_columns_give_the_same_findings() -> None:
    found = 0
    for seed in SEEDS:
        program = random_program(seed)
        first = program.functions[0]
        for tensors, operators in (
            (first.tensors[1:], first.operators),
            ((*first.tensors, first.tensors[0]), first.operators),
            (first.tensors, first.operators[1:]),
            (first.tensors, tuple(replace(each, outputs=each.outputs * 2) for each in first.operators)),
            (first.tensors, tuple(replace(each, functions=("x",)) for each in first.operators)),
            (tuple(replace(each, kind=TensorKind.INPUT) for each in first.tensors), first.operators),
        ):
            damaged = replace(first, tensors=tensors, operators=operators)
            whole = replace(program, functions=(damaged, *program.functions[1:]))
            findings = outcome(in_columns(whole))
            assert findings == outcome(whole)
            found += isinstance(findings, tuple)
    assert found > 4 * len(SEEDS)


def test_tensors_and_operators_alike_share_their_forms() -> None:
    tensors, operators = TensorColumns(), OperatorColumns()
    tensors.extend(Tensor(f"t{i}", (i % 3, 4)) for i in range(30))
    operators.extend(Operator(OperatorKind.SLICE, (f"t{i}",), ("x",), start=i % 2, name=f"o{i}") for i in range(30))
    assert len({*map(id, tensors.forms)}) == 3
    assert len({*map(id, operators.forms)}) == 2
    assert tensors[7] == Tensor("t7", (1, 4))
    assert operators[-1] == Operator(OperatorKind.SLICE, ("t29",), ("x",), start=1, name="o29")
    assert form_of_operator(operators[3]) is operators.forms[3]


def test_numbers_of_other_types_do_not_become_integers_that_equal_them() -> None:
    usual, odd = Tensor("a", (1, 2)), Tensor("a", (True, 2.0))  # type: ignore[arg-type]
    for order in ((usual, odd), (odd, usual)):
        tensors = TensorColumns()
        tensors.extend(order)
        assert [[type(each) for each in tensor.shape] for tensor in tensors] == [
            [type(each) for each in tensor.shape] for tensor in order
        ]
    operators = OperatorColumns()
    operators.extend(Operator(OperatorKind.SLICE, ("a",), ("b",), start=start) for start in (2, 2.0, True, 1))  # type: ignore[arg-type]
    assert [type(each.start) for each in operators] == [int, float, bool, int]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_columns_are_pickled(protocol: int) -> None:
    tensors, operators = TensorColumns(), OperatorColumns()
    tensors.extend([Tensor("a", (4,)), Tensor("b", (4,))])
    operators.extend([Operator(OperatorKind.COMPUTE, ("a",), ("b",), name="o")])
    for columns in (tensors, operators):
        assert pickle.loads(pickle.dumps(columns, protocol)) == columns


def test_homes_of_one_function_are_its_own_tensors() -> None:
    function = Function(
        "main",
        (Tensor("a", (4,), kind=TensorKind.INPUT), Tensor("b", (4,))),
        (Operator(OperatorKind.COMPUTE, ("a", "state"), ("b",)),),
        ("a",),
        ("b",),
    )
    state = Tensor("state", (4,), kind=TensorKind.MUTABLE)
    homes = program_problem(Program((function,), ("main",), (state,)), (Pool("p"),)).homes
    assert dict(homes) == {(None, "state"): "state", ("main", "a"): "a", ("main", "b"): "b"}
    assert len(homes) == 3
    assert ("main", "state") not in homes
