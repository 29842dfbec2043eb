"""The service behind the routes, tested without a process."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.errors import Refusal
from api.jobs.processes.pool import Reply, Task, WorkerLate
from api.service import Recent, Service
from api.settings import Settings


class Slow:
    """Readers that take too long."""

    async def do(self, task: Task) -> Reply:
        raise WorkerLate(f"{task.seconds}")


def test_a_problem_that_takes_too_long_to_read_is_too_large() -> None:
    service = cast(Any, SimpleNamespace(settings=Settings(max_explain_seconds=7), readers=Slow()))
    with pytest.raises(Refusal, match="longer than 7 seconds") as caught:
        asyncio.run(Service.read(service, "read"))
    assert caught.value.status == 413


def test_the_least_recently_used_of_too_many_answers_is_forgotten() -> None:
    recent = Recent[str](len, most=2)
    for key in "ab":
        recent.put("me", key, f"the value of {key}")
    assert recent.get("me", "a") == "the value of a"
    recent.put("me", "c", "the value of c")
    assert [recent.get("me", key) for key in "abc"] == ["the value of a", None, "the value of c"]
    assert recent.get("you", "a") is None


def test_the_least_recently_used_of_too_large_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.service.REMEMBERED_BYTES", 10)
    recent = Recent[str](len)
    for key, value in (("a", "12345"), ("b", "12345"), ("a", "1"), ("c", "1234"), ("d", "12345")):
        recent.put("me", key, value)
    assert [recent.get("me", key) for key in "abcd"] == ["1", None, "1234", "12345"]
    recent.put("me", "e", "longer than all that there is room for")
    assert [recent.get("me", key) for key in "acde"] == [None] * 4
