"""With any one or two long lists in a problem, time limits hold, memory stays in proportion, and there is an answer.

Looking at the plan keeps to limits, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from planner.formats.memplan.schema import problem_schema
from planner.planning.placing.pipeline import UNPROVEN
from tests.property.long_lists import LISTS, pairs, problem
from tests.property.long_programs import EVERY_PROGRAM
from tests.running.forked import TOLD, usual_parent

GRACE_SECONDS = 0.5
"""Seconds that an answer may take beyond the time limit."""
SECONDS_PER_ENTRY = 60e-6
"""Time per list entry for verifying, drawing, reporting or explaining a plan: see "In time" in docs/how-it-works.md."""
MICROSECONDS_PER_ENTRY = 60
"""Time per list entry in which there is an answer, if the solvers have some time besides."""
BASE_BYTES = 64 << 20
BYTES_PER_BYTE = 50
"""Memory that each byte of the problem may take, besides the base."""
USUAL_LOOP_SECONDS = 0.1
"""The time of the loop in `slowness` on the machine on which the limits were set."""
MORE = "1"
"""Seconds for those that had no answer in 0.1 on a busy machine; not for all, as many use up their time."""
TIMES = 3
"""What took too long is measured so often."""
LIMITS_BY_DAY, LIMITS_AT_NIGHT = ("0.1",), ("1", "3")
"""The limits that are held even while reading, in seconds."""
SOME_PAIRS = [
    "pools*buffers",
    "pools*different_pool",
    "buffers*reserved",
    "colocations*at_once",
    "pools*constants",
    "same_pool*at_once",
    "at_once*alignments",
    "constants*at_once",
    "different_pool*constants",
    "groups*costs",
]
"""The pairs of long lists that are tried by day; at night all are."""
SHARED = (
    "buffers",
    "live",
    "conflicts",
    "exclusions",
    "colocations",
    "same_pools",
    "constants",
    "crowd",
    "buffers*exclusions",
    "buffers*conflicts",
)


def slowness() -> float:
    """Return how many times slower than usual this machine is now, at least 1."""
    begun = time.process_time()
    total = 0
    for i in range(1_500_000):
        total += i & 7
    assert total
    return max((time.process_time() - begun) / USUAL_LOOP_SECONDS, 1.0)


def is_beyond(took: float, most: float, beside: float = 0.0) -> bool:
    """True if it took more than so many seconds, as this machine counts them now, besides those that are the same on every machine."""
    return took > beside + most and took > beside + most * slowness()


def delays(found: dict[str, Any], *, may_be_late: bool = False) -> list[str]:
    """Return what took too long; with `may_be_late`, running out of time is no fault."""
    name = _name(found)
    most = GRACE_SECONDS + SECONDS_PER_ENTRY * found["entries"]
    late = [
        f"{deed} took {took} seconds of {most:.2f} for {name}"
        for deed, took in found.get("looking", {}).items()
        if is_beyond(took, most)
    ]
    # The limit holds for processor time, which is what the measured process's clock shows.
    took = found.get("processor", 1e9)
    if is_beyond(took, GRACE_SECONDS, beside=found["limit"]):
        late.append(f"{name} took {took} seconds")
    if found["status"] == "out of time" and not may_be_late:
        late.append(f"{name} was not answered in time ({found['reason']})")
    return late


def faults(found: dict[str, Any]) -> list[str]:
    """Return which limits one answer breaks however long it took."""
    name, wrong = _name(found), []
    if found.get("memory", 1e18) > BASE_BYTES + BYTES_PER_BYTE * found["bytes"]:
        wrong.append(f"{name} took {found['memory'] >> 20} MiB for {found['bytes']} bytes")
    status, reason = found["status"], found.get("reason")
    is_answered = status in ("optimal", "feasible") or (status in ("infeasible", "refused") and reason)
    is_answered = is_answered or (status == "out of time" and "time limit" in str(reason))
    if not is_answered:
        wrong.append(f"{name} was answered {status} ({reason})")
    if not found.get("valid") or any(_is_of_a_fault(warning) for warning in found.get("warnings", ())):
        wrong.append(f"the plan of {name} is wrong")
    return wrong


def _name(found: dict[str, Any]) -> str:
    return f"{found['name']} of {found['count']} in {found['limit']:g} s"


def _is_of_a_fault(warning: str) -> bool:
    """True if something of the plan was wrong. What was proven may be withheld for want of time."""
    return "withheld" in warning and warning != UNPROVEN


def grown(
    names: list[str], count: int, seconds: str, *, more: str | None = None, may_be_late: bool = False
) -> list[str]:
    """Return which limits these problems break; those not answered in time are tried again with `more` seconds.

    What took too long counts if it does so each time: what else the machine does changes from second to second.
    """
    is_free = may_be_late or more is not None
    latest, wrong, slow = dict[str, dict[str, Any]](), list[str](), {name: list[str]() for name in names}
    for _ in range(TIMES):
        lines = _measured(list(slow), count, seconds) if slow else []
        latest |= {line["name"]: line for line in lines}
        wrong += [each for line in lines for each in faults(line)]
        slow = {line["name"]: late for line in lines if (late := delays(line, may_be_late=is_free))}
    wrong += [each for late in slow.values() for each in late]
    unanswered = [name for name, line in latest.items() if line["status"] == "out of time"]
    return wrong + (grown(unanswered, count, more) if more and unanswered else [])


def _measured(names: list[str], count: int, seconds: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.property.growth", str(count), seconds, *names]
    forking = usual_parent()
    env = {**os.environ, TOLD: f"{forking.pid} {forking.path}"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["name"] for line in lines] == names
    return lines


def test_every_list_of_the_format_is_grown() -> None:
    """Lists of fixed length, and the objective's terms, of which there are few, do not grow."""
    longest: dict[str, int] = {}
    for name in LISTS:
        for place, length in _lengths(json.loads(problem(name, 200))):
            longest[place] = max(longest.get(place, 0), length)
    schema = problem_schema()
    every = {place for place, most in _arrays(schema, schema["$defs"]) if most is None} - {"/objective/terms"}
    assert len(every) > 30
    assert {place for place in every if longest.get(place, 0) < 6} == set()


def _arrays(node: Any, defs: dict[str, Any], place: str = "") -> Iterator[tuple[str, int | None]]:
    """Yield the place of each list and each map that a schema allows, and its greatest length."""
    if "$ref" in node:
        node = defs[node["$ref"].rpartition("/")[2]]
    for each in (*node.get("anyOf", ()), *node.get("allOf", ())):
        yield from _arrays(each, defs, place)
    if node.get("type") == "array":
        yield place, node.get("maxItems")
        yield from _arrays(node.get("items", {}), defs, place + "/*")
    for name, part in node.get("properties", {}).items():
        yield from _arrays(part, defs, f"{place}/{name}")
    if isinstance(node.get("additionalProperties"), dict):
        yield place, None
        yield from _arrays(node["additionalProperties"], defs, place + "/*")


def _lengths(part: Any, place: str = "") -> Iterator[tuple[str, int]]:
    """Yield the place and length of each list and map in a document."""
    if isinstance(part, (dict, list)):
        yield place, len(part)
        for name, each in part.items() if isinstance(part, dict) else (("*", each) for each in part):
            yield from _lengths(each, f"{place}/{'*' if place.endswith(('symbols', 'costs')) else name}")


def test_long_lists_are_read_in_time(nightly: bool) -> None:
    """Each list may be long, two lists may be, and some also where buffers share storage objects."""
    names = [*LISTS, *(f"share {name}" for name in SHARED)]
    if nightly:
        assert grown(names, 100_000, f"5+{MICROSECONDS_PER_ENTRY}") == []
        assert grown(pairs(), 10_000, f"1+{MICROSECONDS_PER_ENTRY}") == []
    else:
        assert grown([*names, *SOME_PAIRS], 600, "0.1", more=MORE) == []


def test_long_programs_are_read_in_time(nightly: bool) -> None:
    """A network of some hundred layers has as many stripes and tiles as are looked at, which takes seconds."""
    cut = [name for name in EVERY_PROGRAM if name.endswith(("layers", "blocks", "tiles"))]
    others = [name for name in EVERY_PROGRAM if name not in cut]
    if nightly:
        assert grown(others, 10_000, f"1+{MICROSECONDS_PER_ENTRY}") == []
        assert grown(others, 2000, "0.1", may_be_late=True) == []
        assert grown(["program joined"], 50_000, f"1+{MICROSECONDS_PER_ENTRY}") == []
        assert grown(cut, 500, "20") == []
    else:
        assert grown(others[::3], 200, "0.1", more=MORE) == []
        assert grown(["program slices", "program loops"], 4000, f"2+{MICROSECONDS_PER_ENTRY}") == []
    assert grown(cut, 200, "0.1", may_be_late=True) == []


def test_a_limit_holds_even_while_reading(nightly: bool) -> None:
    names = [*LISTS, *(f"share {name}" for name in SHARED)] if nightly else ["alignments", "share conflicts"]
    for seconds in LIMITS_AT_NIGHT if nightly else LIMITS_BY_DAY:
        assert grown(names, 100_000 if nightly else 10_000, seconds, may_be_late=True) == []


def test_a_limit_holds_where_two_lists_are_long(nightly: bool) -> None:
    names = pairs() if nightly else ["views*fixed", "pools*live", "pools*views"]
    for seconds in LIMITS_AT_NIGHT if nightly else LIMITS_BY_DAY:
        assert grown(names, 100_000 if nightly else 5_000, seconds, may_be_late=True) == []
