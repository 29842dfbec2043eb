"""Measures a thousand calls of plan_memory on variants of one problem: fresh, within a session, and each in a process of its own.

.venv/bin/python -m scripts.measure.session [--calls 1000] [--processes 20] [--back 0.6]

A search moves through variants: each step makes a change, or takes a step back; `again` is how many of the calls ask for what was asked for before.
With --back 0 none does. `afresh` is a session of which every answer is byte for byte that of a fresh call. Seconds of the processor.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from planner import Buffer, Session, TensorPlacement, plan_memory
from planner.generate import Request, generate
from planner.model.problem import Pool, Problem

Call: TypeAlias = tuple[tuple[Pool, ...], tuple[Buffer, ...]]
PROBLEMS = (
    ("transformer", 60),
    ("transformer", 300),
    ("convnet", 100),
    ("unet", 150),
    ("recurrent", 100),
    ("training", 200),
    ("random", 20),
)
Way: TypeAlias = Callable[..., list[TensorPlacement]]
AT_A_TIME = 20
FRESH = "import pickle, sys\nfrom memplan import plan_memory\nplan_memory(*pickle.load(sys.stdin.buffer))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--back", type=float, default=0.6)
    arguments = parser.parse_args()
    print(
        "| problem | change | again | fresh calls, s | in a session, s | share | afresh | a process each, s |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for kind, count in PROBLEMS:
        problem = generate(kind, Request(count, 1))
        for change in CHANGES:
            calls = list(_search(problem, arguments.calls, change, arguments.back))
            plan_memory(*calls[0])  # what is loaded at first use has been loaded
            Session().plan_memory(*calls[0])
            session, same = Session(), Session(afresh=True)
            fresh, kept, kept_afresh = _in_turns(calls, (plan_memory, session.plan_memory, same.plan_memory))
            apart = "-"
            if arguments.processes:
                apart = f"{_in_processes(calls[: arguments.processes]) * len(calls) / arguments.processes:.0f}"
            again = session.hits / len(calls)
            print(
                f"| {kind} {count} | {change} | {again:.0%} | {fresh:.2f} | {kept:.2f} | {kept / fresh:.2f} | {kept_afresh / fresh:.2f} | {apart} |",
                flush=True,
            )


def _in_turns(calls: list[Call], ways: tuple[Way, ...]) -> list[float]:
    """What the calls take each way, some of them at a time, so that whatever else the machine does is spread over all."""
    taken = [0.0] * len(ways)
    for some in (calls[k : k + AT_A_TIME] for k in range(0, len(calls), AT_A_TIME)):
        answers = []
        for i, way in enumerate(ways):
            _forget_garbage()
            begun = time.process_time()
            answers.append([way(*call) for call in some])
            taken[i] += time.process_time() - begun
        fresh, kept, afresh = answers
        assert afresh == fresh
        for call, one, other in zip(some, kept, fresh, strict=True):
            assert _peak(call, one) <= _peak(call, other)
    return taken


def _peak(call: Call, places: list[TensorPlacement]) -> int:
    return max(place.pool_offset + buffer.size for place, buffer in zip(places, call[1], strict=True))


def _forget_garbage() -> None:
    """What is there already costs neither side of the comparison anything."""
    gc.collect()
    gc.freeze()


def _size(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """One buffer a little larger or smaller."""
    size = max(buffers[i].size + chance.choice((-64, 64)), 1)
    return (*buffers[:i], replace(buffers[i], size=size), *buffers[i + 1 :])


def _lifetime(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """One is needed a step longer, or from a step earlier on."""
    ((start, end),) = buffers[i].live or ((0, 1),)
    start, end = chance.choice(((start - 1, end), (start, end + 1)))
    return (*buffers[:i], replace(buffers[i], live=((start, end),)), *buffers[i + 1 :])


def _count(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """One more, or one less."""
    more = (replace(buffers[i], id=f"new {chance.random()}"),) if chance.random() < 0.5 else ()
    return (*buffers[:i], *more, *buffers[i + 1 - len(more) :])


def _fusion(buffers: tuple[Buffer, ...], i: int, chance: random.Random) -> tuple[Buffer, ...]:
    """Two operators become one: what was between them is gone, and what the first read is needed for longer."""
    ((start, end),) = buffers[i].live or ((0, 1),)
    inputs = [k for k, buffer in enumerate(buffers) if k != i and (buffer.live or ((0, 1),))[0][1] == start + 1]
    if not inputs or len(buffers) < 10:
        return _count(buffers, i, chance)
    k = chance.choice(inputs)
    longer = replace(buffers[k], live=(((buffers[k].live or ((0, 1),))[0][0], end),))
    return tuple(longer if j == k else buffer for j, buffer in enumerate(buffers) if j != i)


CHANGES = {"size": _size, "lifetime": _lifetime, "one more or less": _count, "fusion": _fusion}


def _search(problem: Problem, calls: int, change: str, back: float) -> Iterator[Call]:
    """A walk that leads on, or back to a neighbour that was tried."""
    chance = random.Random(1)
    now = tuple(problem.buffers)
    tried = [now]
    for _ in range(calls):
        if chance.random() < back:
            now = tried[-chance.randint(1, min(len(tried), 12))]
        else:
            now = CHANGES[change](now, chance.randrange(len(now)), chance)
            tried.append(now)
        yield problem.pools, now


def _in_processes(calls: list[Call]) -> float:
    def used() -> float:
        times = resource.getrusage(resource.RUSAGE_CHILDREN)
        return times.ru_utime + times.ru_stime

    before = used()
    for call in calls:
        subprocess.run([sys.executable, "-c", FRESH], input=pickle.dumps(call), check=True)
    return used() - before


if __name__ == "__main__":
    main()
