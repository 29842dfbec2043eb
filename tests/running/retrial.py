"""In CI, tests that failed while others ran beside them run once more, alone (scripts/test has pytest load this).

A test that fails twice shows a fault. One that fails once depends on how busy the machine is: it is named at the end
so that it is mended, and does not make the run fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

MOST = 10
"""The most tests that get a second run; more failures are no chance."""


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(Retrial(config), "retrial")


class Retrial:
    """Once all tests have run, runs those that failed again, in one process with nothing beside it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: dict[str, None] = {}
        self._passed_alone = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus != pytest.ExitCode.TESTS_FAILED or not 0 < len(self._failed) <= MOST:
            return
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        capture: Any = self._config.pluginmanager.get_plugin("capturemanager")
        reporter.ensure_newline()
        reporter.section(f"{len(self._failed)} failed beside others: once more, alone", red=True)
        chance = [option for option in ("--brief", "--nightly") if self._config.getoption(option, default=False)]
        command = [sys.executable, "-m", "pytest", *chance, *self._failed]
        with capture.global_and_fixture_disabled():
            self._passed_alone = subprocess.run(command, cwd=self._config.rootpath, check=False).returncode == 0
        if self._passed_alone:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._passed_alone:
            terminalreporter.section("to be mended", yellow=True)
            for nodeid in self._failed:
                terminalreporter.line(f"FAILED ONCE, passed alone: {nodeid}")
