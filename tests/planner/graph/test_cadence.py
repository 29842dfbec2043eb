"""In the graphs of ExecuTorch's own Cadence tests, the operators expected there, and no others, move nothing."""

from __future__ import annotations

import pytest

from planner import Options, plan, verify
from planner.graph import GraphProblem, Operator, OperatorKind, Reason
from tests.planner.graph.cadence_graphs import back, compute, given, joined, made, places, problem_of, reasons

SLICE, SELECT = OperatorKind.SLICE, OperatorKind.SELECT


@pytest.mark.parametrize("plan_inputs", [True, False])
def test_concatenated_inputs_lie_in_the_result_if_planned(plan_inputs: bool) -> None:
    tensors = (given("x", 3, 6), given("y", 2, 6), back("cat", 5, 6))
    found = problem_of(tensors, joined("x", "y", "cat"), plan_inputs=plan_inputs)
    if plan_inputs:
        assert places(found) == {"x": ("cat", 0), "y": ("cat", 72)}
    else:
        assert places(found) == {}
        assert reasons(found) == [(0, Reason.SOURCE_NOT_PLANNED)]
        assert found.outside == ("x", "y")


def added(x: tuple[int, ...], y: tuple[int, ...], cat: tuple[int, ...], dim: int, *, used: bool) -> GraphProblem:
    """Return the problem of cat(x + c, y + c); if `used`, another operator reads the result."""
    tensors = (given("x", *x), given("y", *y), made("add_x", *x), made("add_y", *y))
    begin = (compute("x", "add_x"), compute("y", "add_y"), joined("add_x", "add_y", "cat", dim=dim))
    if not used:
        return problem_of((*tensors, back("cat", *cat)), *begin)
    return problem_of((*tensors, made("cat", *cat), back("end", *cat)), *begin, compute("cat", "end"))


@pytest.mark.parametrize(
    ("x", "y", "cat", "dim", "offset"),
    [((3, 6), (2, 6), (5, 6), 0, 72), ((1, 3, 6), (1, 2, 6), (1, 5, 6), 1, 72), ((5, 5), (3, 5), (8, 5), 0, 100)],
)
def test_a_concatenation_that_is_returned_moves_nothing(
    x: tuple[int, ...], y: tuple[int, ...], cat: tuple[int, ...], dim: int, offset: int
) -> None:
    found = added(x, y, cat, dim, used=False)
    assert places(found) == {"add_x": ("cat", 0), "add_y": ("cat", offset)}
    assert verify(found.problem, plan(found.problem, Options(solver="greedy", workers=1))) == ()


def test_a_concatenation_along_an_inner_dimension_is_copied() -> None:
    found = added((2, 4, 5), (2, 2, 5), (2, 6, 5), 1, used=False)
    assert reasons(found) == [(2, Reason.NOT_OUTERMOST)]


def test_a_concatenation_that_is_used_must_be_aligned_to_8() -> None:
    assert places(added((5, 8), (3, 8), (8, 8), 0, used=True)) == {"add_x": ("cat", 0), "add_y": ("cat", 160)}
    assert reasons(added((5, 5), (3, 5), (8, 5), 0, used=True)) == [(2, Reason.MISALIGNED)]


def test_an_input_may_lie_off_8_where_nothing_computed_may() -> None:
    tensors = (given("x", 5, 5), given("y", 3, 5), made("cat", 8, 5), back("end", 8, 5))
    found = problem_of(tensors, joined("x", "y", "cat"), compute("cat", "end"))
    assert places(found) == {"x": ("cat", 0), "y": ("cat", 100)}


def test_a_slice_of_an_unplanned_input_lies_in_the_concatenation() -> None:
    tensors = (given("x", 5, 6), made("add_x", 5, 6), made("slice", 1, 6), made("cat", 6, 6), back("end", 6, 6))
    found = problem_of(
        tensors,
        compute("x", "add_x"),
        Operator(SLICE, ("x",), ("slice",)),
        joined("add_x", "slice", "cat"),
        compute("cat", "end"),
        plan_inputs=False,
    )
    assert reasons(found) == [(1, Reason.SOURCE_NOT_PLANNED)]
    assert places(found) == {"add_x": ("cat", 0), "slice": ("cat", 120)}


@pytest.mark.parametrize("plan_inputs", [True, False])
def test_a_slice_takes_precedence_over_a_concatenation(plan_inputs: bool) -> None:
    tensors = (given("x", 5, 6), given("y", 3, 6), made("add_x", 5, 6), made("add_y", 3, 6), made("s", 3, 6))
    found = problem_of(
        (*tensors, back("cat", 8, 6)),
        compute("x", "add_x"),
        compute("y", "add_y"),
        Operator(SLICE, ("add_y",), ("s",)),
        joined("s", "add_x", "cat"),
        plan_inputs=plan_inputs,
        opt_level=3,
    )
    # In ExecuTorch a slice that takes all bytes of its source is an alias, and a slice of a part is not.
    part = problem_of(
        (*tensors[:-1], made("s", 1, 6), back("cat", 6, 6)),
        compute("x", "add_x"),
        compute("y", "add_y"),
        Operator(SLICE, ("add_y",), ("s",)),
        joined("s", "add_x", "cat"),
        plan_inputs=plan_inputs,
    )
    assert reasons(found) == []
    assert places(part) == {"s": ("add_y", 0)}
    assert reasons(part) == [(3, Reason.ALREADY_PLACED)]


@pytest.mark.parametrize(
    ("shape", "kind", "dim", "start", "part", "offset"),
    [
        ((3, 6), SLICE, 0, 1, (1, 6), 24),
        ((3, 6), SLICE, 0, -2, (1, 6), 24),
        ((1, 6), SLICE, 1, 4, (1, 2), 16),
        ((3, 6), SELECT, 0, 1, (6,), 24),
        ((1, 6), SELECT, 1, 4, (1,), 16),
        ((1, 6), SELECT, -1, 3, (1,), 12),
    ],
)
def test_a_part_along_the_outermost_dimension_lies_in_its_source(
    shape: tuple[int, ...], kind: OperatorKind, dim: int, start: int, part: tuple[int, ...], offset: int
) -> None:
    tensors = (given("x", *shape), made("add_x", *shape), back("part", *part))
    operators = (compute("x", "add_x"), Operator(kind, ("add_x",), ("part",), dim, start))
    found = problem_of(tensors, *operators, plan_inputs=False)
    assert places(found) == {"part": ("add_x", offset)}
    assert verify(found.problem, plan(found.problem, Options(solver="greedy", workers=1))) == ()
    unshared = problem_of(tensors, *operators, plan_inputs=False, opt_level=1)
    assert (places(unshared), reasons(unshared)) == ({}, [(1, Reason.OPT_LEVEL)])


@pytest.mark.parametrize("kind", [SLICE, SELECT])
def test_a_part_of_an_input_is_copied_unless_the_input_is_planned(kind: OperatorKind) -> None:
    tensors = (given("x", 2, 6), back("part", 6))
    assert reasons(problem_of(tensors, Operator(kind, ("x",), ("part",)), plan_inputs=False)) == [
        (0, Reason.SOURCE_NOT_PLANNED)
    ]
    assert places(problem_of(tensors, Operator(kind, ("x",), ("part",)), opt_level=3)) == {"part": ("x", 0)}


def test_a_part_of_a_concatenation_lies_in_it() -> None:
    tensors = (given("x", 3, 6), given("y", 1, 6), made("cat", 4, 6), back("part", 1, 6))
    found = problem_of(tensors, joined("x", "y", "cat"), Operator(SLICE, ("cat",), ("part",), 0, 3))
    assert places(found) == {"x": ("cat", 0), "y": ("cat", 72), "part": ("cat", 72)}


def test_a_concatenation_of_a_concatenation_moves_nothing() -> None:
    tensors = (
        given("x", 16, 16),
        *(made(f"x{i}", 16, 16) for i in (1, 2, 3)),
        made("cat1", 32, 16),
        back("cat2", 48, 16),
    )
    operators = (compute("x", "x1"), compute("x1", "x2"), compute("x2", "x3"))
    found = problem_of(tensors, *operators, joined("x1", "x2", "cat1"), joined("cat1", "x3", "cat2"), plan_inputs=False)
    assert places(found) == {"x1": ("cat2", 0), "x2": ("cat2", 1024), "cat1": ("cat2", 0), "x3": ("cat2", 2048)}


def test_a_tensor_twice_in_a_concatenation_is_copied() -> None:
    tensors = (given("x", 3, 6), made("add_x", 3, 6), back("cat", 6, 6))
    found = problem_of(tensors, compute("x", "add_x"), joined("add_x", "add_x", "cat"))
    assert (places(found), reasons(found)) == ({}, [(1, Reason.SOURCE_TWICE)])


def test_a_tensor_of_two_concatenations_lies_in_the_first() -> None:
    tensors = (given("x", 8, 8), *(made(f"x{i}", 8, 8) for i in (1, 2, 3)), made("cat1", 16, 8), made("cat2", 16, 8))
    found = problem_of(
        (*tensors, back("end", 16, 8)),
        compute("x", "x1"),
        compute("x1", "x2"),
        compute("x2", "x3"),
        joined("x1", "x2", "cat1"),
        joined("x2", "x3", "cat2"),
        compute("cat1", "cat2", "end"),
        plan_inputs=False,
    )
    assert places(found) == {"x1": ("cat1", 0), "x2": ("cat1", 256)}
    assert reasons(found) == [(4, Reason.ALREADY_PLACED)]


def test_a_view_of_an_output_that_the_caller_provides_needs_no_memory() -> None:
    tensors = (given("x", 3, 5), given("y", 15), back("add_x", 3, 5), made("view", 15), back("sum", 15))
    view = Operator(OperatorKind.VIEW, ("add_x",), ("view",))
    found = problem_of(tensors, compute("x", "add_x"), view, compute("view", "y", "sum"), plan_outputs=False)
    assert found.outside == ("add_x", "view", "sum")
    assert [buffer.id for buffer in found.problem.buffers] == ["x", "y"]
    assert [applied.places for applied in found.applied] == [(("view", "add_x", 0),)]


def test_nothing_is_planned_where_the_caller_provides_all() -> None:
    tensors = (given("x", 2, 7, 3, 2), back("out", 2, 2, 3, 2))
    found = problem_of(tensors, Operator(SLICE, ("x",), ("out",), 1, 2, 3), plan_inputs=False, plan_outputs=False)
    assert found.problem.buffers == ()
    assert plan(found.problem).peak == 0


def test_waits_lie_over_the_transfers_they_wait_for() -> None:
    tensors = (given("x", 2, 7), *(made(name, 2, 7) for name in ("load", "wait", "store")), back("wait2", 2, 7))
    steps = ((OperatorKind.IDMA_LOAD, "x", "load"), (OperatorKind.IDMA_WAIT, "load", "wait"))
    more = ((OperatorKind.IDMA_STORE, "wait", "store"), (OperatorKind.IDMA_WAIT, "store", "wait2"))
    found = problem_of(tensors, *(Operator(kind, (a,), (b,)) for kind, a, b in (*steps, *more)), opt_level=0)
    assert places(found) == {"wait": ("load", 0), "wait2": ("store", 0)}
    assert found.pinned == ("load", "store")
    fixed = {buffer.id: buffer.fixed.pool for buffer in found.problem.buffers if buffer.fixed is not None}
    assert fixed == {"load": "dram0", "store": "dram0"}
    made_plan = plan(found.problem, Options(solver="cadence_position"))
    assert {p.pool for p in made_plan.placements if p.id != "x"} == {"dram0"}
