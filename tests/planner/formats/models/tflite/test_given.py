"""Plans of a model keep what commands of an Ethos-U, and kernels that memplan does not know, find by the file's own plan."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

import planner
from planner.formats import read_problem
from planner.formats.models.tflite.arena import estimated_tail
from planner.formats.models.tflite.given import METADATA, planned_offsets
from planner.formats.models.tflite.model import read_model
from planner.formats.models.tflite.write import write_into
from planner.model.errors import BadInput
from planner.model.plan import Plan
from planner.model.problem import Problem
from planner.planning.interfaces.own_plan import own_plan
from tests.planner.formats.models.tflite import files as f

EMPTY = Problem(())
MICRO = "tflite:like=tflm"
COMMANDS, WEIGHTS, SCRATCH, X, A, B, Y, LATE, STATE = range(9)
OFFSETS = (-1, -1, 0, 64, 128, 16, 192, 1024, 96)


def compiled(*changed: tuple[int, int], name: str = "ethos-u", offsets: tuple[int, ...] | None = OFFSETS) -> bytes:
    """Return a model as Vela writes them: commands that read `a` and `state` and write `b` within `scratch`, and operators around them."""
    tensors = [
        f.tensor("commands", [32], f.UINT8, data=1),
        f.tensor("weights", [32], f.UINT8, data=1),
        f.tensor("scratch", [256], f.UINT8),
        *(f.tensor(each, [64]) for each in ("x", "a", "b", "y", "late")),
        f.tensor("state", [20], variable=True),
    ]
    operators = [
        f.operator("NEG", [X], [A]),
        f.operator(name, [COMMANDS, WEIGHTS, SCRATCH, SCRATCH, A, STATE], [B, STATE]),
        f.operator("NEG", [B], [Y]),
        f.operator("NEG", [Y], [LATE]),
    ]
    part = f.subgraph(tensors, [X], [LATE], operators)
    if offsets is None:
        return f.model(part, buffers=[b"", bytes(32)])
    given = dict(enumerate(offsets)) | dict(changed)
    return f.model(part, buffers=[b"", bytes(32), packed(*given.values())], metadata={METADATA: 2})


def packed(*offsets: int) -> bytes:
    return struct.pack(f"<{3 + len(offsets)}i", 0, 1, len(offsets), *offsets)


def moved(plan: Plan, by: int, *only: str) -> Plan:
    places = (replace(each, offset=each.offset + by * (each.id in only)) for each in plan.placements)
    return replace(plan, placements=tuple(places))


def test_what_commands_address_stays_where_they_find_it() -> None:
    data = compiled()
    problem, _ = read_problem(data, format=MICRO)
    ties = {(tie.buffer, tie.base, tie.offset) for tie in problem.constraints.colocations}
    assert ties == {("a", "scratch", 128), ("b", "scratch", 16), ("state", "scratch", 96), ("x", "scratch", 64)}
    own, wrong = own_plan(problem)
    assert (own.peak, wrong) == (1024 + 64, ())
    found = planner.plan(problem)
    assert (found.peak, found.status.value) == (256, "optimal")
    model = read_model(write_into(EMPTY, found, data))
    offsets = planned_offsets(model)
    assert offsets is not None
    assert [offsets[i] - offsets[SCRATCH] for i in (A, B, STATE)] == [128, 16, 96]
    assert planner.plan(read_problem(model.data, format=MICRO)[0]).peak == 256


def test_the_memory_of_commands_moves_as_one() -> None:
    found = planner.plan(read_problem(compiled(), format=MICRO)[0])
    tied = ("scratch", "x", "a", "b", "state")
    offsets = planned_offsets(read_model(write_into(EMPTY, moved(found, 512, *tied), compiled())))
    assert offsets is not None
    assert [offsets[i] for i in (SCRATCH, A, B, STATE)] == [512, 640, 528, 608]
    with pytest.raises(BadInput, match=r"'b'.*plan the model with --like tflm"):
        write_into(EMPTY, moved(found, 512, "b"), compiled())
    lacking = replace(found, placements=tuple(each for each in found.placements if each.id != "b"))
    with pytest.raises(BadInput, match=r"'b'.*plan the model with --like tflm"):
        write_into(EMPTY, lacking, compiled())


def test_variables_that_commands_address_are_planned_and_needed_throughout() -> None:
    problem, _ = read_problem(compiled(), format=MICRO)
    (state,) = (buffer for buffer in problem.buffers if buffer.id == "state")
    assert (state.size, state.live, state.hint) == (32, ((0, 5),), 96)
    assert dict(estimated_tail(read_model(compiled())).parts)["variables"] == 0
    assert dict(estimated_tail(read_model(compiled(name="other"))).parts)["variables"] == 32


def test_models_with_commands_are_read_as_tflite_micro_plans_them() -> None:
    by_use, warnings = read_problem(compiled(), format="tflite")
    by_micro, others = read_problem(compiled(), format=MICRO)
    assert by_use == by_micro
    assert len(others) == 1
    assert warnings[1:] == others
    assert "'ethos-u'" in warnings[0]
    assert "like=tflm" in warnings[0]
    with pytest.raises(BadInput, match=r"'ethos-u'.*exclude each other"):
        read_problem(compiled(), format="tflite:in_place")


@pytest.mark.parametrize(
    "data",
    [compiled((A, 256)), compiled((B, -1)), compiled((SCRATCH, 32)), compiled((STATE, -1)), compiled(offsets=None)],
)
@pytest.mark.parametrize("form", ["tflite", MICRO])
def test_commands_without_what_they_address_are_refused(data: bytes, form: str) -> None:
    with pytest.raises(BadInput, match=r"within 'scratch'.*take the model as Vela wrote it") as caught:
        read_problem(data, format=form)
    assert caught.value.findings[0].pointer == "/subgraphs/0/operators/1"


def test_places_that_tflite_micro_does_not_take_are_refused() -> None:
    with pytest.raises(BadInput, match="'b' 8 bytes above 'scratch'"):
        read_problem(compiled((B, 8)), format=MICRO)


def test_what_overlaps_stays_if_a_kernel_is_unknown_and_else_is_planned_apart() -> None:
    tensors = [f.tensor(each, [64]) for each in ("x", "a", "y")]

    def overlapping(kernel: str) -> bytes:
        operators = [f.operator("NEG", [0], [1]), f.operator(kernel, [1], [2])]
        part = f.subgraph(tensors, [0], [2], operators)
        return f.model(part, buffers=[b"", packed(0, 64, 96)], metadata={METADATA: 1})

    problem, warnings = read_problem(overlapping("Foreign"), format=MICRO)
    assert [(tie.buffer, tie.base, tie.offset) for tie in problem.constraints.colocations] == [("y", "a", 32)]
    assert "'y' among them: they share their bytes in every plan" in warnings[1]
    assert "'Foreign'" in warnings[1]
    assert own_plan(problem)[1] == ()
    assert planner.plan(problem).peak == 128
    problem, (warning,) = read_problem(overlapping("NEG"), format=MICRO)
    assert "'y' among them: they are planned apart" in warning
    assert problem.constraints.colocations == ()
    assert [finding.kind.value for finding in own_plan(problem)[1]] == ["overlap"]
    found = planner.plan(problem)
    assert found.peak == 128
    assert read_problem(write_into(EMPTY, found, overlapping("NEG")), format=MICRO)[1] == ()
