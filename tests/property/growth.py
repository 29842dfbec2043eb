"""Measures what it takes to plan problems and programs in which one or two lists are long, each in a process of its own.

    python -m tests.property.growth COUNT SECONDS [NAME ...]

plans every problem with lists of COUNT and a time limit of SECONDS, and prints a line of JSON for each. NAME is a list
(`pools`), two lists (`pools*buffers`), `"share buffers"` to share storage objects, `"program chain"` for a program,
network or trace of tests/property/long_programs.py, `programs` for all of these, `pairs` for every pair of lists, or
`pairs/N` for N random pairs. SECONDS may be `2+60`: 2 seconds, and 60 microseconds for each entry. The figure that
counts is the processor's time (`processor`); the time by the clock on the wall stands beside it (`wall`).
"""

from __future__ import annotations

import functools
import gc
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from planner.model.deadline import OutOfTime, time_limit
from planner.model.errors import PlannerError
from solvers import sandbox
from solvers.model.errors import Unavailable
from solvers.sandbox import launcher
from solvers.sandbox.messages import Message
from solvers.sandbox.remote import Remote
from tests.property.long_lists import LISTS, entries, pairs, problem
from tests.property.long_programs import EVERY_PROGRAM, program
from tests.running.forked import TOLD, fork_server, usual_parent

if TYPE_CHECKING:
    from planner import Plan, Problem, Sharing
    from solvers.model.instance import Instance
    from solvers.model.outcome import Outcome
    from solvers.model.solver import Control, Task

FEW = 3
"""The number of entries of a list that is there only so that a problem has one."""

Made = TypeVar("Made", bound="Plan | Sharing")


def measure(name: str, count: int, seconds: float) -> dict[str, Any]:
    """Return what it takes to plan a problem, from bytes to bytes, in a process that is forked from this one.

    That process's clock shows its processor time, so that other work on this machine does not count, plus the time for
    which it waits for answers of other processes. Its `time.time` jumps, which must not matter.
    """
    from api.process.garbage import collect_rarely

    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        collect_rarely()  # the command and the service's workers do this, too
        jumps = random.Random(count)
        time.monotonic = _clock()
        time.time = lambda: jumps.uniform(-1e9, 1e10)
        sandbox.run = _declined
        with os.fdopen(theirs, "wb") as answer:
            try:
                deed = _shared if name.startswith("share ") else _planned
                answer.write(json.dumps(deed(_document(name, count), seconds)).encode())
            except BaseException as error:  # noqa: BLE001 - any error is an answer
                answer.write(json.dumps({"status": f"{type(error).__name__}: {error}"[:300]}).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        figures = json.loads(answer.read() or b'{"status": "died"}')
    os.waitpid(child, 0)
    return {"name": name, "count": count, "limit": seconds, **figures}


def _document(name: str, count: int) -> bytes:
    kind, _, lists = name.rpartition(" ")
    return program(lists, count) if kind == "program" else problem(lists, count)


def _entries(data: bytes) -> int:
    """Return the number of lines, and of entries in all their lists."""
    return sum(1 + entries(json.loads(line)) for line in data.splitlines())


def _clock() -> Callable[[], float]:
    """Return a clock of this process's processor time, plus the time it waits for other processes' answers."""
    waited, usual = 0.0, Remote.receive

    def receive(remote: Remote, seconds: float) -> list[Message]:
        nonlocal waited
        wall, processor = time.perf_counter(), time.process_time()
        try:
            return usual(remote, seconds)
        finally:
            waited += max(time.perf_counter() - wall - (time.process_time() - processor), 0.0)

    Remote.receive = receive  # type: ignore[assignment, method-assign]
    return lambda: time.process_time() + waited


def warm() -> None:
    """Load whatever planning, sharing and looking at answers need, which saves 0.08 s in each process forked later.

    If the starter of this process has named a process that forks, that one also starts the solvers' fork servers.
    """
    if os.environ.get(TOLD):
        launcher.start_fork_server = functools.partial(fork_server, usual_parent())  # type: ignore[assignment]
    usual, sandbox.run = sandbox.run, _declined
    for name in ("buffers", "groups", "rules"):
        _planned(problem(name, FEW), 1.0)
    _shared(problem("buffers", FEW), 1.0)
    sandbox.run = usual


def _declined(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """Refuse to run a solver in its own process, because this clock would not move while waiting for it."""
    raise Unavailable(solver, "it would have another clock")


def _planned(data: bytes, seconds: float) -> dict[str, Any]:
    from planner import Options, plan, read_problem, verify, write_plan
    from planner.verifying.arguments.counterexamples import entries as entries_of_problem

    def work(begun: float, figures: dict[str, Any]) -> tuple[Problem, Plan]:
        with time_limit(seconds, begun):
            given, _ = read_problem(data)
        if given.variants is not None:  # a network's stripes and tiles are many more than its layers
            figures["entries"] = max(figures["entries"], entries_of_problem(given))
        made = plan(given, Options(time_limit=seconds, workers=1), begun=begun)
        figures |= {"value": made.objective.value, "bound": made.objective.bound, "written": len(write_plan(made))}
        if made.shortage is not None:
            figures["reason"] = made.shortage.message[:200]
        return given, made

    def look(given: Problem, made: Plan) -> dict[str, Any]:
        return {"valid": not verify(given, made), "looking": _looked_at(given, made)}

    return _timed(data, _entries(data), work, look)


def _shared(data: bytes, seconds: float) -> dict[str, Any]:
    from planner import Options, read_problem, share, verify_sharing, write_sharing

    document = json.loads(data)
    document["pools"] = document["pools"][:1]
    data = json.dumps(document).encode()

    def work(begun: float, figures: dict[str, Any]) -> tuple[Problem, Sharing]:
        with time_limit(seconds, begun):
            given, _ = read_problem(data)
        made = share(given, Options(time_limit=seconds, workers=1), begun=begun)
        write_sharing(made)
        figures |= {"value": made.total, "bound": made.bound}
        return given, made

    def look(given: Problem, made: Sharing) -> dict[str, Any]:
        begun = time.process_time()
        valid = not verify_sharing(given, made)
        return {"valid": valid, "looking": {"verify": round(time.process_time() - begun, 3)}}

    return _timed(data, entries(document), work, look)


def _timed(
    data: bytes,
    counted: int,
    work: Callable[[float, dict[str, Any]], tuple[Problem, Made]],
    look: Callable[[Problem, Made], dict[str, Any]],
) -> dict[str, Any]:
    """Return the time and memory that the work takes, and what looking at its answer finds."""
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun, processor, wall = time.monotonic(), time.process_time(), time.perf_counter()
    figures: dict[str, Any] = {"bytes": len(data), "entries": counted, "warnings": [], "valid": True, "reason": None}
    answer = None
    try:
        answer = work(begun, figures)
        made = answer[1]
        figures |= {"status": made.status.value, "stop": made.stop.value, "warnings": list(made.warnings)}
    except OutOfTime as error:
        figures |= {"status": "out of time", "reason": str(error)[:200]}
    except PlannerError as error:
        figures |= {"status": "refused", "reason": str(error)[:200]}
    figures["seconds"] = round(time.monotonic() - begun, 3)
    figures["processor"] = round(time.process_time() - processor, 3)
    figures["wall"] = round(time.perf_counter() - wall, 3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    figures["memory"] = (after.ru_maxrss - before.ru_maxrss) * 1024
    return figures if answer is None else figures | look(*answer)


def _looked_at(given: Problem, made: Plan) -> dict[str, float]:
    """Return how long it takes to verify, draw, report and explain a plan, and to find what is wrong with a bad one."""
    from planner.drawing import memory_map, svg
    from planner.formats.answers.write_map import write_map
    from planner.model.plan import PlanCertificate, PlanStatus
    from planner.reporting.explain import explain_bound
    from planner.reporting.report import memory_report
    from planner.verifying.verify import verify
    from solvers.model.outcome import Proof

    heap = replace(made, placements=tuple(replace(place, offset=0) for place in made.placements))
    searched = PlanCertificate(Proof.SEARCH, 0, solver="cpsat")
    none = replace(heap, status=PlanStatus.INFEASIBLE, placements=(), certificates=(searched,))
    deeds: dict[str, Callable[[], object]] = {
        "verify": lambda: verify(given, made),
        "verify a wrong one": lambda: verify(given, heap),
        "verify that there is none": lambda: verify(given, none),
        "draw": lambda: svg(memory_map(given, made)),
        "draw a wrong one": lambda: svg(memory_map(given, heap)),
        "write the map": lambda: write_map(memory_map(given, made)),
        "report": lambda: memory_report(given, made),
        "explain": lambda: explain_bound(given, made),
    }
    if not made.placements:
        del deeds["report"], deeds["draw a wrong one"], deeds["verify a wrong one"]
    took = {}
    for name, deed in deeds.items():
        begun = time.process_time()
        deed()
        took[name] = round(time.process_time() - begun, 3)
    return took


def _wanted(names: list[str]) -> list[str]:
    if names == ["programs"]:
        return EVERY_PROGRAM
    if not names or not names[0].startswith("pairs"):
        return names or [*LISTS]
    every, drawn = pairs(), names[0].partition("/")[2]
    return random.Random(0).sample(every, int(drawn)) if drawn else every


if __name__ == "__main__":
    warm()
    length, (base, _, per_entry) = int(sys.argv[1]), sys.argv[2].partition("+")
    for wanted in _wanted(sys.argv[3:]):
        limit = float(base)
        if per_entry:
            limit += float(per_entry) * 1e-6 * _entries(_document(wanted, length))
        sys.stdout.write(json.dumps(measure(wanted, length, limit)) + "\n")
        sys.stdout.flush()
