"""`memplan convert` writes models and graphs as programs; what is no program is refused. Problems are converted in test_inspect.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.cli.app import app
from planner import read_problem, read_program
from planner.formats import FORMATS, Format
from tests.planner.formats.models.onnx.models import graph, model, node, value
from tests.planner.formats.models.tflite.test_reading import RESIDUAL
from tests.running.command import CliRunner, Result

MODEL = model(graph([node("Relu", "x", "y")], [value("x", ["n", 4])], [value("y", ["n", 4])]))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)
def test_programs_are_written_of_programs_alone(row: Format, tmp_path: Path) -> None:
    path, out = tmp_path / f"in{row.endings[0]}", tmp_path / "out"
    path.write_bytes(row.document)
    done = run("convert", path, "--to", "graph", "-o", out, "--format", row.name)
    assert (done.exit_code, out.exists()) == ((0, True) if row.program is not None else (2, False))
    if row.program is None:
        assert done.stderr.startswith(f"error: {path}: only models and graphs (graph, tflite, onnx) are")
        assert f"and this is {row.title}: write it in a format of problems" in done.stderr
    else:
        assert done.stderr == ""
        assert read_problem(out.read_bytes())[0] == read_problem(row.document, format=row.name)[0]


def test_the_ending_says_that_a_program_is_written(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(RESIDUAL)
    for name, form in (("x.graph.json", "memplan-graph/2"), ("x.json", "memplan/1"), ("graph.json", "memplan/1")):
        assert run("convert", path, "-o", tmp_path / name).exit_code == 0
        assert json.loads((tmp_path / name).read_bytes())["format"] == form
    printed = run("convert", tmp_path / "x.graph.json", "--to", "graph")
    assert printed.stdout == (tmp_path / "x.graph.json").read_text("utf-8")


def test_settings_shape_the_program(tmp_path: Path) -> None:
    models = {"model.onnx": MODEL, "model.tflite": RESIDUAL}
    for name, data in models.items():
        (tmp_path / name).write_bytes(data)
    onnx = ["convert", tmp_path / "model.onnx", "--to", "graph"]
    written = run(*onnx, "--dim", "n=3", "--in-place", "--alignment", "32")
    file = read_program(written.stdout_bytes)
    assert [tensor.shape for tensor in file.program.functions[0].tensors] == [(3, 4), (3, 4)]
    assert [operator.kind for operator in file.program.functions[0].operators] == ["in_place"]
    assert [pool.alignment for pool in file.pools] == [32]
    for refused, text in (
        (run(*onnx, "--dim", "n=1..3"), "error: --dim: a program has one size for each tensor"),
        (run("convert", tmp_path / "model.tflite", "--to", "graph", "--like", "tflm"), "error: --like: TFLite Micro's"),
    ):
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr.startswith(text)
