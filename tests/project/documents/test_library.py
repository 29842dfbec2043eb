"""The code on the page about the library runs, and the names on the page exist."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import planner
from planner.graph import GraphOptions, OperatorKind, Reason
from planner.graph.operators import OF_PROGRAMS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "library.md").read_text("utf-8")
PROGRAMS = (ROOT / "docs" / "programs.md").read_text("utf-8")


def first_column(heading: str) -> set[str]:
    """Return the words in code style in the first column of the table with this heading."""
    table = PAGE.split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0]
    return {name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)", cell)}


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_every_example_runs(code: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_every_named_call_is_exported() -> None:
    assert {"plan", "verify"} <= first_column("call") <= set(planner.__all__)


def test_every_operator_reason_and_option_of_graphs_has_a_row() -> None:
    assert first_column("operator") == set(OperatorKind) - OF_PROGRAMS
    kinds = PROGRAMS.split("| kind | |", 1)[1].split("\n\n", 1)[0]
    assert {word for row in kinds.splitlines()[2:] for word in re.findall(r"`(\w+)`", row.split("|")[1])} == OF_PROGRAMS
    assert first_column("reason") == set(Reason)
    assert first_column("option (`GraphOptions`)") == {field.name for field in fields(GraphOptions)}


def test_no_solver_process_stays_once_ended() -> None:
    code = """
import os
from pathlib import Path
from memplan import Buffer, Options, Pool, Problem, end_solver_processes, plan
def children() -> list[str]:
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
plan(Problem((Buffer("a", 3, live=((0, 2),)), Buffer("b", 3, live=((1, 3),))), (Pool("p"),)), Options(solver="cpsat_peak"))
before = children()
end_solver_processes()
assert children() == [], (before, children())
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
