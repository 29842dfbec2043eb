"""TFLite Micro's interpreter obeys the offsets written: equal results, bit for bit, in an arena as large as planned."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from api.cli.app import app
from api.cli.commands.files.check_run import document, examined, lines, written
from planner.formats.models.tflite import interpreter
from planner.formats.models.tflite.arena import RECORDS, estimated_tail
from planner.formats.models.tflite.interpreter import is_installed, run_micro
from planner.formats.models.tflite.model import read_model
from planner.formats.models.tflite.write import with_metadata
from planner.model.plan import PlanStatus
from planner.planning.options.options import Options
from tests.planner.formats.models.tflite import files as f
from tests.planner.formats.models.tflite.test_reading import EVERY, MODELS, PEAKS, adding_up, branching
from tests.running.command import CliRunner

OPTIONS = Options(time_limit=60.0)
needs_interpreter = pytest.mark.skipif(not is_installed(), reason="tflite-micro is not installed (memplan[tflm])")
needs_corpus = pytest.mark.skipif(not MODELS.is_dir(), reason="the corpus is not there")
REFUSED = "swiftnet_vww224_uint8"
"""A hybrid model, which TFLite Micro refuses."""


def real(name: str) -> bytes:
    return (MODELS / f"{name}.tflite").read_bytes()


@needs_interpreter
@pytest.mark.parametrize("path", EVERY)
def test_real_models_run_as_planned(path: Path) -> None:
    found = examined(path.read_bytes(), OPTIONS)
    if path.stem not in PEAKS.keys() - {REFUSED} and found.verdict == "not taken by the interpreter":
        return
    assert found.verdict == "as planned", found.after
    assert found.after is not None
    assert found.before is not None
    assert found.after.head == found.plan.peak
    assert found.identical
    assert (found.after.head or 0) <= (found.before.head or 0)
    if not found.tail.unknown:
        assert found.after.tail == pytest.approx(found.tail.size, rel=0.1)


@needs_interpreter
@needs_corpus
def test_the_tail_of_an_audio_front_end_is_as_estimated() -> None:
    found = examined(real("audio_preprocessor_int8"), OPTIONS)
    assert found.after is not None
    assert found.tail.unknown == ()
    assert found.after.tail == pytest.approx(found.tail.size, rel=0.01)


@needs_interpreter
@needs_corpus
def test_a_wrong_plan_is_detected() -> None:
    data = real("kws_ref_model")
    model = read_model(data)
    wrong = with_metadata(model, [0] * model.first_tensors[-1])
    right, spoilt = run_micro((data, wrong), 1 << 20, 60)
    assert right.outputs != spoilt.outputs


@needs_interpreter
@needs_corpus
def test_refusals_of_the_interpreter_are_reported() -> None:
    answer = CliRunner().invoke(app, ["check-run", str(MODELS / f"{REFUSED}.tflite"), "--json"])
    assert answer.exit_code == 4
    report = json.loads(answer.stdout)
    assert report["verdict"] == "not taken by the interpreter"
    assert "Hybrid models are not supported" in report["refusal"]


def float_tensor(name: str, count: int) -> f.Fields:
    return f.tensor(name, [1, count], f.FLOAT32)


@needs_interpreter
def test_offsets_are_counted_through_all_subgraphs() -> None:
    """In a model with a branch, offsets counted within each subgraph would belong to other tensors."""
    arms = [
        f.subgraph(
            [float_tensor("in", 16), float_tensor("mid", 16), float_tensor("out", 16)],
            [0],
            [2],
            [f.operator("NEG", [0], [1]), f.operator(code, [1], [2])],
            code,
        )
        for code in ("NEG", "RELU")
    ]
    main = f.subgraph(
        [f.tensor("c", [1], f.BOOL), float_tensor("x", 16), float_tensor("m", 16), float_tensor("y", 16)],
        [0, 1],
        [3],
        [f.operator("RELU", [1], [2]), f.operator("IF", [0, 2], [3], 1, 2)],
    )
    data = f.model(main, *arms)
    found = examined(data, OPTIONS)
    assert found.verdict == "as planned", found.after
    model = read_model(data)
    apart = [256 * i for i in range(model.first_tensors[-1])]
    (ran,) = run_micro((with_metadata(model, apart),), 1 << 16, 60)
    assert ran.head == apart[-1] + 64
    assert found.before is not None
    assert ran.outputs == found.before.outputs


def count(name: str, data: int = 0) -> f.Fields:
    return f.tensor(name, [1], f.INT32, data=data)


def until(turns: str, carried: list[f.Fields], body: f.Fields, main: f.Fields) -> bytes:
    """Return a model whose loop counts up to a constant: buffers 1 to 3 hold 0, 1 and 5."""
    test = [count("i"), *carried, count("turns", {"none": 1, "five": 3}[turns]), f.tensor("on", [1], f.BOOL)]
    size = len(carried)
    condition = f.subgraph(
        test, [*range(size + 1)], [size + 2], [f.operator("LESS", [0, size + 1], [size + 2])], "condition"
    )
    numbers = [struct.pack("<i", number) for number in (0, 1, 5)]
    return f.model(main, condition, body, buffers=[b"", *numbers])


def negating() -> f.Fields:
    """Return a loop's body that negates its value twice."""
    return f.subgraph(
        [count("i"), float_tensor("a", 16), count("one", 2), count("next"), *(float_tensor(n, 16) for n in "bc")],
        [0, 1],
        [3, 5],
        [f.operator("ADD", [0, 2], [3]), f.operator("NEG", [1], [4]), f.operator("NEG", [4], [5])],
        "body",
    )


def loop(turns: str) -> bytes:
    """Return a model with a loop that computes its carried value anew in each turn."""
    x = [float_tensor(name, 16) for name in ("x", "y", "before")]
    main = f.subgraph(
        [count("i", 1), x[0], count("last"), *x[1:]],
        [1],
        [3],
        [f.operator("RELU", [1], [4]), f.operator("WHILE", [0, 4], [2, 3], 1, 2)],
    )
    return until(turns, [float_tensor("x", 16)], negating(), main)


def swapping() -> bytes:
    """Return a model with a loop that passes one carried value on as the other."""
    main = f.subgraph(
        [count("i", 1), *(float_tensor(n, 16) for n in "xy"), count("last"), *(float_tensor(n, 16) for n in "uvz")],
        [1, 2],
        [6],
        [f.operator("WHILE", [0, 1, 2], [3, 4, 5], 1, 2), f.operator("SUB", [4, 5], [6])],
    )
    body = f.subgraph(
        [count("i"), *(float_tensor(n, 16) for n in "ab"), count("one", 2), count("next"), float_tensor("c", 16)],
        [0, 1, 2],
        [4, 2, 5],
        [f.operator("ADD", [0, 3], [4]), f.operator("NEG", [1], [5])],
        "body",
    )
    return until("five", [float_tensor("x", 16), float_tensor("y", 16)], body, main)


def twice() -> bytes:
    """Return a model with two loops, one after the other."""
    main = f.subgraph(
        [count("i", 1), float_tensor("x", 16), count("j"), float_tensor("y", 16), count("k"), float_tensor("z", 16)],
        [1],
        [5],
        [f.operator("WHILE", [0, 1], [2, 3], 1, 2), f.operator("WHILE", [0, 3], [4, 5], 1, 2)],
    )
    return until("five", [float_tensor("x", 16)], negating(), main)


@needs_interpreter
@pytest.mark.parametrize(
    "data",
    [loop("five"), loop("none"), swapping(), twice(), adding_up(16), adding_up(64)],
    ids=["loop", "no turn", "swapping", "two loops", "state", "more state"],
)
def test_loops_and_state_run_as_planned_and_the_tail_is_as_estimated(data: bytes) -> None:
    found = examined(data, OPTIONS)
    assert found.verdict == "as planned", found.after
    assert found.before is not None
    assert found.before.head is not None
    assert found.before.tail == pytest.approx(found.tail.size, rel=0.05)
    assert found.tail.unknown == ()
    assert (found.plan.peak or 0) <= found.before.head


@needs_interpreter
def test_a_planner_that_knows_when_loops_run_needs_less() -> None:
    found = examined(twice(), OPTIONS)
    assert found.before is not None
    assert (found.before.head, found.plan.peak) == (464, 288)


@needs_interpreter
def test_scratch_memory_of_kernels_has_the_stated_size() -> None:
    tensors = [
        *(f.tensor("x", [1, 4, 4, 8], f.FLOAT32), f.tensor("axes", [2], f.INT32, data=1)),
        *(f.tensor("mean", [1, 1, 1, 8], f.FLOAT32), f.tensor("sum", [1, 1, 1, 8], f.FLOAT32)),
    ]
    operators = [f.operator("MEAN", [0, 1], [2]), f.operator("ADD_N", [2, 2, 2, 2], [3])]
    axes = struct.pack("<2i", 1, 2)
    for operator, result, size in ((operators[:1], 2, 512 + 32 + 2 * 16), (operators, 3, 512 + 32 + 2 * 16)):
        found = examined(
            f.model(f.subgraph(tensors[: result + 1], [0], [result], operator), buffers=[b"", axes]), OPTIONS
        )
        assert found.verdict == "as planned", found.after
        assert found.plan.peak == size


@needs_interpreter
def test_unused_tensors_get_memory() -> None:
    data = f.model(
        f.subgraph(
            [float_tensor("x", 8), float_tensor("idle", 4096), float_tensor("y", 8)],
            [0],
            [2],
            [f.operator("RELU", [0], [2])],
        )
    )
    found = examined(data, OPTIONS)
    assert found.plan.peak == 4 * 4096
    assert found.verdict == "as planned", found.after


@needs_interpreter
def test_the_command_writes_the_model_it_ran(tmp_path: Path) -> None:
    data = f.model(f.subgraph([float_tensor("x", 8), float_tensor("y", 8)], [0], [1], [f.operator("RELU", [0], [1])]))
    (tmp_path / "m.tflite").write_bytes(data)
    command = ["check-run", str(tmp_path / "m.tflite"), "-o", str(tmp_path / "out.tflite")]
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["outputs_identical"] is True
    assert (tmp_path / "out.tflite").read_bytes() == written(
        read_model(data), examined(data, OPTIONS, estimate=True).plan
    )
    again = CliRunner().invoke(app, ["check-run", str(tmp_path / "out.tflite")])
    assert json.loads(again.stdout)["verdict"] == "as planned"


def test_without_an_interpreter_the_refusal_says_how_to_install_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(branching())
    monkeypatch.setattr(interpreter, "is_installed", lambda: False)
    monkeypatch.setattr("api.cli.commands.files.check_run.is_installed", lambda: False)
    answer = CliRunner().invoke(app, ["check-run", str(path)])
    assert answer.exit_code == 2
    assert "pip install 'memplan[tflm]'" in answer.stderr
    answer = CliRunner().invoke(app, ["check-run", str(path), "--estimate"])
    assert answer.exit_code == 0
    report = json.loads(answer.stdout)
    assert report["verdict"] == "estimated"
    tail = estimated_tail(read_model(branching())).size
    assert report["arena"]["estimated"] == report["head"]["planned"] + tail
    small = estimated_tail(read_model(branching()), 32).size
    assert report["arena"]["estimated_32_bit"] == report["head"]["planned"] + small
    assert tail / 3 < small == report["tail"]["estimated_32_bit"] < tail


def test_the_report_is_readable_by_people(monkeypatch: pytest.MonkeyPatch) -> None:
    custom = f.model(f.subgraph([float_tensor("x", 8), float_tensor("y", 8)], [0], [1], [f.operator("FFT", [0], [1])]))
    found = examined(custom, OPTIONS, estimate=True)
    told = lines("m.tflite", found)
    assert told[0] == "m.tflite: estimated (optimal)"
    assert told[-1].startswith("  not counted in the estimates, since nothing is known of their kernels: ")
    unproven = replace(found, plan=replace(found.plan, status=PlanStatus.FEASIBLE, bound=1000, peak=2000))
    assert lines("m.tflite", unproven)[0] == "m.tflite: estimated (feasible, no plan below 1 000)"
    none = replace(found, plan=replace(found.plan, status=PlanStatus.UNKNOWN, peak=None))
    assert document("m.tflite", none)["arena"]["estimated"] is None


STRUCTS = """
#define POINTER void*
typedef __SIZE_TYPE__ word;
struct eval_tensor {POINTER data; POINTER dims; int type;};
struct tensor {struct {int type; POINTER params;} quantization; struct {float scale; int zero_point;} params; POINTER data;
               POINTER dims; word bytes; int type; int allocation; _Bool is_variable;};
struct node {POINTER inputs; POINTER outputs; POINTER intermediates; POINTER user; POINTER builtin; const void* custom;
             int custom_size; POINTER registration;};
struct handle {POINTER data;};
struct quantisation {POINTER scale; POINTER zero_point; int dimension;};
_Static_assert(sizeof(struct eval_tensor) == %d && sizeof(struct tensor) == %d && sizeof(struct node) == %d &&
               sizeof(struct handle) == %d && sizeof(struct quantisation) == %d, "records");
"""
"""The fields of TFLite Micro's records, as its headers name them (TF_LITE_STATIC_MEMORY)."""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("bits", [64, 32])
def test_records_are_as_large_as_a_compiler_makes_them(bits: int) -> None:
    command = ["gcc", f"-m{bits}", "-ffreestanding", "-x", "c", "-c", "-o", os.devnull, "-"]
    if subprocess.run(command, input=b"int x;", capture_output=True, check=False).returncode:
        pytest.skip(f"this gcc does not compile for {bits} bits")
    sizes = RECORDS[bits][1:]
    assert subprocess.run(command, input=(STRUCTS % sizes).encode(), capture_output=True, check=False).returncode == 0
    wrong = (sizes[0] + 1, *sizes[1:])
    assert subprocess.run(command, input=(STRUCTS % wrong).encode(), capture_output=True, check=False).returncode != 0


def test_damaged_models_are_refused_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(branching()[:200] + struct.pack("<I", 0xFFFFFFF0) * 20)
    answer = CliRunner().invoke(app, ["check-run", str(path), "--estimate"])
    assert answer.exit_code == 2
    assert "at byte" in answer.stderr


def options(**given: int) -> bytes:
    """Return the options of a custom operator."""
    from flatbuffers import flexbuffers

    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in sorted(given.items()):
            builder.Key(name)
            builder.Int(value)
    return bytes(builder.Finish())


INT16, NUMBER_OF_INT16 = 7, 7


@needs_interpreter
@pytest.mark.parametrize(("rows", "length"), [(1, 512), (3, 64)])
def test_transforms_take_what_is_said_of_them(rows: int, length: int) -> None:
    tensors = [f.tensor("x", [rows, length], INT16), f.tensor("y", [rows, length + 2], INT16)]
    transform = {1: [0], 2: [1], 5: options(T=NUMBER_OF_INT16, fft_length=length)}
    found = examined(f.model(f.subgraph(tensors, [0], [1], [("SignalRfft", transform)])), OPTIONS)
    assert found.verdict == "as planned", found.after
    assert found.before is not None
    assert found.before.tail is not None
    assert abs(found.tail.size - found.before.tail) <= 64
    (scratch,) = [each for each in found.problem.buffers if each.kind == "scratch"]
    assert scratch.size == 2 * length
