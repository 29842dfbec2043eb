"""`memplan plan --proof` writes a proof and `memplan verify --proof` replays it; a message says why there is none."""

from __future__ import annotations

import gzip
import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.cli.app import app
from planner import Buffer, NoProof, Plan, PlanProof, Pool, Problem, read_plan, write_problem
from solvers.model.instance import Term
from tests.running.command import CliRunner, run, run_on_terminal

TIGHT = Problem(
    tuple(
        Buffer(n, size, alignment=step, live=((0, 2),))
        for n, (size, step) in enumerate(((6, 4), (5, 4), (7, 4), (3, 2)))
    ),
    (Pool("p"),),
)
"""A problem whose least peak is above the sum of sizes, because alignment leaves gaps."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proof")
    (folder / "problem.json").write_bytes(write_problem(TIGHT))
    for name in ("proof", "proof.gz"):
        done = run("plan", str(folder / "problem.json"), "-o", str(folder / "plan.json"), "--proof", str(folder / name))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return folder


def verify(folder: Path, proof: str, *more: str, given: bytes | None = None) -> tuple[int, Any]:
    files = (str(folder / "problem.json"), str(folder / "plan.json"), "--proof", proof)
    done = run("verify", *files, *more, given=given)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.decode()


def bound_of(folder: Path) -> int:
    return read_plan((folder / "plan.json").read_bytes()).bound


def test_a_proof_is_written_and_replayed(folder: Path) -> None:
    proof = (folder / "proof").read_bytes()
    assert gzip.decompress((folder / "proof.gz").read_bytes()) == proof
    lines = len(proof.splitlines())
    expected = {
        "valid": True,
        "findings": [],
        "notes": [f"no plan ends below {bound_of(folder)}: the proof was replayed, {lines} lines"],
    }
    assert verify(folder, str(folder / "proof")) == (0, expected)
    assert verify(folder, str(folder / "proof.gz")) == (0, expected)
    assert verify(folder, "-", given=proof) == (0, expected)
    code, text = run_on_terminal(
        "verify",
        str(folder / "problem.json"),
        str(folder / "plan.json"),
        "--proof",
        str(folder / "proof"),
        env={"NO_COLOR": "1"},
    )
    assert code == 0
    assert "the proof was replayed" in " ".join(text.split())


def test_a_wrong_proof_is_a_finding(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "proof").read_bytes().splitlines(keepends=True)
    (tmp_path / "short").write_bytes(b"".join(lines[:-1]))
    code, answer = verify(folder, str(tmp_path / "short"))
    assert code == 1
    (finding,) = answer["findings"]
    assert finding["kind"] == "wrong_proof"
    assert finding["message"].startswith(f"line {len(lines)} of the proof: ")
    code, answer = verify(folder, "-", given=gzip.compress(b"".join(lines))[:-9])
    assert (code, answer["findings"][0]["kind"]) == (1, "wrong_proof")


def test_a_proof_of_a_lower_bound_is_a_finding(folder: Path, tmp_path: Path) -> None:
    plan = json.loads((folder / "plan.json").read_bytes())
    for place in (plan, plan["pools"][0], plan["objective"], plan["objective"]["terms"][0], *plan["certificate"]):
        for key in ("bound", "value", "peak"):
            if key in place and place[key] is not None:
                place[key] += 1
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    done = run("verify", str(folder / "problem.json"), str(tmp_path / "plan.json"), "--proof", str(folder / "proof"))
    assert done.returncode == 1
    assert "wrong_proof" in {finding["kind"] for finding in json.loads(done.stdout)["findings"]}


def test_an_infeasible_problem_is_proven_so(tmp_path: Path) -> None:
    (tmp_path / "problem.json").write_bytes(write_problem(TIGHT))
    files = (str(tmp_path / "problem.json"), "--capacity", "21")
    done = run("plan", *files, "-o", str(tmp_path / "plan.json"), "--proof", str(tmp_path / "proof"))
    assert done.returncode == 3
    done = run(
        "verify",
        str(tmp_path / "problem.json"),
        str(tmp_path / "plan.json"),
        "--capacity",
        "21",
        "--proof",
        str(tmp_path / "proof"),
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["notes"][0].startswith("no plan fits: ")
    done = run(
        "verify",
        str(tmp_path / "problem.json"),
        str(tmp_path / "plan.json"),
        "--capacity",
        "22",
        "--proof",
        str(tmp_path / "proof"),
    )
    assert done.returncode == 1


def test_costs_of_reuse_in_several_memories_are_refused_before_planning(tmp_path: Path) -> None:
    problem = Problem(TIGHT.buffers, (Pool("p"), Pool("q")), terms=(Term.REUSE_COST,))
    (tmp_path / "problem.json").write_bytes(write_problem(problem))
    done = run(
        "plan", str(tmp_path / "problem.json"), "-o", str(tmp_path / "plan.json"), "--proof", str(tmp_path / "proof")
    )
    assert done.returncode == 2
    assert b"--proof: proofs about several memories are about peaks" in done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name != "problem.json"]


def test_without_a_proof_in_time_the_plan_is_printed_and_no_proof_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "proof").write_bytes(b"what was there")
    (tmp_path / "problem.json").write_bytes(write_problem(TIGHT))
    monkeypatch.setattr("api.cli.commands.planning.proof.prove", lambda *_: PlanProof(24, None, NoProof.TIME))
    files = (str(tmp_path / "problem.json"), "-o", str(tmp_path / "plan.json"), "--proof", str(tmp_path / "proof"))
    for more in ([], ["--quiet"]):
        done = CliRunner().invoke(app, ["plan", *files, *more], obj=time.monotonic())
        assert done.exit_code == 4
        assert done.stderr == "no proof: it was not found in time\n"
    assert (tmp_path / "proof").read_bytes() == b"what was there"
    assert read_plan((tmp_path / "plan.json").read_bytes()).placements


@pytest.mark.parametrize("proof", ["-", "nowhere/proof", "."])
def test_a_proof_that_cannot_be_written_is_refused_first(folder: Path, proof: str) -> None:
    done = run("plan", str(folder / "problem.json"), "-q", "--proof", proof)
    assert done.returncode == 2
    assert b"proof" in done.stderr or b"cannot write" in done.stderr


def test_the_proof_may_not_take_the_place_of_the_problem(folder: Path) -> None:
    done = run("plan", str(folder / "problem.json"), "-q", "--proof", str(folder / "problem.json"))
    assert done.returncode == 2
    assert b"it is the input" in done.stderr


def test_a_proof_that_cannot_be_read_is_bad_input(folder: Path) -> None:
    code, output = verify(folder, str(folder / "none"))
    assert code == 2
    assert "cannot be read" in output


def test_an_interrupted_search_for_a_proof_is_reported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is still printed, no proof is written, and the exit code is that of an interruption."""

    def interrupted(_: Problem, plan: Plan, stopped: Callable[[], bool]) -> PlanProof:
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        return PlanProof(plan.bound - 1, None, NoProof.TIME)

    monkeypatch.setattr("api.cli.commands.planning.proof.prove", interrupted)
    arguments = ["plan", str(folder / "problem.json"), "--proof", str(tmp_path / "proof"), "--json"]
    result = CliRunner().invoke(app, arguments, obj=time.monotonic())
    assert (result.exit_code, json.loads(result.stdout)["status"]) == (130, "optimal")
    assert "no proof: interrupted" in result.stderr
    assert not (tmp_path / "proof").exists()
