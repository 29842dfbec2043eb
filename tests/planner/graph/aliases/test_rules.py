"""Each reason for which a rule is not applied, and which rule is applied if several could be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner import BadInput, plan, verify
from planner.graph import (
    Graph,
    GraphOptions,
    GraphProblem,
    Operator,
    OperatorKind,
    Reason,
    Tensor,
    TensorKind,
    graph_problem,
)
from planner.model.problem import Pool
from tests.planner.graph.cadence_graphs import POOLS, back, compute, given, joined, made, places, problem_of, reasons

K = OperatorKind


def view(source: str, result: str) -> Operator:
    return Operator(K.VIEW, (source,), (result,))


def in_place(*names: str) -> Operator:
    """Return the operator that writes the last tensor over the first."""
    return Operator(K.IN_PLACE, names[:-1], names[-1:])


def state(id_: str, *shape: int) -> Tensor:
    return Tensor(id_, shape, 32, TensorKind.MUTABLE)


@pytest.mark.parametrize(("plan_inputs", "plan_outputs"), [(True, True), (True, False), (False, True), (False, False)])
def test_inputs_and_outputs_may_be_left_out_of_the_plan(plan_inputs: bool, plan_outputs: bool) -> None:
    both = Tensor("through", (4,), 32, TensorKind.INPUT, is_output=True)
    tensors = (
        given("x", 4),
        Tensor("w", (9,), 32, TensorKind.CONSTANT),
        state("s", 4),
        made("m", 4),
        back("y", 4),
        both,
    )
    found = problem_of(
        tensors, compute("x", "w", "s", "m"), compute("m", "y"), plan_inputs=plan_inputs, plan_outputs=plan_outputs
    )
    planned = {buffer.id for buffer in found.problem.buffers}
    assert ("x" in planned, "y" in planned) == (plan_inputs, plan_outputs)
    assert ("through" in planned) == (plan_inputs and plan_outputs)
    assert {"s", "m"} <= planned
    assert "w" in found.outside
    assert planned.isdisjoint(found.outside)


def test_lifetimes_follow_from_the_operators() -> None:
    tensors = (
        given("x", 4),
        given("late", 4),
        state("s", 4),
        made("a", 4),
        made("unused", 4),
        back("y", 4),
        made("b", 4),
    )
    operators = (
        compute("x", "a"),
        Operator(K.COMPUTE, ("a",), ("b", "unused")),
        Operator(K.COMPUTE, ("b", "late"), ("y", "s")),
    )
    live = {buffer.id: buffer.live for buffer in problem_of(tensors, *operators).problem.buffers}
    assert live == {
        "x": ((0, 1),),
        "late": ((0, 3),),
        "s": ((0, 4),),
        "a": ((0, 2),),
        "unused": ((1, 2),),
        "b": ((1, 3),),
        "y": ((2, 4),),
    }


def test_both_sides_of_a_transfer_live_until_the_wait() -> None:
    tensors = (given("x", 4), made("l", 4), made("v", 4), made("other", 4), made("w", 4), made("l2", 4))
    operators = (
        Operator(K.IDMA_LOAD, ("x",), ("l",)),
        view("l", "v"),
        compute("other"),
        Operator(K.IDMA_WAIT, ("v",), ("w",)),
        Operator(K.IDMA_LOAD, ("other",), ("l2",)),
    )
    live = {buffer.id: buffer.live for buffer in problem_of(tensors, *operators).problem.buffers}
    assert (live["x"], live["l"], live["w"]) == (((0, 4),), ((0, 4),), ((3, 4),))
    assert (live["other"], live["l2"]) == (((2, 6),), ((4, 6),))  # no operator waits for this transfer


def test_in_place_pairs_overlap_in_lifetime_and_storage_from_level_2_on() -> None:
    tensors = (given("x", 64), made("a", 64), made("b", 64), back("c", 64))
    operators = (compute("x", "a"), in_place("a", "b"), in_place("b", "c"))
    shared = problem_of(tensors, *operators, opt_level=2)
    assert places(shared) == {"b": ("a", 0), "c": ("a", 0)}
    live = {buffer.id: buffer.live for buffer in shared.problem.buffers}
    assert (live["a"], live["b"]) == (((0, 2),), ((1, 3),))
    assert plan(shared.problem).peak == 512
    apart = problem_of(tensors, *operators, opt_level=1)
    assert reasons(apart) == [(1, Reason.OPT_LEVEL), (2, Reason.OPT_LEVEL)]
    assert plan(apart.problem).peak == 512
    without = problem_of(tensors, *operators, opt_level=1, plan_inputs=False)
    assert (plan(without.problem).peak, plan(problem_of(tensors, *operators, plan_inputs=False).problem).peak) == (
        512,
        256,
    )


@pytest.mark.parametrize(
    ("extra", "operators"),
    [
        ((), (compute("x", "a"), in_place("a", "b"), compute("a", "b", "end"))),
        ((made("v", 8),), (compute("x", "a"), view("a", "v"), in_place("a", "b"), compute("v", "b", "end"))),
        ((made("v", 8),), (compute("x", "a"), view("a", "v"), in_place("v", "b"), compute("a", "b", "end"))),
    ],
)
def test_tensors_still_needed_are_not_overwritten(extra: tuple[Tensor, ...], operators: tuple[Operator, ...]) -> None:
    tensors = (given("x", 8), made("a", 8), made("b", 8), back("end", 8), *extra)
    (step,) = (i for i, operator in enumerate(operators) if operator.kind is K.IN_PLACE)
    assert reasons(problem_of(tensors, *operators)) == [(step, Reason.STILL_NEEDED)]


def test_a_result_lies_over_the_first_operand_that_allows_it() -> None:
    tensors = (given("x", 8), made("a", 8), made("b", 8), made("c", 8), back("end", 8))
    before, after = (compute("x", "a"), compute("x", "b")), compute("a", "c", "end")
    over = Operator(K.IN_PLACE, ("a", "b"), ("c",), over=2)
    assert places(problem_of(tensors, *before, over, after)) == {"c": ("b", 0)}
    assert places(problem_of(tensors, *before, over, compute("c", "end"))) == {"c": ("a", 0)}
    both = problem_of(tensors, *before, over, compute("a", "b", "c", "end"))
    assert [(each.operator, each.reason) for each in both.refused] == [(2, Reason.STILL_NEEDED)]
    assert "'a'" in both.refused[0].message
    assert reasons(problem_of(tensors, *before, replace(over, over=1), after)) == [(2, Reason.STILL_NEEDED)]


@pytest.mark.parametrize("over", [0, 3])
def test_a_result_lies_over_operands_that_there_are(over: int) -> None:
    tensors = (given("x", 8), given("w", 8), back("y", 8))
    with pytest.raises(BadInput, match="/operators/0/over: must be from 1 to "):
        problem_of(tensors, Operator(K.IN_PLACE, ("x", "w"), ("y",), over=over))


def test_an_operand_in_another_place_of_the_same_bytes_is_not_overwritten() -> None:
    tensors = (given("x", 8), made("a", 8), made("part", 4), made("b", 8), back("end", 8))
    cut = Operator(K.SLICE, ("a",), ("part",), 0, 2)
    found = problem_of(tensors, compute("x", "a"), cut, in_place("a", "part", "b"), compute("b", "end"))
    assert reasons(found) == [(2, Reason.STILL_NEEDED)]


@pytest.mark.parametrize(("over", "refused"), [(1, [(2, Reason.STILL_NEEDED)]), (2, [])])
def test_a_result_lies_over_another_name_of_its_operand_only_if_it_may(over: int, refused: list[Any]) -> None:
    tensors = (given("x", 8), made("a", 8), made("v", 2, 4), made("b", 8), back("end", 8))
    over_both = Operator(K.IN_PLACE, ("a", "v"), ("b",), over=over)
    found = problem_of(tensors, compute("x", "a"), view("a", "v"), over_both, compute("b", "end"))
    assert (reasons(found), places(found).get("b")) == (refused, None if refused else ("a", 0))
    twice = problem_of(tensors, compute("x", "a"), view("a", "v"), in_place("a", "a", "b"), compute("b", "end"))
    assert places(twice)["b"] == ("a", 0)


def test_outputs_and_state_are_never_overwritten() -> None:
    tensors = (back("a", 8), state("s", 8), made("b", 8), made("c", 8))
    found = problem_of(tensors, compute("a"), in_place("a", "b"), in_place("s", "c"))
    assert reasons(found) == [(1, Reason.STILL_NEEDED), (2, Reason.STILL_NEEDED)]
    onto_itself = problem_of((state("s", 8), given("x", 8)), in_place("s", "x", "s"))
    assert (reasons(onto_itself), places(onto_itself)) == ([], {})


def test_a_result_in_place_may_be_part_of_a_concatenation() -> None:
    tensors = (given("x", 8), made("a", 8), made("b", 8), made("z", 8), back("cat", 16))
    found = problem_of(tensors, compute("x", "a"), compute("x", "z"), in_place("a", "b"), joined("z", "b", "cat"))
    assert places(found) == {"a": ("cat", 32), "b": ("cat", 32), "z": ("cat", 0)}
    assert verify(found.problem, plan(found.problem)) == ()


def test_a_view_of_state_that_is_written_later_is_a_copy() -> None:
    tensors = (state("s", 8), given("x", 8), made("v", 8), back("end", 8))
    write = Operator(K.COMPUTE, ("x",), ("s",))
    assert reasons(problem_of(tensors, view("s", "v"), write, compute("v", "end"))) == [(0, Reason.OVERWRITTEN)]
    assert places(problem_of(tensors, write, view("s", "v"), compute("v", "end"))) == {"v": ("s", 0)}
    parts = (state("s", 8), given("x", 8), back("cat", 16))
    assert reasons(problem_of(parts, joined("s", "x", "cat"), write)) == [(0, Reason.OVERWRITTEN)]


@pytest.mark.parametrize(("step", "reason"), [(2, Reason.STEP), (1, None)])
def test_a_step_leaves_gaps(step: int, reason: Reason | None) -> None:
    tensors = (given("x", 8, 2), back("s", 2, 2))
    found = problem_of(tensors, Operator(K.SLICE, ("x",), ("s",), 0, 2, step))
    assert [why for _, why in reasons(found)] == ([] if reason is None else [reason])


@pytest.mark.parametrize(("start", "used", "reason"), [(1, True, Reason.MISALIGNED), (2, True, None), (1, False, None)])
def test_a_part_that_is_used_must_be_aligned_to_8(start: int, used: bool, reason: Reason | None) -> None:
    tensors = (given("x", 8), made("s", 2) if used else back("s", 2), back("end", 2))
    found = problem_of(tensors, Operator(K.SLICE, ("x",), ("s",), 0, start), compute("s", "end"))
    assert [why for _, why in reasons(found)] == ([] if reason is None else [reason])


def test_a_part_keeps_the_tensor_s_alignment_wherever_it_lies() -> None:
    tensors = (given("x", 8), Tensor("s", (2,), 32, is_output=True, alignment=16))
    assert reasons(problem_of(tensors, Operator(K.SLICE, ("x",), ("s",), 0, 2))) == [(0, Reason.MISALIGNED)]
    inner = Tensor("inner", (2,), 32, alignment=16)
    deep = (given("x", 2), made("a", 6), inner, back("cat", 8))
    cut = Operator(K.SLICE, ("a",), ("inner",), 0, 4)
    found = problem_of(deep, compute("x", "a"), cut, joined("x", "a", "cat"))
    assert reasons(found) == [(2, Reason.MISALIGNED)]  # inner lies at 16 in a, and a would lie at 8
    assert verify(found.problem, plan(found.problem)) == ()


def test_mismatched_sizes_are_no_part() -> None:
    tensors = (given("x", 8), made("v", 7), made("cat", 17), Tensor("narrow", (16,), 16), back("end", 1))
    found = problem_of(
        tensors,
        view("x", "v"),
        joined("x", "v", "cat"),
        in_place("x", "narrow"),
        compute("cat", "end"),
    )
    assert [why for _, why in reasons(found)] == [Reason.SIZE_DIFFERS] * 3


def test_parts_that_begin_within_a_byte_are_copied() -> None:
    x = Tensor("x", (5,), 4, TensorKind.INPUT)
    s = Tensor("s", (2,), 4, is_output=True)
    cut = Operator(K.SLICE, ("x",), ("s",), 0, 1)
    assert reasons(graph_problem_of(Graph((x, s), (cut,)))) == [(0, Reason.PARTIAL_BYTES)]
    halves = (x, Tensor("y", (2,), 4, TensorKind.INPUT), Tensor("cat", (7,), 4, is_output=True))
    assert reasons(graph_problem_of(Graph(halves, (joined("x", "y", "cat"),)))) == [(0, Reason.PARTIAL_BYTES)]
    assert places(graph_problem_of(Graph(halves, (joined("y", "x", "cat"),)))) == {"x": ("cat", 1), "y": ("cat", 0)}


def graph_problem_of(graph: Graph) -> GraphProblem:
    return graph_problem(graph, POOLS)


def test_a_result_provided_by_the_caller_is_copied() -> None:
    tensors = (given("x", 8), made("a", 8), back("v", 8))
    found = problem_of(tensors, compute("x", "a"), view("a", "v"), plan_outputs=False)
    assert (reasons(found), found.outside) == ([(1, Reason.RESULT_NOT_PLANNED)], ("v",))


@pytest.mark.parametrize("alignment", [16, 37])
def test_a_pool_s_alignment_holds_for_buffers_and_not_for_parts(alignment: int) -> None:
    tensors = (given("x", 5, 2), given("y", 5, 2), made("part", 2), back("end", 2))
    cut = Operator(K.SELECT, ("x",), ("part",), 0, 1)
    found = graph_problem(
        Graph(tensors, (cut, compute("part", "y", "end"))), (Pool("p", 999, alignment, alignment * 3),)
    )
    answer = plan(found.problem)
    where = {place.id: place.offset for place in answer.placements}
    assert where["part"] == where["x"] + 8
    assert all(where[id_] % alignment == 0 for id_ in ("x", "y", "end"))
    assert len({where["x"], where["y"]}) == 2


def test_transfers_go_to_the_fastest_or_the_named_pool() -> None:
    tensors = (given("x", 4), made("l", 4))
    load = Operator(K.IDMA_LOAD, ("x",), ("l",))
    ranked = (Pool("slow", 99, rank=1), Pool("fast", 99, rank=0))
    for named, wanted in ((None, "fast"), ("slow", "slow")):
        buffer = graph_problem(Graph(tensors, (load,)), ranked, GraphOptions(fastest=named)).problem.buffers[1]
        assert buffer.fixed is not None
        assert buffer.fixed.pool == wanted
    provided = problem_of((given("x", 4), back("l", 4)), load, plan_outputs=False)
    assert (provided.pinned, reasons(provided)) == ((), [(0, Reason.RESULT_NOT_PLANNED)])


@pytest.mark.parametrize(
    ("options", "place"),
    [({"fastest": "nobody's"}, "/options/fastest"), ({"offset_multiple": 0}, "/options/offset_multiple")],
)
def test_wrong_options_are_refused(options: dict[str, Any], place: str) -> None:
    with pytest.raises(BadInput) as caught:
        problem_of((given("x", 4),), **options)
    assert [finding.pointer for finding in caught.value.findings] == [place]


def test_a_graph_without_pools_is_refused() -> None:
    with pytest.raises(BadInput):
        graph_problem(Graph((given("x", 4),), ()), ())


def test_an_empty_graph_has_no_buffers() -> None:
    found = problem_of(())
    assert (found.problem.buffers, found.applied, found.refused, found.outside) == ((), (), (), ())


def test_messages_are_sentences_without_control_characters() -> None:
    name = "\x1b[2J" * 100
    tensors = (Tensor(name, (8, 2), 8, TensorKind.INPUT), Tensor("s", (2,), 8, is_output=True))
    found = problem_of(tensors, Operator(K.SELECT, (name,), ("s",), 1, 0))
    far = problem_of(tensors, Operator(K.SELECT, (name,), ("s",), 0, 0), plan_inputs=False)
    for refused in (*found.refused, *far.refused):
        assert refused.message.isprintable()
        assert len(refused.message) < 300
