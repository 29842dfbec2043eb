"""The time limit of a command holds for all that it does: for each arena of nested ones, and for checking what was made."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from api.cli.app import app
from api.cli.commands.files import convert, export, write
from api.cli.commands.looking import diff, inspect
from api.cli.commands.planning import nested, shapes
from api.cli.exit_codes import ExitCode
from planner.model import deadline
from tests.running.command import ROOT, CliRunner


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work during which all time passes; afterwards it looks at the clock."""

    def work(*_: object, **__: object) -> None:
        ticks = count(1.0)
        clock = SimpleNamespace(monotonic=lambda: 1e12, thread_time=lambda: 1e6 * next(ticks))
        with monkeypatch.context() as patch:
            patch.setattr(deadline, "time", clock)
            deadline.look("finding no end of")
            deadline.look("finding no end of")
        raise AssertionError("no time limit holds here")

    for command, part in (
        (nested, "nested_plan"),
        (shapes, "require_right"),
        (inspect, "planned_problem"),
        (convert, "read_problem"),
        (export, "read_problem"),
        (write, "read_asked"),
        (diff, "read_plan"),
    ):
        monkeypatch.setattr(command, part, work)


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "examples/loop.json", "--arenas", "nested"),
        ("shapes", "examples/prefill.json"),
        ("inspect", "examples/three.json"),
        ("convert", "examples/three.json", "--to", "dsa"),
        ("export-model", "examples/three.json", "-o", "-"),
        ("write", "examples/three.json", "examples/loop.json", "-o", "-", "--as", "c"),
        ("diff", "examples/three.json", "examples/loop.json"),
    ],
)
def test_all_work_is_within_the_limit(arguments: tuple[str, ...]) -> None:
    given = [str(ROOT / each) if each.startswith("examples/") else each for each in arguments]
    done = CliRunner().invoke(app, [*given, "--time-limit", "9"])
    assert done.exit_code == ExitCode.UNKNOWN
    assert "the time limit of 9 s was over while finding no end of the problem" in done.stderr
