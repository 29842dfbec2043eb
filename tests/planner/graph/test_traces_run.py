"""Random traces are planned, then their events are carried out in the planned memory: what was written under one name is read under all others.

The machine reads the lines of the trace by itself and looks for buffers in the plan by their names; lifetimes it does not know. Next to each planned
byte it keeps what should be there: of each allocation its own bytes, which all names that share them see.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from planner import Options, plan, read_problem, verify
from tests.small.strategies import NIGHTLY

RUNS = 20000 if NIGHTLY else 120
SIZES = (1, 2, 3, 4, 6, 8)


@dataclass
class Bytes:
    """What one allocation holds; None where nothing was written yet."""

    contents: list[int | None]
    root: str


@dataclass
class Known:
    """A name that a trace may use: which bytes it stands for."""

    owner: str
    bytes: Bytes
    begin: int
    size: int


@dataclass
class Scope:
    """What was allocated since a scope or a function began."""

    function: str | None
    closes: str
    names: dict[str, Known] = field(default_factory=dict)


class Names:
    """The names that there are, as the format explains them: looked up from the inside to the outside."""

    def __init__(self) -> None:
        self.scopes = [Scope(None, "")]

    def find(self, id_: str) -> Known | None:
        return next((scope.names[id_] for scope in reversed(self.scopes) if id_ in scope.names), None)

    def apply(self, event: dict[str, Any]) -> None:
        inner = self.scopes[-1]
        owner = f"{inner.function}/{event.get('id')}" if inner.function else str(event.get("id"))
        match event["event"]:
            case "alloc":
                made = Bytes([None] * event["size"], owner)
                inner.names[event["id"]] = Known(owner, made, 0, event["size"])
            case "share":
                base = self.find(event["base"])
                assert base is not None
                inner.names[event["id"]] = Known(owner, base.bytes, base.begin + event["offset"], event["size"])
            case "free":
                next(scope for scope in reversed(self.scopes) if event["id"] in scope.names).names.pop(event["id"])
            case "begin":
                self.scopes.append(Scope(inner.function, "end"))
            case "call":
                self.scopes.append(Scope(event["function"], "return"))
            case "end" | "return":
                self.scopes.pop()

    def seen(self) -> list[str]:
        return sorted({id_ for scope in self.scopes for id_ in scope.names})


def random_trace(chance: random.Random) -> list[dict[str, Any]]:
    """Return the events of a run that is allowed: shares of shares, names that outlive what they share, functions that run twice."""
    names, events = Names(), list[dict[str, Any]]()
    fixed: dict[str, tuple[Any, ...]] = {}
    newest: dict[str, Bytes] = {}

    def add(**event: Any) -> None:
        events.append(event)
        names.apply(event)

    for _ in range(chance.randrange(10, 60)):
        inner = names.scopes[-1]
        seen = names.seen()
        what = chance.choice(("alloc", "share", "share", "use", "use", "use", "free", "begin", "call", "end"))
        id_ = chance.choice("abcdefgh")
        is_free = all(id_ not in scope.names for scope in names.scopes if scope.function == inner.function)
        key = f"{inner.function}/{id_}"
        if what == "alloc" and is_free:
            size = chance.choice(SIZES)
            if fixed.setdefault(key, ("alloc", size)) == ("alloc", size):
                add(event="alloc", id=id_, size=size)
                found = names.find(id_)
                assert found is not None
                newest[found.owner] = found.bytes
        elif what == "share" and is_free and seen:
            name = chance.choice(seen)
            base = names.find(name)
            assert base is not None
            begin = chance.randrange(base.size)
            place = (name, begin, chance.randrange(1, base.size - begin + 1))
            if key in fixed and fixed[key][0] == base.owner:  # the same place as the last time
                place = (name, *fixed[key][1:])
            if fixed.setdefault(key, (base.owner, *place[1:])) == (base.owner, *place[1:]):
                add(event="share", id=id_, base=name, offset=place[1], size=place[2])
        elif what == "use" and seen:
            ids = chance.sample(seen, min(len(seen), chance.randrange(1, 4)))
            known = [found for id_ in ids if (found := names.find(id_)) is not None]
            if all(newest[found.bytes.root] is found.bytes for found in known):
                add(event="use", ids=ids)
        elif what == "free" and seen and chance.random() < 0.7:
            add(event="free", id=chance.choice(seen))
        elif what == "begin" and len(names.scopes) < 5:
            add(event="begin")
        elif what == "call" and len(names.scopes) < 5:
            function = chance.choice("fg")
            if all(scope.function != function for scope in names.scopes):
                add(event="call", function=function)
        elif what == "end" and len(names.scopes) > 1:
            add(event=inner.closes)
    while len(names.scopes) > 1:
        add(event=names.scopes[-1].closes)
    return events


def carry_out(events: list[dict[str, Any]], places: dict[str, int], memory: list[int | None]) -> int:
    """Write and read as the events say; return how many bytes were read again that had been written."""
    names, stamp, again = Names(), 0, 0
    for position, event in enumerate(events):
        names.apply(event)
        if event["event"] != "use":
            continue
        used = [found for id_ in event["ids"] if (found := names.find(id_)) is not None]
        for known in used:
            for k in range(known.size):
                should = known.bytes.contents[known.begin + k]
                was = memory[places[known.owner] + k]
                assert should is None or was == should, f"event {position}: byte {k} of {known.owner} was lost"
                again += should is not None
        for known in used:
            for k in range(known.size):
                stamp += 1
                known.bytes.contents[known.begin + k] = memory[places[known.owner] + k] = stamp
    return again


@pytest.mark.parametrize("block", range(5))
def test_planned_traces_find_every_byte_that_they_wrote(block: int) -> None:
    again = 0
    for seed in range(block, RUNS, 5):
        events = random_trace(random.Random(seed))
        lines = ({"format": "memplan-trace/1"}, *events)
        problem, _ = read_problem("\n".join(map(json.dumps, lines)).encode())
        answer = plan(problem, Options(solver="greedy", workers=1))
        assert verify(problem, answer) == ()
        places = {str(place.id): place.offset or 0 for place in answer.placements}
        try:
            again += carry_out(events, places, [None] * (answer.peak or 0))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert again > RUNS
