"""`memplan generate` writes the same bytes for the same seed, and refuses bad arguments in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.running.command import run


def test_generated_problems_can_be_planned(tmp_path: Path) -> None:
    out = tmp_path / "made.json"
    arguments = ("generate", "packing", "--buffers", "9", "--seed", "4", "--alignment", "16", "--set", "height=1000")
    done = run(*arguments, "-o", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert run(*arguments).stdout == out.read_bytes()
    document = json.loads(out.read_bytes())
    assert document["name"] == "packing n=9 seed=4 alignment=16 height=1000 optimum=1008"
    plan = json.loads(run("plan", str(out)).stdout)
    assert (plan["status"], plan["peak"]) == ("optimal", 1008)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense", "--buffers", "3"), b"error: KIND: there is no kind 'nonsense'; known are random, packing"),
        (("random", "--buffers", "3", "--set", "height=3"), b"random has no parameter 'height'; it takes live"),
        (("random", "--buffers", "3", "--set", "live"), b"'live' is not of the form NAME=NUMBER"),
        (("random", "--buffers", "3", "-o", "no/where"), b"there is no folder"),
        (("random",), b"--buffers"),
        (("nonsense",), b"error: KIND: there is no kind 'nonsense'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], message: bytes, tmp_path: Path) -> None:
    done = run("generate", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == b""
