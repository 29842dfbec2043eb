"""Solvers that misbehave, each in its own way; the sandbox's tests run them in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import numpy as np

from solvers.model.errors import SolverFailed, StopReason, Unavailable, Unsupported
from solvers.model.instance import Instance, Placement
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Feature, Input, Task

LONG = 60.0


def stacked(instance: Instance, gap: int = 0) -> Placement:
    """A placement of all blocks on top of each other, `gap` apart; valid if nothing is fixed or aligned."""
    high = instance.block_high + gap
    return Placement(pool=np.zeros(instance.blocks, dtype=np.int64), offset=np.cumsum(high) - high)


def overlapping(instance: Instance) -> Placement:
    zeros = np.zeros(instance.blocks, dtype=np.int64)
    return Placement(pool=zeros, offset=zeros.copy())


class Faulty(ABC):
    """The base class of the faulty solvers."""

    name: ClassVar[str] = "faulty"
    features: ClassVar[frozenset[Feature]] = frozenset()
    wants: ClassVar[Input] = Input.PRESOLVED
    sandboxed: ClassVar[bool] = True

    def unavailable(self) -> str | None:
        return None

    @abstractmethod
    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome: ...


def _answer(instance: Instance, placement: Placement) -> Outcome:
    return Outcome(StopReason.WORK_LIMIT, placement, evaluate(instance, placement))


class Honest(Faulty):
    """Is not faulty: reports a wasteful placement, a better one, a bound and a line of text."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.log("I begin")
        os.write(1, b"printed\n")
        os.write(2, b"written\n")
        control.incumbent(stacked(instance, gap=5))
        control.bound((1,))
        return _answer(instance, stacked(instance))


class Surroundings(Faulty):
    """Reports the surroundings in which it runs."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        (Path(tempfile.gettempdir()) / "left behind").touch()
        found = {
            "folder": str(Path.cwd()),
            "variable": os.environ.get("MEMPLAN_TEST"),
            "fork_server": os.getppid(),
            "fork_server_threads": len(list(Path(f"/proc/{os.getppid()}/task").iterdir())),
            "group": os.getpgrp() == os.getpid(),
            "scratch": tempfile.gettempdir(),
            "path": sys.path,
            "modules": sorted(sys.modules),
            "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        }
        raise Unsupported("surroundings", json.dumps(found))


class Patient(Faulty):
    """Reports a placement and a bound, waits for the request to stop, and stops."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        control.bound((1,))
        while (reason := control.stopped()) is None:
            time.sleep(0.005)
        return Outcome(reason, stacked(instance), evaluate(instance, stacked(instance)), bound=(2,))


class Deaf(Faulty):
    """Reports a placement and a bound, then ignores messages and SIGTERM."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        control.incumbent(stacked(instance))
        control.bound((1,))
        time.sleep(LONG)
        raise AssertionError


class Killed(Faulty):
    """Is killed in the middle of its work."""

    wanted: ClassVar[int] = signal.SIGKILL

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        control.bound((1,))
        os.kill(os.getpid(), self.wanted)
        raise AssertionError


class Aborting(Killed):
    """Dies as C++ does when nothing catches its exception."""

    wanted = signal.SIGABRT


class Segfaulting(Killed):
    """Dies as C++ does when it follows a wild pointer."""

    wanted = signal.SIGSEGV


class Quitting(Faulty):
    """Ends its process without an answer."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        os._exit(0)


class Hungry(Faulty):
    """Takes all the memory it can get."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        hoard = [bytearray(1 << 20)]
        while len(hoard) < 1 << 11:
            hoard.append(bytearray(1 << 20))
        return _answer(instance, stacked(instance))


class Overlapping(Faulty):
    """Reports a valid placement, and then answers with overlapping blocks."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        return Outcome(StopReason.PROVED, overlapping(instance), (1,), (1,))


class OverlappingIncumbent(Faulty):
    """Reports overlapping blocks, and goes on."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        control.incumbent(overlapping(instance))
        time.sleep(LONG)
        raise AssertionError


class Boasting(Faulty):
    """Claims a lower value for its placement than it has."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        return Outcome(StopReason.PROVED, stacked(instance), (1,), (1,))


class Overproving(Faulty):
    """Claims a bound above the value of its own placement."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        value = evaluate(instance, stacked(instance))
        return Outcome(StopReason.PROVED, stacked(instance), value, (value[0] + 1,))


class OverprovingEarly(Faulty):
    """Reports a bound above the value of an earlier placement."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        control.bound((1 << 40,))
        time.sleep(LONG)
        raise AssertionError


class Despairing(Faulty):
    """Proves that nothing fits."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        return Outcome(StopReason.PROVED, infeasible=True)


class Raising(Faulty):
    """Raises an error that no solver may raise."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        raise ZeroDivisionError("one too many")


class Refusing(Faulty):
    """Refuses, in the way solvers should."""

    error: ClassVar[type[Unsupported | Unavailable | SolverFailed]] = Unsupported

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        raise self.error("refusing", "for a test")


class Missing(Refusing):
    error = Unavailable


class Failing(Refusing):
    error = SolverFailed


def _channel() -> int:
    """Return the descriptor of the channel to the parent, which is the only open socket."""
    return next(fd for fd in range(3, 64) if _is_socket(fd))


def _is_socket(fd: int) -> bool:
    try:
        return str(Path(f"/proc/self/fd/{fd}").readlink()).startswith("socket:")
    except OSError:
        return False


class Babbling(Faulty):
    """Writes garbage into the channel."""

    garbage: ClassVar[bytes] = b"\x80garbage" * 100

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        os.write(_channel(), self.garbage)
        return _answer(instance, stacked(instance))


class Truncating(Babbling):
    """Dies in the middle of a frame."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        control.incumbent(stacked(instance))
        os.write(_channel(), b"mpf1\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00")
        os._exit(0)


class Interpreting(Faulty):
    """Sends well-formed frames that hold no message."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        from solvers.sandbox.frames import pack

        control.incumbent(stacked(instance))
        os.write(_channel(), pack(b'{"kind": "found", "pool": [0.5], "offset": [true]}'))
        time.sleep(LONG)
        raise AssertionError


class WithChild(Faulty):
    """Starts a program, as the solver with CBC does, reports both process ids, and waits for ever."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        grandchild = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])
        control.bound((os.getpid(), grandchild.pid))
        self.then()
        raise AssertionError

    def then(self) -> None:
        time.sleep(LONG)


class DyingWithChild(WithChild):
    """Does the same as WithChild, but is killed while the program runs."""

    def then(self) -> None:
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)


class Threaded(Faulty):
    """Reports from several threads at once, as solvers with workers do."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        def report(first: int) -> None:
            for gap in range(first, 0, -2):
                control.incumbent(stacked(instance, gap=gap))

        threads = [threading.Thread(target=report, args=(n,)) for n in (200, 199)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return _answer(instance, stacked(instance))
