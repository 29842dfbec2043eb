"""Several processes run the tests, part after part until none is left (scripts/test has pytest load this).

They are forked from one process that has collected the tests. Collecting takes seven seconds of processor time, most of
it for imports, which each process would otherwise spend.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import traceback
import warnings
from collections import defaultdict, deque
from itertools import groupby
from multiprocessing import Pipe, util
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

import pytest

from tests.running.distribution import begins_at_end, part, rank

SHOWN_SECONDS = 0.005
"""Setups and teardowns shorter than this are not reported, not even by --durations, unless they fail."""
ENDING_SECONDS = 20.0
"""How long a process has to tear down the fixtures of its tests."""
NAMED_FILES = 8
"""How many of the longest and of the last files are named at the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="that many test processes side by side")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--processes") > 1:
        config.pluginmanager.register(Clock())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank(item.nodeid))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.getoption("--processes")
    if count < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    Crew(session).run(count)
    return True


class Clock:
    """Tells at the end which files took longest, and which ended last, so that waiting at the end is seen."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._seconds = defaultdict[str, float](float)
        """How long the tests of each file took together."""
        self._ended: dict[str, float] = {}
        """When the last test of each file ended, in seconds after the beginning."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self._seconds[file] += report.duration
        self._ended[file] = time.monotonic() - self._begun

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        def greatest(figures: dict[str, float]) -> list[tuple[str, float]]:
            return sorted(figures.items(), key=lambda each: -each[1])[:NAMED_FILES]

        for name, files in (
            ("Longest files, seconds", greatest(self._seconds)),
            ("Last to end, seconds after the beginning", greatest(self._ended)),
        ):
            terminalreporter.line(f"{name}: {', '.join(f'{file} {seconds:.1f}' for file, seconds in files)}")


class Worker:
    """A process that runs tests, seen from the one that hands them out."""

    def __init__(self, pid: int, line: Connection, *, at_end: bool) -> None:
        self.pid = pid
        self.line = line
        self.at_end = at_end
        """Whether the process takes tests from the end of the list."""
        self.held: deque[int] = deque()
        """Tests that the process was given and has not ended."""


class Crew:
    """All processes that run tests, and the tests that are left."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        numbered = groupby(range(len(session.items)), key=lambda number: part(session.items[number].nodeid))
        self._left = deque(list(numbers) for _, numbers in numbered)
        self._workers: dict[Connection, Worker] = {}
        self._started = 0

    def run(self, count: int) -> None:
        """Run until all tests have run, or enough have failed."""
        assert threading.active_count() == 1, "what collects the tests starts no threads: it is forked"
        reporter: Any = self._session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.showfspath = False
        try:
            for _ in range(min(count, len(self._left))):
                self._start()
            while self._workers:
                for line in wait(list(self._workers)):
                    assert isinstance(line, Connection)
                    self._listen(self._workers[line])
        finally:
            self._end()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _end(self) -> None:
        """Interrupt the remaining processes; kill those that do not end."""
        for worker in self._workers.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGINT)
        deadline = time.monotonic() + ENDING_SECONDS
        for worker in self._workers.values():
            while os.waitpid(worker.pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > deadline:
                    os.kill(worker.pid, signal.SIGKILL)
                time.sleep(0.05)
            worker.line.close()

    def _start(self) -> None:
        ours, its = Pipe()
        self._started += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a library's threads; the library can be forked
            pid = os.fork()
        if pid == 0:
            ours.close()
            for other in self._workers:
                other.close()
            _work(self._session, its, self._started)
        its.close()
        self._workers[ours] = Worker(pid, ours, at_end=begins_at_end(self._started))

    def _listen(self, worker: Worker) -> None:
        """Handle a process's message: it asks for tests, has ended a test or has failed; without one it has died."""
        try:
            message = worker.line.recv()
        except (EOFError, ConnectionError):
            self._ended(worker)
            return
        if message is None:
            more = list[int]()
            if self._left and not self._is_over():
                more = self._left.pop() if worker.at_end else self._left.popleft()
            worker.held.extend(more)
            worker.line.send(more)
        elif isinstance(message, str):
            raise RuntimeError(message)
        else:
            worker.held.popleft()
            config = self._session.config
            for data in message:
                self._log(config.hook.pytest_report_from_serializable(config=config, data=data))

    def _ended(self, worker: Worker) -> None:
        """After a process has ended, report the test it was running as failed; another process takes the rest."""
        del self._workers[worker.line]
        worker.line.close()
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        if not worker.held or self._is_over():
            return
        item = self._session.items[worker.held.popleft()]
        reason = f"the process that ran it has died ({code})"
        self._log(pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call"))
        if worker.held:
            self._left.appendleft(list(worker.held))
        if self._left and not self._is_over():  # this failure may have been the last that is allowed
            self._start()

    def _log(self, report: pytest.TestReport) -> None:
        self._session.config.hook.pytest_runtest_logreport(report=report)

    def _is_over(self) -> bool:
        return bool(self._session.shouldfail or self._session.shouldstop)


class Reports:
    """Collects the reports of a test."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._made: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed and report.duration < SHOWN_SECONDS and not report.sections:
            return
        self._made.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def taken(self) -> list[dict[str, Any]]:
        made, self._made = self._made, []
        return made


def _work(session: pytest.Session, line: Connection, number: int) -> NoReturn:
    """Run tests in the new process until it is given no more; the process that hands them out prints the reports."""
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    capture: Any = plugins.get_plugin("capturemanager")
    capture.stop_global_capturing()  # it captures into a file that all processes would share
    capture.start_global_capturing()
    folders: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = folders.mktemp(f"process{number}", numbered=False)
    reports = Reports(session.config)
    plugins.register(reports)
    code = 0
    try:
        _run(session, line, reports)
    except BaseException as error:  # noqa: BLE001 - reported there, unless it was interrupted
        code = 1
        with contextlib.suppress(BaseException):
            session._setupstate.teardown_exact(None)
        if not isinstance(error, KeyboardInterrupt | ConnectionError):
            line.send(traceback.format_exc())
    util._run_finalizers()  # type: ignore[attr-defined] # ends processes it started, which os._exit would not
    os._exit(code)


def _run(session: pytest.Session, line: Connection, reports: Reports) -> None:
    def more() -> list[pytest.Item]:
        line.send(None)
        return [session.items[number] for number in line.recv()]

    items = deque(more())
    while items and not (session.shouldfail or session.shouldstop):
        item = items.popleft()
        if not items:
            items.extend(more())  # the next test decides which fixtures are still needed
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[0] if items else None)
        line.send(reports.taken())
