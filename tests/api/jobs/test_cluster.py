"""A cluster worker runs tasks in a process of its own, which can be stopped or killed and serves the next task."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, cast

import pytest

from api.jobs.processes import cluster, cluster_worker
from api.jobs.processes.cluster_worker import best_there, do_there, stop_there
from api.jobs.processes.pool import Reply, Slot, Task
from api.jobs.requests.options import as_document
from api.settings import Settings
from planner import Options, read_plan
from tests.api.jobs.rigs import EASY, SECONDS, SLOW
from tests.running.forked import forking_workers
from tests.running.processes import until

FOREVER = Options(solver="cbc", time_limit=600, work_limit=10**12, workers=1)
"""With these options a plan is known before the solver begins, so there is one whenever the solver is stopped."""


def header_of(options: Options) -> dict[str, Any]:
    return {"task": "solve", "kind": "plan", "format": None, "options": as_document(options), "notes": []}


def test_a_task_on_a_cluster_is_stopped_killed_and_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_worker, "_settings_here", Settings.model_validate_json)
    idle: dict[str, deque[Slot]] = {}
    monkeypatch.setattr(cluster_worker, "_idle", idle)
    settings = Settings().model_dump_json()
    slots: list[Slot] = []
    with forking_workers(), ThreadPoolExecutor(1) as threads:

        def begun(ticket: str) -> Future[Any]:
            running = threads.submit(do_there, ticket, header_of(FOREVER), [SLOW], 600.0, settings)
            until(lambda: ticket in cluster_worker._running)
            return running

        reply, _ = do_there("easy", header_of(Options(workers=1)), [EASY], 60.0, settings)
        assert (reply.header["kind"], reply.header["status"]) == ("done", "optimal")
        try:
            slots += idle[settings]
            running = begun("stopped")
            assert stop_there(["stopped", "later"]) == ["stopped"]
            reply, _ = running.result(SECONDS)
            # On a busy machine it may be stopped before it has begun to plan, or not end in time.
            assert reply.header["kind"] in ("done", "called_off", "died")
            if reply.header["kind"] == "done":
                assert (reply.header["stop"], bool(read_plan(reply.payload).placements)) == ("cancelled", True)
            reply, best = do_there("later", header_of(FOREVER), [SLOW], 600.0, settings)
            assert (reply.header["why"], best) == ("it was called off before it had begun", None)

            running = begun("killed")
            os.kill(until(lambda: slots[0].pid), signal.SIGKILL)
            reply, _ = running.result(SECONDS)
            assert reply.header["kind"] == "died"
            reply, _ = do_there("again", header_of(Options(workers=1)), [EASY], 60.0, settings)
            assert reply.header["kind"] == "done"
            assert [len(each) for each in idle.values()] == [1]
        finally:
            for slot in slots:
                slot.close()


def test_frequent_progress_is_sent_now_and_then_and_the_last_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(cluster_worker, "tell_from_there", lambda topic: lambda news: sent.append((topic, list(news))))
    monkeypatch.setattr(cluster_worker, "NEWS_SECONDS", 0.2)
    news_of_task = cluster_worker._Told("topic-1")
    news = [{"kind": "progress", "best": best} for best in range(100)]
    for each in news:
        news_of_task(Reply(each))
    until(lambda: sent and sent[-1][1][1] == news[-1])
    assert len(sent) < 20
    assert {(topic, ticket) for topic, (ticket, _) in sent} == {("topic", "topic-1")}
    news_of_task(Reply({"kind": "plan", "points": [1]}, b"a"))
    news_of_task(Reply({"kind": "plan", "points": [2]}, b"b"))
    assert news_of_task.best == Reply({"kind": "plan", "points": [1, 2]}, b"b")
    news_of_task(Reply(news[0]))
    news_of_task.end()
    count = len(sent)
    news_of_task._tell()
    assert len(sent) == count


def test_only_new_best_plans_of_limited_length_are_handed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    news_of_task = {ticket: cluster_worker._Told(ticket) for ticket in ("t-1", "t-2", "t-3", "t-4")}
    tasks = {ticket: Task({}, on_message=each) for ticket, each in news_of_task.items()}
    monkeypatch.setattr(cluster_worker, "_running", tasks)
    monkeypatch.setattr(cluster_worker, "MOST_OF_A_PLAN", 5)
    monkeypatch.setattr(cluster_worker, "MOST_AT_ONCE", 6)
    for ticket, plan in (("t-1", b"1"), ("t-1", b"four"), ("t-2", b"too long"), ("t-3", b"next")):
        news_of_task[ticket](Reply({"kind": "plan"}, plan))
    none = dict.fromkeys((*news_of_task, "elsewhere"), 0)
    answer = best_there(none)
    assert answer == {"t-1": (2, Reply({"kind": "plan"}, b"four")), "t-2": (1, None)}
    assert best_there({**none, "t-1": 2, "t-2": 1}) == {"t-3": (1, Reply({"kind": "plan"}, b"next"))}


def test_each_point_is_passed_on_once() -> None:
    this = cluster._UnderWay(Task({}), None, cast(Any, None))
    for points, new in ((["a", "b"], ["a", "b"]), (["a", "b", "c"], ["c"]), (["a", "b", "c"], []), (["x"], ["x"])):
        assert this.new_of(Reply({"kind": "plan", "points": points}, b"")).header["points"] == new


def test_a_task_without_a_client_is_called_off() -> None:
    wanted = [True]
    called_off = cluster_worker._CalledOff(lambda: wanted[0])
    assert not called_off.is_set()
    wanted[0] = False
    assert called_off.is_set()
    called_off = cluster_worker._CalledOff(lambda: True)
    called_off.set()
    assert called_off.is_set()


def test_settings_passed_to_a_worker_hold_no_secret() -> None:
    pytest.importorskip("distributed")
    settings = Settings(tokens={"me": "0" * 64}, metrics_tokens=("me",), store_url="postgresql" + "://me:secret@x/y")
    passed_on = cluster.ClusterPool("tcp://127.0.0.1:1", settings)._settings
    assert "secret" not in passed_on
    assert "0" * 64 not in passed_on
    Settings.model_validate_json(passed_on)


class Ended:
    """A Dask future whose result cannot be fetched."""

    def __init__(self, status: str, error: Exception) -> None:
        self.status, self._error = status, error

    async def result(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("status", "error", "is_death"),
    [
        ("cancelled", CancelledError("scheduler-connection-lost"), False),
        # Dask has not noticed yet that its scheduler is gone.
        ("finished", OSError("in <rpc>: Stream is closed"), False),
        ("finished", ValueError("nothing that can be read"), True),
        ("error", OSError("the worker's own"), True),
    ],
)
def test_a_lost_scheduler_is_not_counted_as_a_death(status: str, error: Exception, *, is_death: bool) -> None:
    ending = asyncio.run(cluster._ending(Ended(status, error)))
    assert (ending is not None) == is_death
    assert ending is None or ending[0].header["kind"] == "died"
