"""Requests that wait for jobs are woken by events, and look by themselves now and then, but not all at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from api.errors import HttpCode, Refusal
from api.jobs.hub import Hub
from api.process.metrics import Metrics
from api.routes import steps
from api.routes.queued import batch_intake, batches, events, patience
from api.service import Service
from api.store import StoreDamaged, StoreUnavailable
from api.store.records import About, Event, EventKind, Job, JobState


class Looked:
    """A store whose jobs run until their ids are in `over`."""

    def __init__(self) -> None:
        self.looks: Counter[str] = Counter()
        self.over: set[str] = set()

    def job(self, id_: str) -> SimpleNamespace:
        self.looks[id_] += 1
        return SimpleNamespace(id=id_, state=JobState.SUCCEEDED if id_ in self.over else JobState.RUNNING)


def service(store: object) -> Any:
    return SimpleNamespace(store=store, hub=Hub(), closing=asyncio.Event())


def test_a_waiting_request_checks_its_job_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LOOK_SECONDS", 0.02)
    store = Looked()

    async def wait() -> None:
        waiting = asyncio.create_task(steps.until_over(service(store), "a"))
        while store.looks["a"] < 5:
            await asyncio.sleep(0.01)
        store.over.add("a")  # no event is sent
        assert (await waiting) is not None

    asyncio.run(asyncio.wait_for(wait(), 120))


def test_many_waiting_requests_check_no_more_often_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(steps, "LOOKS_PER_SECOND", 10)
    store, ids = Looked(), [str(number) for number in range(100)]

    async def wait() -> None:
        made = service(store)
        waiting = [asyncio.create_task(steps.until_over(made, id_)) for id_ in ids]
        while len(store.looks) < len(ids):
            await asyncio.sleep(0.01)
        await asyncio.sleep(1)  # with a look of each every 0.001 s there would be tens of thousands
        assert store.looks.total() <= 3 * len(ids)
        store.over.update(ids)
        made.hub.tell(None)
        assert all(job is not None for job in await asyncio.gather(*waiting))

    asyncio.run(asyncio.wait_for(wait(), 120))


def test_an_event_makes_a_waiting_request_check_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LOOK_SECONDS", 600.0)
    store = Looked()

    async def wait() -> None:
        made = service(store)
        waiting = asyncio.create_task(steps.until_over(made, "a"))
        while not store.looks["a"]:
            await asyncio.sleep(0.01)
        store.over.add("a")
        made.hub.tell("a")
        assert (await waiting) is not None

    asyncio.run(asyncio.wait_for(wait(), 120))


def test_an_attempt_becomes_a_job_though_its_request_ends_meanwhile() -> None:
    """Otherwise the store would have a running job whose end nobody records."""

    async def follow() -> None:
        begun, may_end = asyncio.Event(), asyncio.Event()

        async def become_job() -> str:
            begun.set()
            await may_end.wait()
            return "the job"

        made, endless = service(None), Mock(receive=asyncio.Event().wait)
        made._spawned, made.spawn = set(), partial(Service.spawn, made)
        made.closing.set()
        attempt: Any = Mock(reply=asyncio.get_running_loop().create_future(), become_job=become_job)
        waiting = asyncio.create_task(steps.wait_for_attempt(endless, made, attempt, 60.0))
        await begun.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        attempt.stop.assert_called_once_with()
        may_end.set()
        assert await asyncio.gather(*made._spawned) == ["the job"]

    asyncio.run(asyncio.wait_for(follow(), 120))


class Away:
    """A store that cannot be reached at the looks whose numbers are in `away`."""

    def __init__(self, *away: int) -> None:
        self.turn = 0
        self._away = away

    def _look(self) -> None:
        self.turn += 1
        if self.turn in self._away:
            raise StoreUnavailable("gone for a moment")

    def job(self, id_: str) -> SimpleNamespace:
        self._look()
        return SimpleNamespace(id=id_, state=JobState.RUNNING)

    def events(self, id_: str, after: int) -> list[Event]:
        self._look()
        return [Event(after + 1, EventKind.DONE, {})]

    def ended(self, *_: object) -> list[Job]:
        self._look()
        return []

    def batch_counts(self, *_: object) -> tuple[int, int]:
        return 1, 0


def test_an_event_stream_outlives_a_lost_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET_SECONDS", 0.001)

    async def follow() -> list[bytes]:
        job: Any = SimpleNamespace(id="a")
        return [piece async for piece in events._stream(service(Away(1, 2, 3)), job, 0)]

    still, *rest, done = asyncio.run(asyncio.wait_for(follow(), 120))
    assert {still, *rest} == {b": still here\n\n"}
    assert done.startswith(b"id: 1\nevent: done\n")


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_an_event_stream_says_that_the_store_is_lost_for_long_and_ends(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(events, "QUIET_SECONDS", 0.001)
    monkeypatch.setattr(patience, "STORE_SECONDS", seconds)

    def lost(*_: object) -> None:
        raise StoreUnavailable("gone for long")

    async def follow() -> list[bytes]:
        job: Any = SimpleNamespace(id="a")
        made = service(SimpleNamespace(events=lost, job=lost))
        return [piece async for piece in events._stream(made, job, 0)]

    with capture_logs() as logged:
        *still, last = asyncio.run(asyncio.wait_for(follow(), 120))
    assert {*still} == ({b": still here\n\n"} if seconds else set())
    kind, data, retry, *_ = last.decode().split("\n")
    assert (kind, retry) == ("event: error", "retry: 5000")
    told = json.loads(data.removeprefix("data: "))
    assert (told["status"], told["code"], told["detail"]) == (503, "store_unavailable", "gone for long")
    assert {(each["event"], each["reason"]) for each in logged} == {("events cannot be told", "gone for long")}


class Silent:
    """A store that has lost all events of a job, which ends after some looks."""

    looks = 0

    def events(self, _id: str, _after: int) -> list[Event]:
        return []

    def job(self, id_: str) -> SimpleNamespace:
        self.looks += 1
        return SimpleNamespace(id=id_, state=JobState.RUNNING if self.looks < 3 else JobState.SUCCEEDED)


def test_an_event_stream_ends_with_its_job_though_the_last_event_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET_SECONDS", 0.001)

    async def follow() -> list[bytes]:
        job: Any = SimpleNamespace(id="a")
        return [piece async for piece in events._stream(service(Silent()), job, 0)]

    assert asyncio.run(asyncio.wait_for(follow(), 120)) == [b": still here\n\n"] * 3


def test_a_lost_store_does_not_end_a_batch() -> None:
    store = Away(2)

    async def follow() -> list[bytes]:
        return [piece async for piece in batches._lines(batches._Ended(service(store), "me", "b", None), set())]

    name, last = asyncio.run(asyncio.wait_for(follow(), 120))
    assert (json.loads(name), json.loads(last)) == ({"batch": "b"}, {"batch": "b", "problems": 1})
    assert store.turn == 3, "it looks for a last time once more"


def test_a_line_that_waits_for_room_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_intake, "AGAIN_SECONDS", 0.001)
    full = iter([Refusal(429, HttpCode.QUEUE_FULL, "full"), StoreUnavailable("gone"), None])

    async def enqueue(*_: object, **__: object) -> None:
        if (error := next(full)) is not None:
            raise error

    monkeypatch.setattr(batch_intake, "enqueue", enqueue)
    order = steps.Order("me", b"", About("key", "digest", None, 1, {}, (), None), "fingerprint")

    async def store() -> Metrics:
        made = service(SimpleNamespace(kept=lambda *_: None))
        made.plans, made.metrics, made.settings = Mock(get=lambda *_: None), Metrics(), Mock()
        request: Any = SimpleNamespace(state=SimpleNamespace(owner="me"))
        intake = batch_intake.BatchIntake(request, made, "b", None, Mock(), None)
        intake._is_known = True
        await intake._store(1, order, None)
        found: Metrics = made.metrics
        return found

    exposed = asyncio.run(asyncio.wait_for(store(), 120)).expose().decode().splitlines()
    assert 'memplan_asked_total{kind="plan"} 1.0' in exposed
    assert 'memplan_plan_cache_total{result="miss"} 1.0' in exposed


@pytest.mark.parametrize("error", [StoreUnavailable("gone"), StoreDamaged("changed")])
def test_an_answer_to_a_batch_ends_where_the_store_is_lost_for_long_or_damaged(
    monkeypatch: pytest.MonkeyPatch, error: StoreUnavailable
) -> None:
    if not isinstance(error, StoreDamaged):
        monkeypatch.setattr(patience, "STORE_SECONDS", 0.0)

    def lost(*_: object) -> list[Job]:
        raise error

    async def follow() -> list[bytes]:
        made = service(SimpleNamespace(ended=lost))
        return [piece async for piece in batches._lines(batches._Ended(made, "me", "b", None), set())]

    with pytest.raises(StoreUnavailable, match=str(error)):
        asyncio.run(asyncio.wait_for(follow(), 120))


def test_a_quiet_answer_to_a_batch_has_blanks_before_its_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise no proxy would know that it goes on, and the service not that its client is gone."""
    monkeypatch.setattr(batches, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(batches, "LOOK_SECONDS", 0.001)
    counts = iter([(1, 1), (1, 1), (1, 0)])

    async def follow() -> list[bytes]:
        store = SimpleNamespace(ended=lambda *_: [], batch_counts=lambda *_: next(counts))
        return [piece async for piece in batches._lines(batches._Ended(service(store), "me", "b", None), set())]

    name, *blanks, last = asyncio.run(asyncio.wait_for(follow(), 120))
    assert blanks == [b" ", b" "]
    assert json.loads(b"".join((*blanks, last))) == json.loads(name) | {"problems": 1}
