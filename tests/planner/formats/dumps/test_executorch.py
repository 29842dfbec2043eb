"""ExecuTorch programs: each buffer's uses, intended sharing, and the memory of the file's own plan."""

from __future__ import annotations

import json
import random
import struct
import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from api.cli.app import app
from planner import plan, read_problem, verify
from planner.formats import FORMATS
from planner.formats.contents import of_executorch
from planner.formats.documents import Source
from planner.formats.dumps import executorch
from planner.model.errors import BadInput
from planner.model.problem import Problem
from tests.planner.formats.models.tflite.files import Fields, Scalar, Writer, u8, u32
from tests.planner.formats.reading import lives
from tests.running.command import CliRunner

FLOAT, NULL, TENSOR, TENSORS = 6, 1, 5, 10


def value(size: int, memory: int = 1, offset: int = 0, kind: int = 0) -> Fields:
    """Return a tensor of bytes with a place; one in memory 0 is a constant."""
    place = {6: {0: u32(memory), 1: u32(offset)}} if memory else {5: u32(1)}
    return {0: u8(TENSOR), 1: {0: u8(kind), 2: [size], **place}}


def listed(*items: int) -> Fields:
    return {0: u8(TENSORS), 1: {0: list(items)}}


def kernel(*args: int) -> Fields:
    return {0: u8(1), 1: {0: 0, 1: list(args)}}


def delegate(*args: int) -> Fields:
    return {0: u8(2), 1: {0: 0, 1: list(args)}}


def jump(value_: int, to: int) -> Fields:
    return {0: u8(4), 1: {0: value_, 1: to}}


def method(
    values: list[Fields], instructions: list[Fields], inputs: list[int], outputs: list[int], name: str = "forward"
) -> Fields:
    return {0: name, 2: values, 3: inputs, 4: outputs, 5: [{2: instructions}]}


def program(*methods: Fields) -> bytes:
    return Writer().file({0: u32(0), 1: list(methods)}, b"ET12")


def read(data: bytes) -> Problem:
    return read_problem(data)[0]


EXPORTED = zlib.decompress(
    b64decode(
        "eNqtVTFME1EYfr2WWopolWo6MDQXBmOICYYBmRjQaOJAYgcSIFDbKjWlbdprhCgJgzEMDgwMjsQ4OHRgYDDGgYk4ODgQ40CMA4MjIyK98/t7//X9tAfGxEu+3uu77/v+/3/vv3f9SqnbqaGbuKmYSu"
        "A3jvt5FVEh3OmfUgPAoMDdY8cJ4R5Q+qIxzb345Thyrr85uqquwSWJfwnhf5W9hz1A8Cqo1BqwDsQiSk13K2WIOF/EOAzsAVsUF0hxfpTH8KHjQI5I+uoB0lauODqaKZWXZtWk4CCcKtUsFW1xKrlC"
        "TannzKF1oGcPMulCujJLVBVpcR9b5P9OcCnWvaJ1P1+1muTuFrdaW8B41ye25izUChgfnslJZ7O8xrFmddHWukZZM2K46CUvED8Ba8AcMA7EgZ949hnYBFaALO8FrWHiyI1PYWhfadzFz+iifbnC43"
        "HB3WSu1xOXgT5eF0JZc4N74FKuF4FV4VG33R7rEogxj7CluaEkxrTel6gW4T1y5HpfAPaF9wSPQ7yuvcwhnP+teYtHJ+vw8uhljGhu6C243dwjE8LjI3sE2SPMvRFlPBfcn8w1mEexzim3z7p5jrAp"
        "NP2/T+ZoiDFhD89jzI0ot+qIqMd7T4OsNdre6TjfA823GO8rhN+C7ns6DwwA+xDVgVWgDEwDA0AM+MI9lwISwCHtBbABTFOPeefGsd63Tw3HWdf/u+4cuzUkWueJCscxN8d5GZysIdZgV+hf+uhTmF"
        "s5Qx9vaP2Oj57yGztDn9L64Gv0clb/N3Ywlmfnioh1s+HGinM8irVju/yA2Bfivxe6Jz46+xTdgdC9aXTWVsZcUuy71A7aWvvdR1tv6HVp185rrVF3HGdReF23tRfn33MIr+2270xdawIH8Phou+84"
        "rXNIhZrrv+rNnQs3z8OwOLPoOhBx33TGDZdtXYN3DTha89XurPutrfuxve45ob3sdGp/2P697PXTpMP1GGGcgW49Mrdt4V/x8R9z/Hvd84/ga9HD54Ln88HHZ9Xx73ntE8U55fok3GrRj33Nr5HrG2"
        "p+Czrqh+/GX/KLiPzGgVvA1NBg8plpLZVz5miyWCsUBpNmplS0couWmJjPF7KVXHG2Ws5lMD01szwDrd2uNx/W8gUrX6zesGrlQs484WWSmenn9t/0/5L/sm/e2XzGags7NWOeZjHjflselSpP05Ws"
        "+gPIF+NJ"
    )
)
"""A program that ExecuTorch 1.5.1 exported with its own plan: it has state, changes of shape, and a branch."""

NOTHING = {0: u8(NULL), 1: {}}
TWO = program(method([NOTHING, value(64), value(32, offset=64)], [kernel(1, 2)], [1], [2]))


def test_the_example_equals_that_of_the_formats_table() -> None:
    assert FORMATS["executorch"].document == TWO


def test_tensors_live_from_their_first_to_their_last_use() -> None:
    values = [value(64), value(64, offset=64), value(0, 0), listed(0, 1), value(16, 2, 0), value(8, 1, 128, FLOAT)]
    made = program(method(values, [kernel(0, 2, 1), kernel(3, 4), kernel(4, 5)], [0], [5]))
    problem = read(made)
    assert lives(problem) == {"0": ((0, 2),), "1": ((0, 2),), "4": ((1, 3),), "5": ((2, 4),)}
    assert [(b.size, b.hint, b.pools) for b in problem.buffers][3] == (32, 128, ("memory 1",))
    assert problem.name == "ExecuTorch's own plan: 176 bytes"
    found = plan(problem)
    assert (found.peak, verify(problem, found)) == (144, ())


def test_values_that_overlap_in_the_file_stay_together() -> None:
    values = [value(64), value(64), value(16, offset=32), value(64, offset=64)]
    problem = read(program(method(values, [kernel(0, 1), kernel(1, 2), kernel(1, 2, 3)], [0], [3])))
    assert len(problem.constraints.colocations) == 2
    found = plan(problem)
    assert (found.peak, verify(problem, found)) == (128, ())
    where = {place.id: place.offset for place in found.placements}
    assert where["2"] - where["0"] == 32
    assert where["1"] == where["0"]


def test_a_jump_to_the_end_of_its_chain_is_read() -> None:
    assert lives(read(program(method([value(4)], [kernel(0), jump(0, 2)], [0], [])))) == {"0": ((0, 2),)}


def test_a_jump_backwards_keeps_the_values_its_steps_use() -> None:
    values = [value(64), value(64, offset=64), value(1, offset=128), value(64, offset=192)]
    made = program(method(values, [kernel(0, 1), kernel(1, 2), jump(2, 0), kernel(1, 3)], [0], [3]))
    assert lives(read(made)) == {"0": ((0, 3),), "1": ((0, 4),), "2": ((0, 3),), "3": ((3, 5),)}


def test_methods_run_one_after_the_other() -> None:
    one = method([value(64), value(32, offset=64)], [kernel(0, 1)], [0], [1])
    problem = read(program(one, {**one, 0: "reset"}))
    assert lives(problem) == {
        "forward/0": ((0, 1),),
        "forward/1": ((0, 2),),
        "reset/0": ((2, 3),),
        "reset/1": ((2, 4),),
    }


def test_the_peak_of_the_file_s_own_plan_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(program(method([value(64), value(64, offset=512)], [kernel(0, 1)], [0], [1])))
    found = json.loads(CliRunner().invoke(app, ["inspect", str(path)]).stdout)
    assert (found["own_peak"], found["bound"]) == (576, 128)
    assert "576 B" in CliRunner().invoke(app, ["inspect", str(path), "--tables"]).stdout


def test_an_exported_program_is_read() -> None:
    problem = read(EXPORTED)
    assert lives(problem) == {
        "0": ((0, 14),),  # state: it is read before it is written
        "1": ((0, 2),),
        "2": ((0, 13),),
        "4": ((1, 10),),  # read later as 5, in another shape
        "5": ((2, 10),),
        "6": ((2, 4),),
        "10": ((3, 5),),
        "12": ((7, 12),),
        "13": ((5, 7),),
        "14": ((6, 12),),  # moved: from then on 12 lies here
        "15": ((9, 12),),
        "18": ((11, 12),),
        "19": ((11, 12),),
        "20": ((11, 14),),
    }
    ties = {(each.buffer, each.base) for each in problem.constraints.colocations}
    assert ties == {("5", "4"), ("15", "14"), ("18", "12"), ("19", "2")}
    assert (problem.pools[0].alignment, problem.name) == (16, "ExecuTorch's own plan: 193 bytes")
    found = plan(problem)
    assert (found.peak, found.status, verify(problem, found)) == (160, "optimal", ())


def called(name: str, *instructions: Fields) -> Fields:
    """Return a method with these instructions, whose only operator has this name."""
    values = [value(64), value(64), value(64, offset=64), value(64, offset=128)]
    return {**method(values, list(instructions), [2], [3]), 6: [{0: name}]}


@pytest.mark.parametrize(
    ("name", "arguments", "kept"),
    [
        ("aten::add.out", (2, 1, 1), False),
        ("aten::add.out", (2, 1, 1, 1), True),
        ("aten::add_", (1, 2, 1), True),
        ("aten::copy_", (1, 2, 1), False),
        ("executorch_prim::et_copy_index.tensor", (1, 2), False),
    ],
)
def test_values_changed_before_they_are_written_are_state(name: str, arguments: tuple[int, ...], kept: bool) -> None:
    found = lives(read(program(called(name, kernel(), kernel(*arguments), kernel(1, 3, 3)))))
    assert found["1"] == (((0, 4),) if kept else ((1, 3),))


def test_a_view_in_another_shape_keeps_its_value_alive() -> None:
    view = called("executorch_prim::et_view.default", kernel(2, 1), kernel(), kernel(1, 3))
    assert lives(read(program(view))) == {"2": ((0, 4),), "1": ((0, 4),), "3": ((2, 4),)}


@pytest.mark.parametrize(("arguments", "live"), [((0, 3, 4), (0, 2)), ((0, 1, 3, 4), (0, 3)), ((5, 3, 4), (0, 3))])
def test_results_in_lists_are_written_and_not_read(arguments: tuple[int, ...], live: tuple[int, int]) -> None:
    """Kernels that split have a list for their results twice: as an argument, and as what they return. What is also given to them is read."""
    values = [value(64), value(32, offset=64), value(32, offset=96), listed(1, 2), listed(1, 2), listed(0, 1)]
    found = lives(read(program(method([*values, value(4, offset=128)], [kernel(*arguments), kernel(3, 6)], [0], [6]))))
    assert (found["1"], found["2"]) == ((live,), ((0, 2),))


@pytest.mark.parametrize(
    ("arguments", "inputs", "ends"),
    [
        ((1, 2), [1], {"2": (1, 3)}),  # a result where nothing was
        ((1, 3), [1], {"3": (1, 3), "1": (0, 2)}),  # a result where an input of the same size was
        (
            (1, 2, 3),
            [1],
            {"2": (1, 3), "3": (1, 3), "1": (0, 2)},
        ),  # two: before the first of them nothing can be a view
        ((1, 3, 2), [1], {"3": (1, 3), "1": (0, 3)}),  # 3 may be 1 in another shape
        ((1, 4, 2), [1], {"4": (1, 3), "1": (0, 2)}),  # of another size it is no other shape
        ((1, 0, 2), [1], {"0": (0, 4), "2": (1, 3)}),  # state is numbered before inputs
        ((0, 1, 5), [1], {"5": (1, 3), "0": (0, 4)}),
        ((1, 6, 2), [1], {"6": (0, 4), "2": (1, 3)}),  # state in another shape
        ((0, 1, 2), [], {"0": (0, 4), "1": (0, 4), "2": (1, 3)}),  # without inputs all but the last may be state
        ((1, 7), [1], {"7": (0, 4)}),  # a name is one of state
    ],
)
def test_what_a_delegate_makes_lives_from_then_on(
    arguments: tuple[int, ...], inputs: list[int], ends: dict[str, tuple[int, int]]
) -> None:
    """Arguments are inputs and results in one list. What may have been there before is taken for an input, but for the last."""
    named = value(64, offset=320)
    named[1][9] = {1: "cache"}
    sizes = ((64, 0), (64, 64), (64, 128), (64, 64), (32, 64), (64, 192), (64, 0))
    values = [*(value(size, offset=at) for size, at in sizes), named, value(4, offset=256)]
    made = method(values, [kernel(), delegate(*arguments), kernel(*(n for n in arguments if n != 1), 8)], inputs, [8])
    found = lives(read(program(made)))
    found["7"] = found.pop("cache", None)
    assert {name: found[name] for name in ends} == {name: (end,) for name, end in ends.items()}


def test_a_network_of_delegates_needs_no_more_than_its_largest_step() -> None:
    """Each delegate's result lies in a place of its own in the file, as ExecuTorch's naive planner has it, and in two in the plan."""
    values = [value(64, offset=64 * i) for i in range(8)]
    problem = read(program(method(values, [delegate(i, i + 1) for i in range(7)], [0], [7])))
    found = plan(problem)
    assert (found.peak, found.status, problem.constraints.colocations) == (128, "optimal", ())


def test_overlapping_values_are_tied_to_the_lowest() -> None:
    values = [value(16, offset=64), value(64, offset=32), value(64)]
    problem = read(program(method(values, [kernel(0, 2), kernel(0, 2, 1)], [0], [1, 2])))
    ties = {(each.buffer, each.base, each.offset) for each in problem.constraints.colocations}
    assert ties == {("0", "2", 64), ("1", "2", 32)}


def test_long_lists_that_are_used_often_are_refused_in_time() -> None:
    values = [value(4), listed(*([0] * 5000))]
    made = program(method(values, [kernel(1, 1)] * 1000, [], []))
    with pytest.raises(BadInput) as caught:
        read(made)
    assert caught.value.findings[0].code == "too_large"


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (program(), "missing_field"),
        (program(method([value(-1)], [], [0], [])), "out_of_range"),
        (program(method([value(4, kind=99)], [], [0], [])), "invalid_value"),
        (program(method([value(4)], [kernel(7)], [0], [])), "out_of_range"),
        (program(method([value(4)], [{0: u8(9), 1: {}}], [0], [])), "invalid_value"),
        (program(method([value(4)], [kernel(0), jump(0, 3)], [0], [])), "out_of_range"),
        (program(method([value(4)], [kernel(0), jump(0, -1)], [0], [])), "out_of_range"),
    ],
)
def test_wrong_programs_are_refused_with_the_place(made: bytes, code: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(made)
    assert caught.value.findings[0].code == code
    assert caught.value.findings[0].pointer.startswith("/execution_plan")


def test_flipped_bits_are_read_or_refused() -> None:
    values = [value(64), value(64), value(16, offset=32), value(64, offset=64), listed(0, 1)]
    data = program(method(values, [kernel(0, 1), kernel(1, 2), kernel(4, 3), jump(2, 0)], [0], [3]))
    refused = 0
    for seed in range(300):
        chance = random.Random(seed)
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            read_problem(bytes(broken), format="executorch")
        except BadInput:
            refused += 1
    assert refused > 30


def test_names_of_tensors_operators_and_steps_are_kept() -> None:
    named = value(64, offset=64)
    named[1][9] = {1: "layer.cache"}
    number = value(8, offset=128)
    number[1][9] = {1: "0"}
    made = {
        **method(
            [value(64), named, number, value(4, 0)], [kernel(0, 1), kernel(1, 2), jump(2, 2), delegate(2)], [0], [2]
        ),
        6: [{0: "aten::relu", 1: "out"}],
        7: [{0: "XnnpackBackend"}],
    }
    data = program(made)
    problem = read(data)
    assert [buffer.id for buffer in problem.buffers] == ["0", "layer.cache", "0'"]
    assert problem.steps == ((0, "aten::relu.out"), (1, "aten::relu.out"), (2, "jump"), (3, "delegate XnnpackBackend"))
    held = of_executorch(Source(data))
    assert held.operators == {"aten::relu.out": 2, "delegate XnnpackBackend": 1}
    assert (held.constants, held.constant_bytes) == (1, 4)


def test_programs_that_break_off_are_refused_with_the_place() -> None:
    """Also where nothing is read that is needed for planning."""
    for length in (*range(8, len(EXPORTED), 11), *range(len(EXPORTED) - 40, len(EXPORTED))):
        with pytest.raises(BadInput) as caught:
            read_problem(EXPORTED[:length], format="executorch")
        finding = caught.value.findings[0]
        assert finding.code in ("out_of_range", "missing_field", "too_large")
        assert "byte" in finding.message or finding.pointer


def with_data(behind: int, *, says: int | None = None, segment: int | None = None) -> bytes:
    """Return a program with so many bytes behind it, of which its header and its segment say how many they are."""
    writer = Writer()
    writer.out = bytearray(40)
    one = method([value(64)], [kernel(0)], [0], [0])
    end = behind if segment is None else segment
    made = bytearray(writer.file({0: u32(0), 1: [one], 4: [{0: Scalar("Q", 0), 1: Scalar("Q", end)}]}, b"ET12"))
    made[8:40] = struct.pack("<4sIQQQ", b"eh00", 32, len(made), len(made), behind if says is None else says)
    return bytes(made) + bytes(behind)


def test_data_behind_the_program_is_all_there() -> None:
    data = with_data(100)
    assert len(read(data).buffers) == 1
    for broken in (
        data[:-1],
        data[:-100],
        with_data(100, says=101),
        with_data(100, segment=101),
        with_data(100, says=1 << 63),
    ):
        with pytest.raises(BadInput, match="and the file has"):
            read(broken)


def test_many_loops_of_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [value(4, offset=16 * i) for i in range(40)]
    made = program(method(values, [each for i in range(40) for each in (kernel(i), jump(i, 2 * i))], [0], [0]))
    assert len(read(made).buffers) == 40
    monkeypatch.setattr(executorch, "MOST_LOOKS", 40 * 39)
    with pytest.raises(BadInput, match="40 values and 40 loops are too many"):
        read(made)


def test_a_tensor_of_very_many_dimensions_is_refused() -> None:
    long = {0: u8(TENSOR), 1: {0: u8(0), 2: [1_000_000] * 1000, 6: {0: u32(1), 1: u32(0)}}}
    with pytest.raises(BadInput, match="has 1000 dimensions, more than 64"):
        read(program(method([long], [kernel(0)], [0], [0])))
