"""The networks of the gallery are sound ONNX models that load by themselves; their plans have the figures and pictures of docs/gallery.md."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import planner

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "gallery.md").read_text("utf-8")


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return examples/gallery/make.py."""
    pytest.importorskip("onnx")
    monkeypatch.setattr(sys, "path", [str(ROOT / "examples" / "gallery"), *sys.path])
    return importlib.import_module("make")


def test_each_network_is_sound_and_planned_to_its_figures_and_its_picture(make: ModuleType, tmp_path: Path) -> None:
    import onnx

    rows = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| [A-Z].* \| \d", line)]
    assert len(rows) == len(make.NETWORKS) == 8
    for row, (name, build) in zip(rows, make.NETWORKS.items(), strict=True):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(build().SerializeToString())
        model = onnx.load(path)
        onnx.checker.check_model(model)
        shapes = {each.name for each in (*model.graph.value_info, *model.graph.output, *model.graph.input)}
        problem, warnings = planner.read_problem(path.read_bytes(), name=path.name)
        assert not warnings
        assert row[0] == f"| {model.graph.name}"
        figures = [int(re.sub(r"\D.*", "", cell.replace(" ", ""))) for cell in row[1:8]]
        operators, tensors, total, worst, best, peak, bound = figures
        assert (operators, tensors) == (len(model.graph.node), len(problem.buffers))
        assert total == sum(buffer.size for buffer in problem.buffers)
        assert {buffer.id for buffer in problem.buffers} <= shapes
        made = planner.plan(problem, planner.Options(workers=1))
        assert (made.peak, made.bound, str(made.status)) == (peak, bound, "optimal")
        assert peak <= best <= worst
        shown = (ROOT / "docs" / "pictures" / "gallery" / f"{name}.svg").read_bytes()
        assert make.picture(problem, made) == shown, "old: examples/gallery/make.py makes it again"
        within, _ = planner.read_problem(path.read_bytes(), format="onnx:in_place")
        assert planner.plan(within, planner.Options(workers=1)).peak == int(row[9].rstrip(" |").replace(" ", ""))
