"""Problems in which one list of the format is long, or two are, and what it takes to plan them: each in a process of its own.

    python -m tests.property.growth COUNT SECONDS [NAME ...]

plans every problem (or those that are named, `pools`, or `pools*buffers`, or `"share buffers"` to share objects) with lists of COUNT and a time limit of
SECONDS, and prints a line of JSON for each. SECONDS may be `2+60`: two, and 60 microseconds for each entry. What counts is the time of the processor
(`processor`); how long that took on this machine, whoever else was at work, stands beside it (`wall`).
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any

from solvers import sandbox
from solvers.model.errors import Unavailable

if TYPE_CHECKING:
    from planner import Plan, Problem
    from solvers.model.instance import Instance
    from solvers.model.outcome import Outcome
    from solvers.model.solver import Control, Task

Document = dict[str, Any]


def _new() -> Document:
    return {
        "format": "memplan/1",
        "lifetimes": "half_open",
        "pools": [{"name": "first"}, {"name": "second", "size": 1 << 40}, {"name": "third", "size": 1 << 40}],
        "buffers": [{"id": i, "size": 8 + i, "live": [[i, i + 3]]} for i in range(4)],
        "constraints": {},
    }


def _with_buffers(document: Document, count: int) -> list[Document]:
    """So many buffers at least; those that were there stay."""
    dice = random.Random(count)
    buffers: list[Document] = document["buffers"]
    for i in range(len(buffers), count):
        start = dice.randrange(2 * count)
        live = [[start, start + 1 + dice.randrange(20)]]
        buffers.append({"id": i, "size": 1 + dice.randrange(1000), "live": live})
    return buffers


def _with_pools(document: Document, count: int) -> list[Document]:
    pools: list[Document] = document["pools"]
    for i in range(len(pools), count):
        pools.append({"name": f"p{i}", "size": (1 << 20) + i % 100, "alignment": 1 << i % 4})
    return pools


def _pairs(document: Document, count: int) -> list[tuple[int, int]]:
    """So many different pairs of buffers, in a fixed order that mixes them."""
    many = len(_with_buffers(document, isqrt(2 * count) + 2))
    dice = random.Random(count)
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        a, b = sorted(dice.sample(range(many), 2)) if many > 2000 else (-1, -1)
        if a < 0:
            every = list(combinations(range(many), 2))
            dice.shuffle(every)
            return every[:count]
        found[a, b] = None
    return list(found)


def _pools(document: Document, count: int) -> None:
    _with_pools(document, count)


def _buffers(document: Document, count: int) -> None:
    _with_buffers(document, count)


def _live(document: Document, count: int) -> None:
    for i, buffer in enumerate(document["buffers"][:2]):
        buffer["live"] = [[3 * j + i, 3 * j + i + 2] for j in range(count // 2)]


def _lives(document: Document, count: int) -> None:
    """Many buffers with many lifetimes each."""
    for i, buffer in enumerate(_with_buffers(document, isqrt(count))):
        buffer["live"] = [[3 * j + i % 2, 3 * j + i % 2 + 2] for j in range(isqrt(count))]


def _reserved(document: Document, count: int) -> None:
    for pool in document["pools"][:2]:
        pool["reserved"] = [[1000 * j, 1000 * j + j % 900] for j in range(count // 2)]


def _allowed(document: Document, count: int) -> None:
    names = [pool["name"] for pool in _with_pools(document, count)]
    for buffer in document["buffers"][:3]:
        buffer["pools"] = names[::-1]


def _conflicts(document: Document, count: int) -> None:
    document["constraints"]["conflicts"] = _pairs(document, count)


def _exclusions(document: Document, count: int) -> None:
    taken = set(document["constraints"].get("conflicts", ()))
    document["constraints"]["exclusions"] = [pair for pair in _pairs(document, count) if pair not in taken]


def _colocations(document: Document, count: int) -> None:
    _with_buffers(document, count + 1)
    tied = [{"buffer": i, "base": i - 1 - i % 7 % i, "offset": 0} for i in range(1, count + 1)]
    document["constraints"]["colocations"] = tied


def _views(document: Document, count: int) -> None:
    _with_buffers(document, count + 1)
    tied = [{"buffer": i, "base": i - i % 2, "offset": 4} for i in range(1, count + 1, 2)]
    document["constraints"]["colocations"] = tied


def _same_pool(document: Document, count: int) -> None:
    document["constraints"]["same_pool"] = [[buffer["id"] for buffer in _with_buffers(document, count)]]


def _same_pools(document: Document, count: int) -> None:
    _with_buffers(document, count + 1)
    document["constraints"]["same_pool"] = [[i, i + 1] for i in range(0, count, 2)]


def _different_pool(document: Document, count: int) -> None:
    _with_pools(document, count)
    document["constraints"]["different_pool"] = [[buffer["id"] for buffer in _with_buffers(document, count)]]


def _different_pools(document: Document, count: int) -> None:
    _with_buffers(document, count + 2)
    document["constraints"]["different_pool"] = [[i, i + 1] for i in range(count)]


def _crowd(document: Document, count: int) -> None:
    """More than there are pools, of which there are many."""
    _with_pools(document, min(count // 10, 150))
    document["constraints"]["different_pool"] = [[buffer["id"] for buffer in _with_buffers(document, count)]]


def _penalties(document: Document, count: int) -> None:
    rows = [{"first": a, "second": b, "cost": 1 + (a + b) % 9} for a, b in _pairs(document, count)]
    document["constraints"]["reuse_penalties"] = rows
    document["objective"] = {"terms": ["sum_of_peaks", "reuse_cost"]}


def _was(document: Document, count: int) -> None:
    buffers, pool = _with_buffers(document, count), document["pools"][0]["name"]
    rows = [{"buffer": buffer["id"], "pool": pool, "offset": 64 * (i % 97)} for i, buffer in enumerate(buffers)]
    document["objective"] = {"terms": ["sum_of_peaks", "moved_bytes"], "was": rows}


def _constants(document: Document, count: int) -> None:
    document["pools"][1]["read_only"] = True
    _with_buffers(document, count)
    for buffer in document["buffers"][count // 2 :]:
        buffer["kind"] = "constant"


def _accesses(document: Document, count: int) -> None:
    for i, buffer in enumerate(_with_buffers(document, count)):
        buffer["accesses"] = i % 13
    document["objective"] = {"terms": ["access_cost", "sum_of_peaks"]}


def _at_once(document: Document, count: int) -> None:
    """All of them live at one time, in pools that hold a few each."""
    document["buffers"] = [{"id": i, "size": 8, "live": [[0, 9]]} for i in range(count)]
    document["pools"] = [{"name": f"p{i}", "size": 64} for i in range(count)]


def _alignments(document: Document, count: int) -> None:
    for i, buffer in enumerate(_with_buffers(document, count)):
        buffer["alignment"] = 1 + i
    for i, pool in enumerate(_with_pools(document, count)):
        pool["alignment"] = 1 + i


def _fixed(document: Document, count: int) -> None:
    at = 0
    for buffer in _with_buffers(document, count):
        if buffer["id"] % 2:
            buffer["fixed"] = {"pool": "third", "offset": at}
            at += buffer["size"]


def _with_groups(document: Document, count: int) -> list[Document]:
    """So many groups of two alternatives at least."""
    variants: Document = document.setdefault("variants", {"costs": [{"name": "cycles"}], "groups": []})
    groups: list[Document] = variants["groups"]
    for g in range(len(groups), count):
        groups.append({"name": f"g{g}", "alternatives": [_alternative(f"g{g}.{a}", g + a) for a in range(2)]})
    return groups


def _alternative(name: str, number: int) -> Document:
    buffer = {"id": name, "size": 8 + number % 50, "live": [[number % 1000, number % 1000 + 3]]}
    return {"name": name, "costs": {"cycles": number % 17}, "buffers": [buffer]}


def _groups(document: Document, count: int) -> None:
    _with_groups(document, count // 4)


def _rules(document: Document, count: int) -> None:
    names = [group["name"] for group in _with_groups(document, count // 8 + 1)]
    for kind, a in ("requires", 0), ("forbids", 1):
        pairs = [[[g, f"{g}.{a}"], [h, f"{h}.0"]] for g, h in pairwise(names)]
        document["variants"][kind] = pairs


def _alternatives(document: Document, count: int) -> None:
    several = [_alternative(f"one of {a}", a) for a in range(count)]
    _with_groups(document, 1).append({"name": "of many", "alternatives": several})


def _cost_terms(document: Document, count: int) -> None:
    names = [f"c{k}" for k in range(count)]
    one, other = {"name": "dear", "costs": dict.fromkeys(names, 1)}, {"name": "cheap"}
    _with_groups(document, 1).append({"name": "in many ways", "alternatives": [one, other]})
    document["variants"]["costs"] += [{"name": name} for name in names]


def _longer(document: Document, count: int) -> None:
    times = [{"buffer": 0, "live": [[3 * j, 3 * j + 1] for j in range(count)]}]
    alternatives = [{"name": "longer", "live": times}, {"name": "as it is"}]
    _with_groups(document, 1).append({"name": "how long", "alternatives": alternatives})


def _own(document: Document, count: int) -> None:
    given = {"exclusions": _pairs(document, count)}
    alternatives = [{"name": "apart", "constraints": given}, {"name": "as they are"}]
    _with_groups(document, 1).append({"name": "of its own", "alternatives": alternatives})


LISTS: dict[str, Callable[[Document, int], None]] = {
    "pools": _pools,
    "buffers": _buffers,
    "live": _live,
    "lives": _lives,
    "reserved": _reserved,
    "allowed": _allowed,
    "conflicts": _conflicts,
    "exclusions": _exclusions,
    "colocations": _colocations,
    "views": _views,
    "same_pool": _same_pool,
    "same_pools": _same_pools,
    "different_pool": _different_pool,
    "different_pools": _different_pools,
    "crowd": _crowd,
    "penalties": _penalties,
    "was": _was,
    "constants": _constants,
    "accesses": _accesses,
    "at_once": _at_once,
    "alignments": _alignments,
    "fixed": _fixed,
    "groups": _groups,
    "rules": _rules,
    "alternatives": _alternatives,
    "costs": _cost_terms,
    "longer": _longer,
    "own": _own,
}
"""By name: what makes one list of a document long; what this needs besides grows with it."""


def pairs() -> list[str]:
    """Two lists at a time, but for those that mean the same list."""
    same = [
        {"colocations", "views"},
        {"same_pool", "same_pools"},
        {"different_pool", "different_pools", "crowd"},
        {"at_once", "buffers", "pools"},
        {"groups", "rules"},
    ]
    return [f"{a}*{b}" for a, b in combinations(LISTS, 2) if not any({a, b} <= those for those in same)]


def problem(name: str, count: int) -> bytes:
    """The document of that name, with lists of this length."""
    document = _new()
    # What replaces pools or buffers comes first.
    for each in sorted(name.split("*"), key=lambda one: one != "at_once"):
        LISTS[each](document, count)
    return json.dumps(document).encode()


def entries(part: Any, key: str = "") -> int:
    """How many there are in all lists of a document together; a pair, or an interval, is one."""
    if isinstance(part, dict):
        return sum(entries(value, name) for name, value in part.items())
    if not isinstance(part, list):
        return 0
    if key in ("live", "reserved", "conflicts", "exclusions"):
        return len(part)
    return len(part) + sum(entries(each) for each in part)


def measure(name: str, count: int, seconds: float) -> dict[str, Any]:
    """What it takes to plan it, from bytes to bytes, in a process of its own that is forked from this one.

    Its clock is its own processor time, so that what others do on this machine does not count; and the wall clock jumps, which must not matter.
    """
    from api.process.garbage import collect_rarely

    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        collect_rarely()  # as the command and the service's workers do
        jumps = random.Random(count)
        time.monotonic = time.process_time
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


def _declined(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """Solvers in processes of their own would be waited for, and this clock does not move meanwhile."""
    raise Unavailable(solver, "it would have another clock")


def _planned(data: bytes, seconds: float) -> dict[str, Any]:
    from planner import Options, plan, read_problem, verify, write_plan
    from planner.model.deadline import OutOfTime, time_limit
    from planner.model.errors import PlannerError

    counted = entries(json.loads(data))
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun, processor, wall = time.monotonic(), time.process_time(), time.perf_counter()
    told: dict[str, Any] = {"bytes": len(data), "entries": counted, "warnings": [], "valid": True, "reason": None}
    try:
        with time_limit(seconds, begun):
            asked, _ = read_problem(data)
        made = plan(asked, Options(time_limit=seconds, workers=1), begun=begun)
        written = write_plan(made)
        told |= {"status": made.status.value, "stop": made.stop.value, "warnings": list(made.warnings)}
        told |= {"value": made.objective.value, "bound": made.objective.bound, "written": len(written)}
        if made.shortage is not None:
            told["reason"] = made.shortage.message[:200]
    except OutOfTime as error:
        told |= {"status": "out of time", "reason": str(error)[:200]}
        made = None
    except PlannerError as error:
        told |= {"status": "refused", "reason": str(error)[:200]}
        made = None
    told["seconds"] = round(time.monotonic() - begun, 3)
    told["processor"] = round(time.process_time() - processor, 3)
    told["wall"] = round(time.perf_counter() - wall, 3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    told["memory"] = (after.ru_maxrss - before.ru_maxrss) * 1024
    if made is not None:
        told["valid"] = not verify(asked, made)
        told["looking"] = _looked_at(asked, made)
    return told


def _shared(data: bytes, seconds: float) -> dict[str, Any]:
    from planner import Options, read_problem, share, verify_sharing, write_sharing
    from planner.model.deadline import OutOfTime, time_limit
    from planner.model.errors import PlannerError

    document = json.loads(data)
    document["pools"] = document["pools"][:1]
    data, counted = json.dumps(document).encode(), entries(document)
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun, processor, wall = time.monotonic(), time.process_time(), time.perf_counter()
    told: dict[str, Any] = {"bytes": len(data), "entries": counted, "warnings": [], "valid": True, "reason": None}
    try:
        with time_limit(seconds, begun):
            asked, _ = read_problem(data)
        made = share(asked, Options(time_limit=seconds, workers=1), begun=begun)
        write_sharing(made)
        told |= {"status": made.status.value, "stop": made.stop.value, "warnings": list(made.warnings)}
        told |= {"value": made.total, "bound": made.bound}
    except OutOfTime as error:
        told |= {"status": "out of time", "reason": str(error)[:200]}
        made = None
    except PlannerError as error:
        told |= {"status": "refused", "reason": str(error)[:200]}
        made = None
    told["seconds"] = round(time.monotonic() - begun, 3)
    told["processor"] = round(time.process_time() - processor, 3)
    told["wall"] = round(time.perf_counter() - wall, 3)
    after = resource.getrusage(resource.RUSAGE_SELF)
    told["memory"] = (after.ru_maxrss - before.ru_maxrss) * 1024
    if made is not None:
        begun = time.process_time()
        told["valid"] = not verify_sharing(asked, made)
        told["looking"] = {"verify": round(time.process_time() - begun, 3)}
    return told


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


if __name__ == "__main__":
    import planner

    planner.plan(planner.Problem((planner.Buffer("warm", 1, live=((0, 1),)),)))
    length, (base, _, per_entry) = int(sys.argv[1]), sys.argv[2].partition("+")
    for wanted in sys.argv[3:] or LISTS:
        limit = float(base)
        if per_entry:
            limit += float(per_entry) * 1e-6 * entries(json.loads(problem(wanted.rpartition(" ")[2], length)))
        sys.stdout.write(json.dumps(measure(wanted, length, limit)) + "\n")
        sys.stdout.flush()
