"""The networks of the gallery are sound ONNX models, and their plans have the figures of docs/gallery.md."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import planner

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "gallery.md").read_text("utf-8")


def networks() -> ModuleType:
    pytest.importorskip("onnx")
    spec = importlib.util.spec_from_file_location("networks", ROOT / "examples" / "gallery" / "networks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_network_is_sound_and_planned_to_its_figures() -> None:
    from onnx.shape_inference import infer_shapes

    rows = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| [A-Z].* \| \d", line)]
    built = networks().NETWORKS
    assert len(rows) == len(built) == 8
    for row, (name, build) in zip(rows, built.items(), strict=True):
        model = build()
        inferred = infer_shapes(model, check_type=True, strict_mode=True).graph
        shapes = {
            each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim]
            for each in (*inferred.value_info, *inferred.output, *inferred.input)
        }
        data = model.SerializeToString()
        problem, warnings = planner.read_problem(data, name=f"{name}.onnx")
        assert not warnings
        assert row[0] == f"| {model.graph.name}"
        figures = [int(re.sub(r"\D.*", "", cell.replace(" ", ""))) for cell in row[1:8]]
        operators, tensors, total, worst, best, peak, bound = figures
        assert (operators, tensors) == (len(model.graph.node), len(problem.buffers))
        assert total == sum(buffer.size for buffer in problem.buffers)
        assert {buffer.id for buffer in problem.buffers} <= shapes.keys()
        made = planner.plan(problem, planner.Options(workers=1))
        assert (made.peak, made.bound, str(made.status)) == (peak, bound, "optimal")
        assert peak <= best <= worst
        assert (ROOT / "docs" / "pictures" / "gallery" / f"{name}.svg").exists()
        within, _ = planner.read_problem(data, format="onnx:in_place")
        assert planner.plan(within, planner.Options(workers=1)).peak == int(row[9].rstrip(" |").replace(" ", ""))
