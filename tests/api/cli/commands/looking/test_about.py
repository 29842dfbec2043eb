"""`memplan schema`, `solvers`, `doctor` and `export-model`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import planner
from api.cli.app import app
from api.cli.commands.looking import doctor
from api.cli.commands.looking.doctor import Check
from solvers.model import registry
from tests.running.command import CliRunner, run, run_on_terminal


def test_the_schema_is_json() -> None:
    done = run("schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["type"] == "object"


def test_every_solver_is_listed() -> None:
    done = run("solvers")
    assert done.returncode == 0
    listed = json.loads(done.stdout)["solvers"]
    assert set(registry.names()) <= {entry["name"] for entry in listed}
    assert all(entry["available"] == (entry["reason"] is None) for entry in listed)
    assert all(entry["summary"] and entry["kind"] for entry in listed)


def test_solvers_are_listed_on_a_terminal() -> None:
    code, text = run_on_terminal("solvers", env={"NO_COLOR": "1"})
    assert code == 0
    for name in registry.names():
        assert name in text


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_the_doctor_s_exit_code_reports_faults(ok: bool, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [Check("Python", True, "3.11"), Check("kernels", ok, "slow", "install a compiler")]
    monkeypatch.setattr(doctor, "run", lambda: checks)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == code
    answer = json.loads(result.stdout)
    assert answer["ok"] is ok
    assert answer["checks"][1] == {"name": "kernels", "ok": ok, "detail": "slow", "remedy": "install a compiler"}


def test_the_doctor_s_findings_are_listed_on_a_terminal() -> None:
    _, text = run_on_terminal("doctor", env={"NO_COLOR": "1"})
    for check in ("Python", "kernels", "CBC"):
        assert check in text


@pytest.fixture
def problem(tmp_path: Path) -> str:
    path = tmp_path / "problem.json"
    buffers = [{"id": i, "size": 64, "live": [[0, 2]]} for i in range(3)]
    content = {"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers}
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "extra", "chosen"),
    [
        ("model.lp", [], "lp"),
        ("model.MPS", [], "mps"),
        ("model.pbtxt", [], "cpsat"),
        ("model", ["--as", "mps"], "mps"),
        ("m.lp", ["--as", "mps"], "mps"),
    ],
)
def test_the_format_of_the_model_is_chosen(
    name: str, extra: list[str], chosen: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "export_model", lambda problem, form, plain: f"as {form}", raising=False)
    target = tmp_path / name
    result = CliRunner().invoke(app, ["export-model", problem, "-o", str(target), *extra])
    assert result.exit_code == 0
    assert target.read_text(encoding="utf-8") == f"as {chosen}"


def test_a_model_can_go_through_a_pipe(problem: str) -> None:
    done = run("export-model", problem, "-o", "-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Minimize" in done.stdout


def test_the_model_does_not_overwrite_the_problem(problem: str) -> None:
    done = run("export-model", problem, "-o", problem, "--as", "lp")
    assert done.returncode == 2
    assert b"it is the input" in done.stderr
