"""`memplan share`, and `memplan verify` of what it writes: output, exit codes, and messages if it is impossible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.running.command import ROOT, run, run_on_terminal

DEVICES, SPOTTING = (str(ROOT / "examples" / name) for name in ("devices.json", "keyword_spotting.json"))


def test_a_pipe_gets_json_that_verify_accepts(tmp_path: Path) -> None:
    done = run("share", DEVICES)
    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    assert (document["format"], document["status"], document["total"]) == ("memplan-sharing/1", "optimal", 102_912)
    path = tmp_path / "sharing.json"
    path.write_bytes(done.stdout)
    checked = run("verify", DEVICES, str(path))
    assert checked.returncode == 0
    assert json.loads(checked.stdout) == {"valid": True, "findings": [], "notes": []}


def test_a_terminal_gets_tables_and_a_file_the_sharing(tmp_path: Path) -> None:
    path = tmp_path / "sharing.json"
    code, text = run_on_terminal("share", DEVICES, "-o", str(path), env={"NO_COLOR": "1"})
    assert code == 0
    assert "102 912 B (100.5 KiB)" in text
    assert "in 5 objects" in text
    assert "embedded, weights, hidden" in text
    code, text = run_on_terminal("verify", DEVICES, str(path), env={"NO_COLOR": "1"})
    assert code == 0
    assert "10 assignments checked, nothing wrong" in text


def test_faults_of_a_sharing_are_listed(tmp_path: Path) -> None:
    document = json.loads(run("share", DEVICES).stdout)
    for each in document["assignments"]:
        each["object"] = 0
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document))
    done = run("verify", DEVICES, str(path))
    assert done.returncode == 1
    kinds = {finding["kind"] for finding in json.loads(done.stdout)["findings"]}
    assert {"clash", "wrong_device", "wrong_dtype", "object_too_small"} <= kinds


def test_a_sharing_that_does_not_fit_ends_with_3() -> None:
    done = run("share", SPOTTING)
    assert done.returncode == 3
    assert done.stderr.startswith(b"infeasible: the objects of pool 'arena' add up to 32512 bytes at least")
    assert run("share", SPOTTING, "--capacity", "32KiB", "--solver", "greedy").returncode == 0
    code, text = run_on_terminal("share", SPOTTING, env={"NO_COLOR": "1"})
    assert code == 3
    assert "7 936 B" in text


def test_a_run_without_a_proof_or_a_plan_ends_with_4(tmp_path: Path) -> None:
    path = tmp_path / "tight.json"
    lives = ((0, 5, 2), (4, 9, 3), (8, 12, 2), (0, 3, 4), (5, 7, 4))
    buffers = [{"id": i, "size": size, "live": [[a, b]]} for i, (a, b, size) in enumerate(lives)]
    problem = {"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers}
    path.write_text(json.dumps(problem))
    total = json.loads(run("share", str(path), "--solver", "relay_tokens").stdout)
    assert total["bound"] < total["total"], "Relay's tokens are not the best here"
    done = run("share", str(path), "--solver", "relay_tokens", "--capacity", str(total["bound"]))
    assert done.returncode == 4
    assert b"that proves nothing" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--solver", "search"), b"--solver: search cannot take this problem: it gives addresses"),
        (("--time-limit", "soon"), b"--time-limit"),
        (("--capacity", "nowhere=4"), b"nowhere"),
        (("--quiet", "--verbose"), b"--verbose"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], words: bytes) -> None:
    done = run("share", DEVICES, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr


def test_a_problem_with_offsets_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "fixed.json"
    fixed = {"id": "a", "size": 4, "fixed": {"pool": "default", "offset": 0}}
    path.write_text(json.dumps({"format": "memplan/1", "buffers": [fixed]}))
    done = run("share", str(path))
    assert done.returncode == 2
    assert b"/buffers/0/fixed/offset: buffer 'a' is fixed at an offset" in done.stderr
