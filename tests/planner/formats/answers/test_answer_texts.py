"""A text of a plan or sharing that is too long is refused with its place, and memplan writes no such text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from planner.formats import read_plan, read_sharing, write_plan, write_sharing
from planner.model.errors import BadInput, Code
from planner.model.plan import MAX_PROSE, Choice, ChoiceGoal, Plan, Shortage
from planner.model.storage import Sharing
from tests.planner.formats.answers.test_plan_json import PLAN
from tests.planner.formats.answers.test_sharing_json import SHARING

CHOOSING = replace(PLAN, choice=Choice((("group", "first"),), (("time", 3),), 3, 3, ChoiceGoal.SPEED, None))
CHOSEN_FROM = ("format", "status", "stop", "proof", "term", "goal")
"""Fields whose value is one of a few words."""
Way = tuple[str | int, ...]


def texts(part: Any, way: Way = ()) -> Iterator[Way]:
    """Yield the paths to all texts."""
    if isinstance(part, str):
        yield way
    elif isinstance(part, dict | list):
        for step, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from texts(value, (*way, step))


def with_text(data: bytes, way: Way, text: str) -> bytes:
    """Return the document with another text at the path."""
    document = here = json.loads(data)
    for step in way[:-1]:
        here = here[step]
    here[way[-1]] = text
    return json.dumps(document).encode()


def free_texts(data: bytes) -> list[Way]:
    return [way for way in texts(json.loads(data)) if way[-1] not in CHOSEN_FROM and way[0] != "objective"]


CASES = [
    pytest.param(read, data, way, id="-".join(map(str, way)))
    for read, data in ((read_plan, write_plan(CHOOSING)), (read_sharing, write_sharing(SHARING)))
    for way in free_texts(data)
]


@pytest.mark.parametrize(("read", "data", "way"), CASES)
def test_a_long_text_is_refused_with_its_place(read: Callable[[bytes], object], data: bytes, way: Way) -> None:
    with pytest.raises(BadInput) as caught:
        read(with_text(data, way, "x" * (MAX_PROSE + 1)))
    (finding,) = caught.value.findings
    assert (finding.code, finding.pointer) == (Code.TOO_LARGE, "".join(f"/{step}" for step in way))
    assert "characters at most" in finding.message
    read(with_text(data, way, "x" * 1000))


@pytest.mark.parametrize(
    ("answer", "read", "write"), [(PLAN, read_plan, write_plan), (SHARING, read_sharing, write_sharing)]
)
def test_long_texts_are_cut_so_that_they_can_be_read(
    answer: Plan | Sharing, read: Callable[[bytes], Any], write: Callable[[Any], bytes]
) -> None:
    long = "x" * (2 * MAX_PROSE)
    found = read(write(replace(answer, warnings=(long,), shortage=Shortage(long))))
    assert (found.warnings, found.shortage.message) == ((long[:MAX_PROSE],), long[:MAX_PROSE])
