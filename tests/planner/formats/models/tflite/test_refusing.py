"""Any file is read, or refused with a typed error and its place, in time and memory proportional to its size."""

from __future__ import annotations

import random
import struct
import tracemalloc
from typing import Any

import pytest

from planner.formats import read_problem
from planner.formats.binary.flatbuffer import FlatBuffer
from planner.model.errors import BadInput
from tests.planner.formats.models.tflite import files as f
from tests.planner.formats.models.tflite.test_reading import RESIDUAL, branching, looping

SETTINGS = ("tflite", "tflite:like=tflm", "tflite:in_place")
WHOLE = [f.two(), RESIDUAL, branching(), looping()]


def attempt(data: bytes, format_: str) -> BadInput | None:
    """Return the refusal, or None if the file is read."""
    try:
        read_problem(data, format=format_)
    except BadInput as error:
        for finding in error.findings:
            assert finding.message.isprintable()
            assert finding.pointer.isprintable()
        return error
    return None


def refused(data: bytes, format_: str = "tflite") -> tuple[str, str, str]:
    error = attempt(data, format_)
    assert error is not None
    return error.findings[0].code.value, error.findings[0].pointer, error.findings[0].message


def test_files_cut_short_anywhere_are_refused() -> None:
    for whole in WHOLE:
        for length in range(0, len(whole) - 16, 3):
            assert attempt(whole[:length], "tflite") is not None


def test_flipped_bits_are_read_or_refused() -> None:
    chance = random.Random(0)
    refusals = 0
    for turn in range(1000):
        broken = bytearray(chance.choice(WHOLE))
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(8, len(broken))] ^= 1 << chance.randrange(8)
        refusals += attempt(bytes(broken), SETTINGS[turn % 3]) is not None
    assert 200 < refusals < 900


def test_replaced_numbers_are_read_or_refused() -> None:
    for whole in WHOLE[:2]:
        for at in range(8, len(whole) - 4, 4):
            for word in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(whole) - at):
                attempt(whole[:at] + struct.pack("<I", word) + whole[at + 4 :], "tflite:like=tflm")


def one(tensor: f.Fields | None = None, operator: Any = None, **root: Any) -> bytes:
    tensors = [tensor or f.tensor("x", [4]), f.tensor("y", [4])]
    return f.model(f.subgraph(tensors, [0], [1], [operator or f.operator("NEG", [0], [1])]), **root)


@pytest.mark.parametrize(
    ("data", "code", "place", "message"),
    [
        (b"", "out_of_range", "", "at byte 0: the file ends within its header"),
        (f.Writer().file({}, b"TFL2"), "unknown_format", "", "at byte 4 must be 'TFL3'"),
        (f.Writer().file({0: f.u32(2)}), "unknown_format", "/version", "must be 3, not 2"),
        (f.Writer().file({0: f.u32(3)}), "missing_field", "/subgraphs", "at least one subgraph"),
        (one(f.tensor("x", [4, -1])), "out_of_range", "/subgraphs/0/tensors/0/shape/1", "a dimension of -1"),
        (one(f.tensor("x", [2**30] * 4)), "too_large", "/subgraphs/0/tensors/0/shape", "is larger than"),
        (one(f.tensor("x", [1] * 33)), "too_large", "/subgraphs/0/tensors/0/shape", "33 dimensions"),
        (one(f.tensor("x", [4], 99)), "invalid_value", "/subgraphs/0/tensors/0/type", "there is no type 99"),
        (one(f.tensor("x", [4], data=7)), "out_of_range", "/subgraphs/0/tensors/0/buffer", "is 7, and there are 1"),
        (one(f.tensor("x", [4], f.STRING)), "unsupported", "/subgraphs/0/tensors/0/type", "type string"),
        (one(operator=f.operator("NEG", [5], [1])), "out_of_range", "/subgraphs/0/operators/0/inputs/0", "is 5"),
        (one(operator=f.operator("NEG", [-2], [1])), "out_of_range", "/subgraphs/0/operators/0/inputs/0", "is -2"),
        (
            one(operator=("NEG", {0: f.u32(9), 1: [0], 2: [1]})),
            "out_of_range",
            "/subgraphs/0/operators/0/opcode_index",
            "is 9, and there are 1 operator codes",
        ),
        (
            one(operator=("IF", {1: [0], 2: [1]})),
            "missing_field",
            "/subgraphs/0/operators/0/builtin_options",
            "IF says",
        ),
        (
            one(operator=f.operator("IF", [0], [1], 0, 3)),
            "out_of_range",
            "/subgraphs/0/operators/0/builtin_options/else_subgraph_index",
            "is 3, and there are 1 subgraphs",
        ),
        (
            one(operator=f.operator("STABLEHLO_CASE", [0], [1], 0, 3)),
            "out_of_range",
            "/subgraphs/0/operators/0/builtin_options_2/branch_subgraph_indices/1",
            "is 3, and there are 1 subgraphs",
        ),
        (
            one(operator=f.operator("STABLEHLO_CASE", [0], [1])),
            "missing_field",
            "/subgraphs/0/operators/0/builtin_options_2",
            "STABLEHLO_CASE says",
        ),
        (
            one(operator=("STABLEHLO_CASE", {1: [0], 2: [1], 11: f.u8(23), 12: {0: []}})),
            "missing_field",
            "/subgraphs/0/operators/0/builtin_options_2/branch_subgraph_indices",
            "at least one subgraph",
        ),
        (one(operator=f.operator("CALL_ONCE", [], [], 0)), "contradiction", "/subgraphs/0/operators/0/functions", ""),
        (one(metadata={"m": 4}), "out_of_range", "/metadata/0/buffer", "is 4"),
        (one(field7=[{4: f.u32(3)}]), "out_of_range", "/signature_defs/0/subgraph_index", "is 3"),
        (
            one(field4=[{1: f.Scalar("Q", 99), 2: f.Scalar("Q", 9999)}]),
            "out_of_range",
            "/buffers/0/offset",
            "9999 bytes",
        ),
    ],
)
def test_wrong_models_are_refused_with_the_place(data: bytes, code: str, place: str, message: str) -> None:
    found = refused(data)
    assert found[:2] == (code, place)
    assert message in found[2]


def test_models_that_tflite_micro_does_not_run_are_refused() -> None:
    doubling = [
        f.subgraph([f.tensor("a", [4])], [], [], [f.operator("CALL_ONCE", [], [], i + 1)] * 2, f"s{i}")
        for i in range(40)
    ]
    many = f.model(*doubling, f.subgraph([f.tensor("a", [4])], [], [], []))
    for format_ in SETTINGS:
        assert refused(many, format_)[0] == "too_large"
    assert refused(one(operator=f.operator("CALL_ONCE", [], [], 0)), SETTINGS[1])[:2] == (
        "contradiction",
        "/subgraphs/0",
    )
    assert refused(one(f.tensor("x", [4], 18)), SETTINGS[1])[:2] == ("unsupported", "/subgraphs/0/tensors/0/type")
    assert "exclude each other" in refused(one(), "tflite:like=tflm,in_place")[2]


def all_alike(data: bytes, number: int) -> bytes:
    """Return the file with all entries of one of the root's vectors pointing to the last one's table."""
    changed, buffer = bytearray(data), FlatBuffer(data, b"TFL3")
    start, count = buffer.root().span(number, "", 4)
    to = buffer.follow(start + 4 * (count - 1), ())
    for at in range(start, start + 4 * count, 4):
        struct.pack_into("<I", changed, at, to - at)
    return bytes(changed)


def hostile() -> dict[str, bytes]:
    """Return files that claim far more than they hold, or seem to need much more work than their size."""
    wide = f.subgraph([f.tensor(f"t{i}", [4]) for i in range(24)], [0], [0], [])
    empty: list[f.Fields] = [{} for _ in range(4000)]
    return {
        "one subgraph many times": all_alike(f.model(*[wide] * 24), 2),
        "tensors of nothing": f.model(f.subgraph(empty, list(range(4000)), [], [])),
        "buffers of nothing": f.model(f.subgraph([f.tensor("a", [1])], [0], [0], []), buffers=[b""] * 1000),
        "one name": f.model(f.subgraph([f.tensor("t", [1])] * 300, list(range(300)), [], [])),
        "one operator, many inputs": one(operator=f.operator("ADD", [0] * 20000, [1])),
    }


@pytest.mark.parametrize("name", hostile())
def test_hostile_files_take_memory_in_proportion_to_their_size(name: str) -> None:
    data = hostile()[name]
    for format_ in SETTINGS[:2]:
        tracemalloc.start()
        try:
            attempt(data, format_)
            assert tracemalloc.get_traced_memory()[1] < 25 * len(data) + (1 << 18)
        finally:
            tracemalloc.stop()


def calls(times: int, *operators: tuple[str, f.Fields]) -> bytes:
    """Return a model that runs a subgraph of these operators so often."""
    tensors = [f.tensor("a", [4]), f.tensor("b", [4])]
    leaf = f.subgraph(tensors, [], [], operators, "leaf")
    return f.model(f.subgraph([], [], [], [f.operator("CALL_ONCE", [], [], 1)] * times), leaf)


@pytest.mark.parametrize("format_", SETTINGS)
def test_short_models_that_use_tensors_very_often_are_refused(format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = calls(200, f.operator("ADD_N", [0] * 200, [1]))
    assert attempt(data, format_) is None
    for module in ("planner.graph.running.sizes", "planner.formats.models.tflite.micro"):
        monkeypatch.setattr(f"{module}.MANY_USES", 1000)
    code, place, text = refused(data, format_)
    assert (code, "uses tensors more than" in text) == ("too_large", True)
    assert place in ("/subgraphs", "/subgraphs/1/operators")


def test_files_that_break_off_in_what_is_not_read_are_refused() -> None:
    tensors = [f.tensor("a", [4]), f.tensor("b", [4])]
    whole = f.model(
        f.subgraph(tensors, [0], [1], [f.operator("NEG", [0], [1])]), field3="made by hand, with care", field5=[1, 2]
    )
    assert attempt(whole, "tflite") is None
    for length in range(8, len(whole)):
        assert refused(whole[:length])[0] in ("out_of_range", "missing_field", "too_large")


def test_a_long_name_of_many_operators_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(code: str) -> bytes:
        return f.model(f.subgraph([f.tensor("a", [4])], [0], [0], [f.operator(code, [0], [])] * 300))

    monkeypatch.setattr("planner.formats.binary.flatbuffer.ALLOWANCE", 0)
    assert attempt(named("short"), "tflite") is None
    code, place, _ = refused(named("n" * 190))
    assert (code, place.startswith("/subgraphs/0/operators/")) == ("too_large", True)
