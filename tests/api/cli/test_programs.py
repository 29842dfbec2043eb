"""The command plans programs, models too, in one arena or in nested ones, draws them, and refuses bad ones with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.cli.app import app
from planner import Options, Plan, Problem, plan
from tests.planner.formats.models.onnx.models import BOOL, INT64, graph, model, node, tensor, value
from tests.planner.formats.models.tflite import files as f
from tests.planner.formats.models.tflite.test_given import compiled
from tests.planner.formats.models.tflite.test_reading import branching, looping
from tests.running.command import CliRunner

LOOP = Path(__file__).parents[3] / "examples" / "loop.json"


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*arguments])
    return result.exit_code, result.stdout, result.stderr


def test_one_arena_needs_less_than_one_for_each_function() -> None:
    code, shown, _ = run("plan", str(LOOP))
    assert (code, json.loads(shown)["peak"], json.loads(shown)["bound"]) == (0, 18432, 18432)
    code, shown, _ = run("plan", str(LOOP), "--arenas", "nested")
    nested = json.loads(shown)
    assert (code, nested["format"], nested["peak"]) == (0, "memplan-nested/1", 22528)
    assert [(arena["function"], arena["plan"]["peak"]) for arena in nested["arenas"]] == [
        ("block", 10240),
        ("main", 22528),
    ]


def test_nested_plans_are_written_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "nested.json"
    assert run("plan", str(LOOP), "--arenas", "nested", "-o", str(out)) == (0, "", "")
    assert json.loads(out.read_bytes())["peak"] == 22528


def test_a_capacity_holds_for_nested_arenas_too() -> None:
    code, shown, _ = run("plan", str(LOOP), "--arenas", "nested", "--capacity", "20000", "--json")
    assert (code, json.loads(shown)["peak"]) == (3, None)


def test_nested_arenas_share_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Options] = []

    def plan_within(problem: Problem, options: Options, **_: object) -> Plan:
        given.append(options)
        return plan(problem, options)

    monkeypatch.setattr("planner.planning.placing.shared_limits.plan", plan_within)
    run("plan", str(LOOP), "--arenas", "nested", "--time-limit", "60", "--work-limit", "9000")
    assert [options.work_limit for options in given] == [3000, 3000]  # the third share is the state's
    left = [options.time_limit or 0 for options in given]
    assert left[0] <= 20
    assert left[1] <= 30


@pytest.mark.parametrize("more", [["--report", "full"], ["--explain"]])
def test_options_unfit_for_nested_arenas_are_refused(more: list[str]) -> None:
    code, _, errors = run("plan", str(LOOP), "--arenas", "nested", *more)
    assert code == 2
    assert "--arenas" in errors


def test_nested_arenas_of_a_problem_are_refused() -> None:
    path = str(LOOP.with_name("three.json"))
    code, _, errors = run("plan", path, "--arenas", "nested")
    assert code == 2
    assert f"{path}: only models and graphs (graph, tflite, onnx) are programs, and this is memplan/1 JSON" in errors


def onnx_loop() -> bytes:
    """Return a model of a loop whose turn makes something large and small again; its rows are open."""
    body = graph(
        [node("MatMul", "h w", "large"), node("MatMul", "large v", "next"), node("Identity", "go", "on")],
        [value("i", [], INT64), value("go", [], BOOL), value("h", ["rows", 16])],
        [value("on", [], BOOL), value("next", ["rows", 16])],
    )
    nodes = [node("Relu", "x", "h0"), node("Loop", "m - h0", "y", body=("graph", body)), node("Relu", "y", "z")]
    given = [value("x", ["rows", 16]), value("w", [16, 256]), value("v", [256, 16])]
    return model(graph(nodes, given, [value("z", ["rows", 16])], [tensor("m", [5], [])]))


def doubling(count: int) -> bytes:
    """Return a model in which each subgraph runs the next one twice."""

    tensors = [f.tensor(name, [8]) for name in "xyz"]
    runs = [[f.operator("STABLEHLO_COMPOSITE", [k], [k + 1], i) for k in (0, 1)] for i in range(1, count)]
    runs.append([f.operator("NEG", [k], [k + 1]) for k in (0, 1)])
    return f.model(*(f.subgraph(tensors, [0], [2], run, f"f{i}") for i, run in enumerate(runs)))


MODELS: dict[str, tuple[str, bytes, tuple[str, ...], int]] = {
    "loop": ("l.tflite", looping(), (), 5),
    "aligned": ("l.tflite", looping(), ("--alignment", "64", "--in-place"), 5),
    "branch": ("b.tflite", branching(), (), 3),
    "onnx": ("l.onnx", onnx_loop(), ("--dim", "rows=4"), 2),
    "onnx in place": ("l.onnx", onnx_loop(), ("--dim", "rows=4", "--in-place", "--alignment", "256"), 2),
}
"""The file, the settings of its format, and how many arenas there are."""


@pytest.mark.parametrize("name", MODELS)
def test_models_have_nested_arenas_as_the_programs_that_are_written_of_them(tmp_path: Path, name: str) -> None:
    file, data, settings, arenas = MODELS[name]
    path, written = tmp_path / file, str(tmp_path / "made.graph.json")
    path.write_bytes(data)
    nested, picture = str(tmp_path / "nested.json"), tmp_path / "nested.svg"
    given = (str(path), *settings)
    assert run("plan", *given, "--arenas", "nested", "-o", nested) == (0, "", "")
    code, shown, _ = run("verify", *given, nested)
    assert (code, json.loads(shown)["findings"]) == (0, [])
    assert run("draw", *given, nested, "-o", str(picture))[0] == 0
    assert run("write", *given, nested, "--as", "csv", "-o", "-")[1].count("\n") == 1 + arenas
    assert run("convert", *given, "--to", "graph", "-o", written)[0] == 0
    found = json.loads(Path(nested).read_bytes())
    of_graph = json.loads(run("plan", written, "--arenas", "nested")[1])
    assert [(each["function"], each["plan"]["placements"]) for each in found["arenas"]] == [
        (each["function"], each["plan"]["placements"]) for each in of_graph["arenas"]
    ]
    assert (len(found["arenas"]), found["peak"]) == (arenas, of_graph["peak"])
    assert found["peak"] >= json.loads(run("plan", *given)[1])["peak"]
    assert picture.read_text("utf-8").count("<title>") > arenas


@pytest.mark.parametrize(
    ("file", "data", "settings", "place"),
    [
        ("l.tflite", looping(), ["--like", "tflm"], "--like: "),
        ("l.onnx", onnx_loop(), ["--dim", "rows=1..4"], "--dim: "),
        ("l.tflite", compiled(), [], "/subgraphs/0/tensors/"),
        ("l.tflite", doubling(20), [], "/subgraphs/"),
    ],
)
def test_models_that_have_no_nested_arenas_are_refused_with_their_place(
    tmp_path: Path, file: str, data: bytes, settings: list[str], place: str
) -> None:
    path, nested = tmp_path / file, tmp_path / "nested.json"
    path.write_bytes(data)
    nested.write_bytes(b'{"format": "memplan-nested/1", "peak": null, "arenas": []}')
    for command in (["plan", str(path), "--arenas", "nested"], ["verify", str(path), str(nested)]):
        code, _, errors = run(*command, *settings)
        assert code == 2
        assert place in errors
        assert str(nested) not in errors


def test_what_the_reader_of_a_model_warns_of_is_in_its_nested_plan(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = [node("NonZero", "x", "y"), node("Relu", "y", "z")]
    path.write_bytes(model(graph(nodes, [value("x", [8])], [value("z", None)])))
    code, shown, errors = run("plan", str(path), "--arenas", "nested")
    assert code == 0
    (warning,) = json.loads(shown)["warnings"]
    assert warning in errors


def test_pictures_name_the_steps(tmp_path: Path) -> None:
    plan, picture = tmp_path / "plan.json", tmp_path / "map.svg"
    assert run("plan", str(LOOP), "-o", str(plan))[0] == 0
    assert run("draw", str(LOOP), str(plan), "-o", str(picture))[0] == 0
    assert "0 conv" in picture.read_text("utf-8")
