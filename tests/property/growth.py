"""Problems in which one list of the format is long, or two are, and what it takes to plan them: each in a process of its own.

    python -m tests.property.growth COUNT SECONDS [NAME ...]

plans every problem (or those that are named, `pools`, or `pools*buffers`, or `"share buffers"` to share objects) with lists of COUNT and a time limit of
SECONDS, and prints a line of JSON for each (`pairs`: every pair; `pairs/N`: so many of them, drawn by lot). SECONDS may be `2+60`: two, and 60 microseconds for each entry. What counts is the time of the processor
(`processor`); how long that took on this machine, whoever else was at work, stands beside it (`wall`).
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
from tests.running.forked import TOLD, usual_parent, zygote

if TYPE_CHECKING:
    from planner import Plan, Problem, Sharing
    from solvers.model.instance import Instance
    from solvers.model.outcome import Outcome
    from solvers.model.solver import Control, Task

FEW = 3
"""Entries of a list that is only there so that a problem has it."""

Made = TypeVar("Made", bound="Plan | Sharing")


def measure(name: str, count: int, seconds: float) -> dict[str, Any]:
    """What it takes to plan it, from bytes to bytes, in a process of its own that is forked from this one.

    Its clock is its own processor time, so that what others do on this machine does not count, and the time for which it waits for processes that
    it asks something; and the wall clock jumps, which must not matter.
    """
    from api.process.garbage import collect_rarely

    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        collect_rarely()  # as the command and the service's workers do
        jumps = random.Random(count)
        time.monotonic = _clock()
        time.time = lambda: jumps.uniform(-1e9, 1e10)
        sandbox.run = _declined
        with os.fdopen(theirs, "wb") as answer:
            try:
                kind, _, lists = name.rpartition(" ")
                deed = _shared if kind == "share" else _planned
                answer.write(json.dumps(deed(problem(lists, count), seconds)).encode())
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
                answer.write(json.dumps({"status": f"{type(error).__name__}: {error}"[:300]}).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        told = json.loads(answer.read() or b'{"status": "died"}')
    os.waitpid(child, 0)
    return {"name": name, "count": count, "limit": seconds, **told}


def _clock() -> Callable[[], float]:
    """This process's processor time, plus the time it waits for other processes' answers from now on."""
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
    """Load here, before others are forked of this process, what planning, sharing and looking at the answers loads: 0.08 s of each. What forks
    their solvers is forked, too, if whoever started this process has told by whom.
    """
    if os.environ.get(TOLD):
        launcher.start_zygote = functools.partial(zygote, usual_parent())  # type: ignore[assignment]
    usual, sandbox.run = sandbox.run, _declined
    for name in ("buffers", "groups", "rules"):
        _planned(problem(name, FEW), 1.0)
    _shared(problem("buffers", FEW), 1.0)
    sandbox.run = usual


def _declined(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """Solvers in processes of their own would be waited for, and this clock does not move meanwhile."""
    raise Unavailable(solver, "it would have another clock")


def _planned(data: bytes, seconds: float) -> dict[str, Any]:
    from planner import Options, plan, read_problem, verify, write_plan

    def work(begun: float, told: dict[str, Any]) -> tuple[Problem, Plan]:
        with time_limit(seconds, begun):
            asked, _ = read_problem(data)
        made = plan(asked, Options(time_limit=seconds, workers=1), begun=begun)
        told |= {"value": made.objective.value, "bound": made.objective.bound, "written": len(write_plan(made))}
        if made.shortage is not None:
            told["reason"] = made.shortage.message[:200]
        return asked, made

    def look(asked: Problem, made: Plan) -> dict[str, Any]:
        return {"valid": not verify(asked, made), "looking": _looked_at(asked, made)}

    return _timed(data, entries(json.loads(data)), work, look)


def _shared(data: bytes, seconds: float) -> dict[str, Any]:
    from planner import Options, read_problem, share, verify_sharing, write_sharing

    document = json.loads(data)
    document["pools"] = document["pools"][:1]
    data = json.dumps(document).encode()

    def work(begun: float, told: dict[str, Any]) -> tuple[Problem, Sharing]:
        with time_limit(seconds, begun):
            asked, _ = read_problem(data)
        made = share(asked, Options(time_limit=seconds, workers=1), begun=begun)
        write_sharing(made)
        told |= {"value": made.total, "bound": made.bound}
        return asked, made

    def look(asked: Problem, made: Sharing) -> dict[str, Any]:
        begun = time.process_time()
        valid = not verify_sharing(asked, made)
        return {"valid": valid, "looking": {"verify": round(time.process_time() - begun, 3)}}

    return _timed(data, entries(document), work, look)


def _timed(
    data: bytes,
    counted: int,
    work: Callable[[float, dict[str, Any]], tuple[Problem, Made]],
    look: Callable[[Problem, Made], dict[str, Any]],
) -> dict[str, Any]:
    """The time and memory that the work takes, and the findings about its answer."""
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun, processor, wall = time.monotonic(), time.process_time(), time.perf_counter()
    told: dict[str, Any] = {"bytes": len(data), "entries": counted, "warnings": [], "valid": True, "reason": None}
    answer = None
    try:
        answer = work(begun, told)
        made = answer[1]
        told |= {"status": made.status.value, "stop": made.stop.value, "warnings": list(made.warnings)}
    except OutOfTime as error:
        told |= {"status": "out of time", "reason": str(error)[:200]}
    except PlannerError as error:
        told |= {"status": "refused", "reason": str(error)[:200]}
    told["seconds"] = round(time.monotonic() - begun, 3)
    told["processor"] = round(time.process_time() - processor, 3)
    told["wall"] = round(time.perf_counter() - wall, 3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    told["memory"] = (after.ru_maxrss - before.ru_maxrss) * 1024
    return told if answer is None else told | look(*answer)


def _looked_at(asked: Problem, made: Plan) -> dict[str, float]:
    """How long it takes to verify, draw, report and explain a plan, and to say what is wrong with one in which all lies at the bottom."""
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
        "verify": lambda: verify(asked, made),
        "verify a wrong one": lambda: verify(asked, heap),
        "verify that there is none": lambda: verify(asked, none),
        "draw": lambda: svg(memory_map(asked, made)),
        "draw a wrong one": lambda: svg(memory_map(asked, heap)),
        "write the map": lambda: write_map(memory_map(asked, made)),
        "report": lambda: memory_report(asked, made),
        "explain": lambda: explain_bound(asked, made),
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
            limit += float(per_entry) * 1e-6 * entries(json.loads(problem(wanted.rpartition(" ")[2], length)))
        sys.stdout.write(json.dumps(measure(wanted, length, limit)) + "\n")
        sys.stdout.flush()
