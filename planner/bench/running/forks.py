"""The process that forks one for each run: it has imported what every plan needs, so a run begins in milliseconds. It has no threads, and knows
nothing of runs.

Separate processes mean that no run warms up another, that memory can be told apart, and that a crash is one row of the results.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from solvers.sandbox.parent_death import die_with

CHUNK = 1 << 16
MOST_SAID = 1 << 16
"""The bytes kept of a run's standard error: the last ones."""


class Ended(NamedTuple):
    """How a run's process ended, with its answer and messages."""

    code: int
    """Below 0: the signal that ended it."""
    answer: bytes
    output: bytes


class Forks:
    """Answers every request by a separate process. `answering` names the function as `module:function`; its module is imported before."""

    def __init__(self, answering: str) -> None:
        module, function = answering.split(":")
        self._answer: Callable[[Mapping[str, Any]], bytes] = getattr(import_module(module), function)
        getattr(import_module(module), "prepare", _nothing)()
        gc.freeze()  # keeps the collector from touching, and so copying, the pages that the runs share
        # This process holds the other end: where the kernel does not end a run with it, a closed line tells the run.
        self._lifeline = os.pipe()

    def run(self, request: Mapping[str, Any]) -> Ended:
        """Fork, and wait for the end in any case."""
        answers, errors = os.pipe(), os.pipe()
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(self._lifeline[1])
                code = self._live(request, parent, answers[1], errors[1])
            finally:
                os._exit(code)
        for _, theirs in (answers, errors):
            os.close(theirs)
        answer, errors_text = _read(answers[0], errors[0])
        return Ended(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), answer, errors_text)

    def _live(self, request: Mapping[str, Any], parent: int, answer_to: int, errors: int) -> int:
        """The run, in its own process. Output printed by libraries must not mix with its answer."""
        null = os.open(os.devnull, os.O_RDONLY)
        for file, standard in ((null, 0), (errors, 1), (errors, 2)):
            os.dup2(file, standard)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        die_with(parent, self._lifeline[0])
        try:
            with os.fdopen(answer_to, "wb") as stream:
                stream.write(self._answer(request))
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        return 0


def _read(answers: int, errors: int) -> tuple[bytes, bytes]:
    """Read all of the one and the end of the other, until both are closed."""
    found = {answers: bytearray(), errors: bytearray()}
    with selectors.DefaultSelector() as selector:
        for file in found:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, CHUNK)
                found[key.fd] += data
                del found[errors][:-MOST_SAID]
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return bytes(found[answers]), bytes(found[errors])


def _nothing() -> None: ...


_forks: dict[str, Forks] = {}


def work(task: tuple[str, Mapping[str, Any]], send: Callable[[object], None]) -> None:
    """Have a run answer a request, in a process that does nothing else."""
    answering, request = task
    if answering not in _forks:
        _forks[answering] = Forks(answering)
    send(_forks[answering].run(request))
