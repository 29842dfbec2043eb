"""Lets the tests of jobs use the planner that waits (tests/running/installed)."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_SOLVERS", "waiting")
