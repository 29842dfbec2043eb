"""The time limit of a command holds for all that it does: for each arena of nested ones, and for checking what was made."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from api.cli.app import app
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

    monkeypatch.setattr(nested, "nested_plan", work)
    monkeypatch.setattr(shapes, "require_right", work)


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize(
    "arguments", [("plan", "examples/loop.json", "--arenas", "nested"), ("shapes", "examples/prefill.json")]
)
def test_all_work_is_within_the_limit(arguments: tuple[str, ...]) -> None:
    command, file, *options = arguments
    done = CliRunner().invoke(app, [command, str(ROOT / file), *options, "--time-limit", "9"])
    assert done.exit_code == ExitCode.UNKNOWN
    assert "the time limit of 9 s was over while finding no end of the problem" in done.stderr
