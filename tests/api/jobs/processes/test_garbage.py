"""A worker's tasks leave no cycles: their memory is free at once, without garbage collection.

The tasks run in a process of their own, since what other threads of a test process leave meanwhile would be found, too.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from api.jobs.processes.messages import unpack
from api.jobs.processes.worker import Worker
from api.jobs.requests.options import as_document
from api.settings import Settings
from planner import Options, plan
from planner.formats import write_plan, write_problem
from planner.generate import Request, generate
from tests.planner.planning.placing.test_starting import tangle

EASY = generate("transformer", Request(60, 1))
PROBLEM = write_problem(EASY)
PLAN = write_plan(plan(EASY))
BOTH = b'{"problem": %s, "plan": %s}' % (PROBLEM, PLAN)
WRONG = b'{"problem": %s, "plan": %s}' % (PROBLEM, PLAN.replace(b'"offset": ', b'"offset": 1', 3))
TWICE = b'{"name": "a", ' + PROBLEM[1:]


def posted(body: bytes, endpoint: str = "plans", **query: Any) -> tuple[dict[str, Any], bytes]:
    return {"task": "read_and_solve", "format": None, "query": query, "endpoint": endpoint}, body


def looked(task: str, body: bytes, **more: Any) -> tuple[dict[str, Any], bytes]:
    return {"task": task, "format": None, "boundary": None, "query": {}, **more}, body


def made(kind: str, buffers: int, **more: Any) -> bytes:
    return write_problem(generate(kind, Request(buffers, 3, **more)))


TASKS: dict[str, Callable[[], tuple[dict[str, Any], bytes]]] = {
    "plan": lambda: posted(PROBLEM),
    "search": lambda: posted(write_problem(tangle()), work_limit=200_000, workers=1),
    "several pools": lambda: posted(made("pool_packing", 40), work_limit=200_000, workers=1),
    "sharing": lambda: posted(PROBLEM, objects=True),
    "sweep": lambda: posted(PROBLEM, "sweep", capacity=["1GiB"]),
    "shapes": lambda: posted(PROBLEM, "shapes"),
    "infeasible": lambda: posted(PROBLEM, capacity=64),
    "out of time": lambda: posted(made("random", 2000), time_limit=0.001),
    "an option refused": lambda: posted(b'{"solve": {"time_limit": -1}, ' + PROBLEM[1:]),
    "broken JSON": lambda: posted(PROBLEM[:-9]),
    "a key twice": lambda: posted(TWICE),
    "wrong values": lambda: posted(PROBLEM.replace(b'"size": ', b'"size": -')),
    "read": lambda: ({**posted(PROBLEM)[0], "task": "read"}, PROBLEM),
    "solve": lambda: ({"task": "solve", "format": None, "options": as_document(Options()), "notes": []}, PROBLEM),
    "validate": lambda: looked("validate", PROBLEM),
    "validate wrong values": lambda: looked("validate", PROBLEM.replace(b'"size": ', b'"size": -')),
    "verify": lambda: looked("verify", BOTH),
    "verify a wrong plan": lambda: looked("verify", WRONG),
    "draw": lambda: looked("draw", BOTH, **{"as": "svg"}),
    "draw as data": lambda: looked("draw", BOTH, **{"as": "json"}),
    "draw nothing": lambda: looked("draw", PROBLEM, **{"as": "svg"}),
}

REFUSED = ("an option refused", "broken JSON", "a key twice", "wrong values", "draw nothing")
ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def found() -> dict[str, tuple[str, dict[str, int]]]:
    """How each kind of task ended, and what it left."""
    done = subprocess.run([sys.executable, "-m", __name__], cwd=ROOT, capture_output=True, check=True)
    made: dict[str, tuple[str, dict[str, int]]] = json.loads(done.stdout)
    return made


@pytest.mark.parametrize("kind", TASKS)
def test_tasks_leave_no_cycles(kind: str, found: dict[str, tuple[str, dict[str, int]]]) -> None:
    ending, left = found[kind]
    assert ending == ("refused" if kind in REFUSED else "done")
    assert not left


def run(kind: str) -> tuple[str, dict[str, int]]:
    """Return how a task of this kind ended, and the types of what it left in cycles when it ran again."""
    header, body = TASKS[kind]()
    receiving, sending = Pipe(duplex=False)
    heard: list[str] = []

    def hear() -> None:
        while not heard or heard[-1] in ("understood", "progress", "plan"):
            heard.append(unpack(receiving.recv_bytes())[0]["kind"])

    worker = Worker(sending, Settings())
    gc.freeze()  # modules and earlier tasks need not be searched again

    def do() -> None:
        heard.clear()
        hearing = threading.Thread(target=hear)
        hearing.start()
        worker._do({**header, "number": 1}, [body])
        hearing.join()

    do()  # imports, and what is remembered
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        do()
        gc.collect()
        return heard[-1], Counter(type(each).__qualname__ for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


if __name__ == "__main__":
    json.dump({kind: run(kind) for kind in TASKS}, sys.stdout)
