"""Settings for all tests: how many examples Hypothesis tries, and that no skip is silent in CI."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("MEMPLAN_CORPUS") or ROOT.parent / "shared" / "corpus")

settings.register_profile("normal", max_examples=15, deadline=None, derandomize=True, database=None)
settings.register_profile("brief", settings.get_profile("normal"))
settings.register_profile(
    "nightly", max_examples=10_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)

SKIPPED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run far more random problems than usual")
    parser.addoption("--brief", action="store_true", help="run a tenth of the usual random problems")


def pytest_configure(config: pytest.Config) -> None:
    # Collecting thousands of tests makes no garbage, and looking for it took a third of the time. What tests make is mostly freed before the next look.
    gc.set_threshold(1_000_000)
    brief, nightly = config.getoption("--brief"), config.getoption("--nightly")
    if brief and nightly:
        raise pytest.UsageError("--brief and --nightly contradict each other")
    settings.load_profile("nightly" if nightly else "brief" if brief else "normal")
    config.stash[SKIPPED] = []
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell makes its background jobs ignore Ctrl-C, and so would the commands that tests interrupt.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # A process that gets SIGTERM cleans up, as with Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(SkipsAreFailures(config), "skips-are-failures")


def pytest_report_header() -> list[str]:
    return kernels_missing()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in kernels_missing():  # at the end, too, because `-q` leaves the header out
        terminalreporter.line(line, yellow=True)


def kernels_missing() -> list[str]:
    """Return a message if Python's kernels run although nobody asked for them, otherwise nothing."""
    from solvers.kernels.selection import VARIABLE, Wanted, select

    reason = None if os.environ.get(VARIABLE) else select(Wanted.AUTO).reason
    return [] if reason is None else [f"slow, without compiled kernels: {reason}. `./scripts/check` compiles them"]


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("--processes", default=1) > 1:
        from tests.running.forked import begin

        begin()  # one forking process for all test processes


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()  # all tests and modules stay until the end
    if session.config.getoption("--processes", default=1) > 1:
        from tests.running.forked import children_of, usual_parent

        assert children_of(os.getpid()) == [usual_parent().pid], "who imports a test's module starts no process"


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long run, for tests that count their random problems themselves."""
    return bool(request.config.getoption("--nightly"))


def may_skip(reason: str, corpus: Path = CORPUS) -> bool:
    """Return whether a test may skip in CI: for want of a Docker engine, of a compiler of gigabytes, or of a corpus."""
    words = reason.lower().removeprefix("skipped: ")
    return words.startswith(("docker", "executorch", "jax")) or ("corpus" in words and not corpus.is_dir())


class SkipsAreFailures:
    """Makes a run fail if tests were skipped that had to run, so that a green CI hides nothing that was never tried."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.outcome != "skipped" or hasattr(report, "wasxfail"):
            return
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not may_skip(reason):
            self._config.stash[SKIPPED].append(f"{report.nodeid}: {reason}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._config.stash[SKIPPED] and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if skipped := self._config.stash[SKIPPED]:
            terminalreporter.section("FAILED: skipped, but in CI these must run", red=True)
            for line in sorted(skipped):
                terminalreporter.line(line)
