"""The stores of the tests of jobs, which may use the planner that waits (tests/running/installed)."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["embedded", "shared"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "embedded":
        return f"sqlite:///{tmp_path / 'store.sqlite'}"
    made: str = request.getfixturevalue("postgresql").new_database()
    return made


@pytest.fixture(autouse=True)
def _may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_SOLVERS", "waiting")
