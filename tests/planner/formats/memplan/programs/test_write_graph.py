"""Programs are written, and read again as they were: made-up ones, those in files, and models."""

from __future__ import annotations

import json
import random
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from planner import read_model, read_problem, read_program, write_program
from planner.formats import FORMATS
from planner.formats.memplan.programs import graph_wire as w
from planner.graph import Function, GraphOptions, OperatorKind, Program, Tensor, Workspace, program_problem
from planner.graph.problem import DEFAULT_POOLS, ProgramFile
from planner.model.errors import BadInput
from planner.model.problem import Pool, Speed
from tests.conftest import ROOT
from tests.planner.formats.models.onnx.models import INT64, graph, model, node, value
from tests.planner.formats.models.onnx.test_corpus import LIGHT, SMALL
from tests.planner.formats.models.tflite import files as f
from tests.planner.formats.models.tflite.test_given import compiled
from tests.planner.formats.models.tflite.test_reading import EVERY, RESIDUAL, adding_up, branching, looping
from tests.planner.graph.random_programs import random_program
from tests.planner.graph.test_programs_run import RUNS, refused_as_written_while_lent

POOLS = (
    Pool("sram", 1 << 20, 8, base=1 << 30, reserved=((0, 16),)),
    Pool("dram", None, 4, cost=3, rank=5, speed=Speed(10**9, 8, 4)),
)
DEVICES = {"npu": ("sram",), "cpu": ("dram", "sram")}
PROGRAMS = sorted(path for path in (ROOT / "examples").rglob("*.json") if b'"memplan-graph/' in path.read_bytes())


def decorated(program: Program, chance: random.Random) -> ProgramFile:
    """Return the program with names, memories, devices and options, which random programs do not have."""

    def tensor(each: Tensor) -> Tensor:
        device = chance.choice((None, *DEVICES)) if each.items is None else None
        return replace(each, device=device, pools=chance.choice((None, ("sram",))) if device else None)

    def function(each: Function) -> Function:
        named = (
            replace(
                operator,
                name=chance.choice((None, f'{operator.kind} {i} \u00e9\\"\n')),
                workspaces=tuple(replace(space, pools=("dram",)) for space in operator.workspaces),
            )
            for i, operator in enumerate(each.operators)
        )
        return replace(each, tensors=tuple(map(tensor, each.tensors)), operators=tuple(named))

    made = replace(
        program,
        functions=tuple(map(function, program.functions)),
        tensors=tuple(map(tensor, program.tensors)),
        devices=DEVICES,
        name=chance.choice((None, "made up")),
    )
    options = GraphOptions(
        chance.random() < 0.5,
        chance.random() < 0.5,
        chance.random() < 0.5,
        chance.choice((0, 2)),
        chance.choice((1, 8)),
        chance.choice((None, "dram")),
    )
    return ProgramFile(made, POOLS, options)


def written_again(file: ProgramFile) -> bytes:
    """Return what is written, after checking that it says the same."""
    written = write_program(*file)
    again = read_program(written)
    assert again == file
    assert write_program(*again) == written
    return written


def test_random_programs_are_read_as_they_were_written() -> None:
    kinds, planned = set(), 0
    for seed in range(RUNS):
        program = random_program(seed)
        for file in (ProgramFile(program), decorated(program, random.Random(seed))):
            written = written_again(file)
            kinds |= {operator.kind for function in program.functions for operator in function.operators}
            try:
                made = program_problem(*file).problem
            except BadInput as error:
                assert refused_as_written_while_lent(error)  # noqa: PT017 - programs are sound otherwise
                continue
            assert read_problem(written)[0] == made
            planned += 1
    assert planned > RUNS
    assert kinds >= {OperatorKind.CALL, OperatorKind.BRANCH, OperatorKind.LOOP, OperatorKind.TUPLE, OperatorKind.ITEM}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_in_files_are_written_as_they_are(path: Path) -> None:
    data = path.read_bytes()
    assert read_problem(written_again(read_program(data))) == read_problem(data)


def test_a_graph_is_written_as_a_program_that_gives_back_its_outputs() -> None:
    tensors = [{"id": 1, "shape": [8], "kind": "input"}, {"id": "1'", "shape": [8], "is_output": True}]
    operators = [{"kind": "in_place", "inputs": [1], "outputs": ["1'"]}]
    data = json.dumps({"format": "memplan-graph/1", "tensors": tensors, "operators": operators}).encode()
    written = written_again(read_program(data))
    assert json.loads(written) == {
        "format": "memplan-graph/2",
        "functions": [
            {
                "name": "main",
                "inputs": [1],
                "outputs": ["1'"],
                "tensors": [tensors[0], {"id": "1'", "shape": [8]}],
                "operators": operators,
            }
        ],
        "entries": ["main"],
    }
    assert read_problem(written) == read_problem(data)


@pytest.mark.parametrize(
    ("wire", "kind", "apart"),
    [
        (w.TensorWire, Tensor, {"is_output"}),  # a function's outputs say it
        (w.WorkspaceWire, Workspace, set()),
        (w.FunctionWire, Function, set()),
        (w.OptionsWire, GraphOptions, set()),
        (w.ProgramWire, Program, {"format", "pools", "options"}),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_the_file_has_a_field_for_all_that_a_program_says(wire: Any, kind: Any, apart: set[str]) -> None:
    assert wire.__annotations__.keys() ^ {field.name for field in fields(kind)} == apart


def same_problem(data: bytes, form: str) -> None:
    """Check that the model's problem is that of the program which is written for it."""
    file, warnings = read_model(data, format=form)
    problem, own_warnings = read_problem(data, format=form)
    assert warnings == own_warnings
    assert read_problem(written_again(file))[0] == problem


MODELS = {"two": f.two(), "residual": RESIDUAL, "branching": branching(), "looping": looping(), "state": adding_up(8)}


@pytest.mark.parametrize("setting", ["", ":in_place", ":alignment=48", ":in_place,alignment=4"])
@pytest.mark.parametrize("name", MODELS)
def test_small_models_have_the_problems_of_their_programs(name: str, setting: str) -> None:
    same_problem(MODELS[name], f"tflite{setting}")


@pytest.mark.parametrize("path", EVERY)
def test_real_models_have_the_problems_of_their_programs(path: Path) -> None:
    for setting in ("", ":in_place"):
        try:
            read_model(path.read_bytes(), format=f"tflite{setting}")
        except BadInput:  # a model that only TFLite Micro runs, or none
            with pytest.raises(BadInput):
                read_problem(path.read_bytes(), format="tflite:in_place")
        else:
            same_problem(path.read_bytes(), f"tflite{setting}")


@pytest.mark.parametrize("setting", ["", ":in_place", ":in_place,alignment=16"])
def test_models_of_onnx_have_the_problems_of_their_programs(setting: str) -> None:
    same = 0
    for path in (*LIGHT, *SMALL):
        try:
            read_model(path.read_bytes(), format=f"onnx{setting}")
        except BadInput:  # which test_corpus.py looks at
            continue
        same_problem(path.read_bytes(), f"onnx{setting}")
        same += 1
    assert same > 50


def refusal(data: bytes, form: str | None = None) -> tuple[str, str, str]:
    with pytest.raises(BadInput) as caught:
        read_model(data, format=form)
    (finding,) = caught.value.findings
    return finding.code.value, finding.pointer, finding.message


OPEN = model(graph([node("Relu", "x", "y")], [value("x", ["n", 4], INT64)], [value("y", ["n", 4], INT64)]))


@pytest.mark.parametrize(
    ("data", "form", "code", "place", "text"),
    [
        (
            f.two(),
            "tflite:like=tflm",
            "invalid_option",
            "/options/like",
            "leave out like=tflm, or write it in a format of problems",
        ),
        (compiled(), "tflite", "unsupported", "/subgraphs/0/tensors/", "so that no program says them"),
        (OPEN, "onnx:dim=n=1..16", "invalid_option", "/options/dim", "'n' is from 1 to 16: give dim n=16"),
        (FORMATS["memplan"].document, None, "unknown_format", "", "this is memplan/1 JSON: write it in a format of"),
        (FORMATS["cascade"].document, None, "unknown_format", "", "only models and graphs (graph, tflite, onnx)"),
    ],
)
def test_what_no_program_says_is_refused_with_its_place(
    data: bytes, form: str | None, code: str, place: str, text: str
) -> None:
    found = refusal(data, form)
    assert found[0] == code
    assert found[1].startswith(place)
    assert text in found[2].replace('"', "'")


def test_a_dimension_of_one_size_is_that_of_the_program() -> None:
    file, _ = read_model(OPEN, format="onnx:dim=n=5")
    assert [tensor.shape for tensor in file.program.functions[0].tensors] == [(5, 4), (5, 4)]
    assert file.pools == (Pool("arena", alignment=64),)


def test_faults_of_models_are_told_as_the_reader_tells_them() -> None:
    """The program's second function is the file's third: nothing runs the one between."""
    tensors, once = [f.tensor("x", [8]), f.tensor("y", [8])], f.operator("NEG", [0], [1])
    main, idle, twice = (
        f.subgraph(tensors, [0], [1], [once] * times, name) for name, times in (("main", 1), ("idle", 1), ("twice", 2))
    )
    data, refused = f.model(main, idle, twice, field7=[{4: f.u32(2)}]), []
    for reader in (read_model, read_problem):
        with pytest.raises(BadInput) as caught:
            reader(data, format="tflite")
        refused.append(caught.value.findings)
    assert refused[0] == refused[1]
    assert refused[0][0].pointer.startswith("/subgraphs/2/operators/1")


def test_the_usual_memory_is_not_written() -> None:
    written = write_program(random_program(1), DEFAULT_POOLS)
    assert b'"pools"' not in written
    assert written == write_program(random_program(1))
