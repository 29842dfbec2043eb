"""Processes are forked only where it is safe, have none of their parent's files open, and end with their parent."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from solvers.sandbox.companion import Companion, fork_process
from solvers.sandbox.forked import can_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere none is forked")
HERE = "tests.solvers.sandbox.test_forked:answer"
PATIENCE = 60.0


def answer(question: str, send: Callable[[object], None]) -> None:
    """Answer a question; this runs in the forked process."""
    match question:
        case "open":
            send({each.name: str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()})
        case "who":
            send((os.getpid(), os.getppid(), os.getsid(0)))
        case "print":
            sys.stdout.write("not an answer\n")
            send("answer")
        case "fall":
            raise RuntimeError("it fell")
        case "leave":
            os._exit(7)


@pytest.fixture
def companion() -> Iterator[Companion]:
    made = Companion(HERE, fork_process)
    yield made
    made.end()


@contextmanager
def ended(process: int) -> Iterator[None]:
    """Assert that the process ends within the block, or soon after it."""
    watched = os.pidfd_open(process)
    try:
        yield
        assert select.select([watched], [], [], PATIENCE)[0]
    finally:
        os.close(watched)


def ask(companion: Companion, question: str) -> object:
    companion.send(question)
    return companion.receive_within(PATIENCE)


def test_a_forked_process_answers_in_a_session_of_its_own(companion: Companion) -> None:
    found = ask(companion, "who")
    assert isinstance(found, tuple)
    own, parent, session = found
    assert own != parent
    assert (parent, session) == (os.getpid(), own)
    assert ask(companion, "print") == "answer"


def test_a_forked_process_holds_no_file_of_its_parent(tmp_path: Path) -> None:
    with (tmp_path / "locked").open("w"):
        first, second = Companion(HERE, fork_process), Companion(HERE, fork_process)
        held = ask(second, "open")
    assert isinstance(held, dict)
    beyond = [file for name, file in held.items() if int(name) > 2 and not file.startswith("/proc/")]
    assert sorted(file.partition(":")[0] for file in beyond if file != os.devnull) == ["pipe"], "its own answers alone"
    assert first.end() < 0
    assert second.end() < 0


@pytest.mark.parametrize(("question", "code"), [("fall", 1), ("leave", 7)])
def test_the_end_of_a_forked_process_is_reported(companion: Companion, question: str, code: int) -> None:
    own = ask(companion, "who")[0]  # type: ignore[index]
    with ended(own), pytest.raises(EOFError):
        ask(companion, question)
    assert companion.end() == code


def test_a_forked_process_can_be_ended_where_sigchld_is_ignored() -> None:
    usual = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        made = Companion(HERE, fork_process)
        assert ask(made, "print") == "answer"
        with ended(ask(made, "who")[0]):  # type: ignore[index]
            made.kill()
        assert made.end() == 0
    finally:
        signal.signal(signal.SIGCHLD, usual)


def test_no_process_is_forked_beside_threads() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert not can_fork()
    finally:
        ended.set()
        thread.join()


def test_a_forked_process_ends_with_its_parent() -> None:
    code = (
        "import os, sys; from solvers.sandbox.companion import Companion, fork_process; from solvers.sandbox.forked import can_fork\n"
        f"assert can_fork(); made = Companion({HERE!r}, fork_process); made.send('who')\n"
        "print(made.receive()[0], flush=True); sys.stdin.read(); os._exit(0)"
    )
    root = Path(__file__).parents[3]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        own = int(parent.stdout.readline())
        with ended(own):
            parent.kill()
