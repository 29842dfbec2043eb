"""Writing a plan into a model adds the offsets and leaves every other byte unchanged."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

import planner
from planner.formats import read_problem
from planner.formats.models.tflite.given import METADATA, planned_offsets
from planner.formats.models.tflite.model import read_model
from planner.formats.models.tflite.write import offsets_of, write_into
from planner.model.errors import BadInput
from planner.model.plan import Plan
from planner.model.problem import Problem
from tests.planner.formats.models.tflite import files as f
from tests.planner.formats.models.tflite.test_reading import RESIDUAL, branching, looping

WEIGHTS = f.model(
    f.subgraph(
        [f.tensor("x", [40]), f.tensor("w", [40], data=1), f.tensor("y", [40])],
        [0],
        [2],
        [f.operator("ADD", [0, 1], [2])],
    ),
    buffers=[b"", bytes(range(40)), b"kept"],
    metadata={"min_runtime_version": 2},
)
EMPTY = Problem(())
RESIDUAL_PART = f.subgraph([f.tensor("x", [40]), f.tensor("a", [40])], [0], [1], [f.operator("NEG", [0], [1])])


def planned(data: bytes) -> Plan:
    return planner.plan(read_problem(data, format="tflite:like=tflm")[0])


def test_the_offsets_of_all_tensors_are_in_the_metadata() -> None:
    for data in (RESIDUAL, WEIGHTS, branching(), looping()):
        plan = planned(data)
        model = read_model(write_into(EMPTY, plan, data))
        places = {placement.id: placement.offset for placement in plan.placements}
        wanted = [places.get(id_, -1) for id_, _ in offsets_of(model, plan)]
        assert planned_offsets(model) == tuple(wanted)
        assert len(wanted) == model.first_tensors[-1]
        (start, size) = model.buffers[model.metadata[-1].buffer]
        assert start % 16 == 0
        assert struct.unpack_from("<3i", model.data, start) == (1, len(model.subgraphs), len(wanted))
        assert size == 4 * (3 + len(wanted))


def test_all_other_bytes_stay_unchanged() -> None:
    for data in (RESIDUAL, WEIGHTS, branching(), looping()):
        changed = write_into(EMPTY, planned(data), data)
        old, new = read_model(data), read_model(changed)
        assert changed.endswith(data[8:])
        assert (len(changed) - len(data)) % 64 == 0
        assert [row.name for row in new.metadata] == [*(row.name for row in old.metadata), METADATA]
        assert new.subgraphs == tuple(
            replace(row, operators=after.operators) for row, after in zip(old.subgraphs, new.subgraphs, strict=True)
        )
        for (start, size), (before, same) in zip(new.buffers, old.buffers, strict=False):
            assert changed[start : start + size] == data[before : before + same]
            assert not size or start % 16 == before % 16


def test_offsets_written_before_are_replaced_in_place() -> None:
    plan = planned(WEIGHTS)
    once = write_into(EMPTY, plan, WEIGHTS)
    assert write_into(EMPTY, plan, once) == once
    moved = replace(plan, placements=tuple(replace(each, offset=each.offset + 16) for each in plan.placements))
    twice = write_into(EMPTY, moved, once)
    assert len(twice) == len(once)
    assert planned_offsets(read_model(twice)) == (16, -1, 64)
    short = f.model(
        f.subgraph([f.tensor("x", [4]), f.tensor("y", [4])], [0], [1], [f.operator("NEG", [0], [1])]),
        buffers=[b"", struct.pack("<4i", 1, 1, 1, 0)],
        metadata={METADATA: 1},
    )
    model = read_model(write_into(EMPTY, planned(short), short))
    assert [row.name for row in model.metadata] == [METADATA]
    assert planned_offsets(model) == (0, 16)


def test_shared_buffers_are_not_overwritten() -> None:
    content = struct.pack("<6i", 1, 1, 3, 0, -1, 48)
    parts = f.subgraph(
        [f.tensor("x", [24]), f.tensor("w", [24], data=1), f.tensor("y", [24])],
        [0],
        [2],
        [f.operator("ADD", [0, 1], [2])],
    )
    data = f.model(parts, buffers=[b"", content], metadata={METADATA: 1})
    plan = planned(data)
    moved = replace(plan, placements=tuple(replace(each, offset=each.offset + 16) for each in plan.placements))
    model = read_model(write_into(EMPTY, moved, data))
    start, size = model.buffers[1]
    assert model.data[start : start + size] == content  # the weights are unchanged
    assert planned_offsets(model) == (16, -1, 48)
    with pytest.raises(BadInput, match="no place for metadata"):
        write_into(EMPTY, planned(RESIDUAL), f.model(RESIDUAL_PART, buffers=[]))


def test_data_behind_the_flatbuffer_is_still_found() -> None:
    part = f.subgraph([f.tensor("x", [4]), f.tensor("y", [4])], [0], [1], [f.operator("NEG", [0], [1])])

    def behind(start: int) -> bytes:
        return f.model(part, field4=[{}, {1: f.Scalar("Q", start), 2: f.Scalar("Q", 64)}])

    data = behind(len(behind(0))) + bytes(range(64))
    changed = write_into(EMPTY, planned(data), data)
    start, length = read_model(changed).buffers[1]
    assert changed[start : start + length] == bytes(range(64))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"offset": 8}, "multiples of 16"),
        ({"offset": 1 << 31}, "at 2147483648; TFLite Micro takes"),
        ({"size": 8}, "plan the model with --like tflm"),
    ],
)
def test_plans_that_tflite_micro_cannot_follow_are_refused(change: dict[str, Any], says: str) -> None:
    plan = planned(RESIDUAL)
    wrong = replace(plan, placements=(replace(plan.placements[0], **change), *plan.placements[1:]))
    with pytest.raises(BadInput, match=says) as caught:
        write_into(EMPTY, wrong, RESIDUAL)
    assert caught.value.findings[0].pointer.startswith("/placements/0/")


def test_plans_whose_tensors_tflite_micro_needs_at_one_time_are_refused() -> None:
    plan = planned(RESIDUAL)
    wrong = replace(plan, placements=tuple(replace(each, offset=0) for each in plan.placements))
    with pytest.raises(BadInput, match="overlap"):
        write_into(EMPTY, wrong, RESIDUAL)
    by_use = planner.plan(read_problem(branching(), format="tflite")[0])
    with pytest.raises(BadInput, match="plan the model with --like tflm"):
        write_into(EMPTY, by_use, branching())


def test_plans_of_another_model_are_refused() -> None:
    with pytest.raises(BadInput, match="places none of the model's tensors"):
        write_into(EMPTY, planned(branching()), RESIDUAL)
    more = f.model(*[f.subgraph([f.tensor("x", [4])], [0], [0], [])], field8=f.u32(1))
    with pytest.raises(BadInput, match="only 8 of them are known"):
        write_into(EMPTY, planned(more), more)


def test_a_plan_in_a_model_is_read_as_hints() -> None:
    data = write_into(EMPTY, planned(WEIGHTS), WEIGHTS)
    problem, _ = read_problem(data, format="tflite:like=tflm")
    assert {buffer.id: buffer.hint for buffer in problem.buffers} == {
        place.id: place.offset for place in planned(WEIGHTS).placements
    }
    assert not [buffer for buffer in read_problem(WEIGHTS, format="tflite:like=tflm")[0].buffers if buffer.hint]
