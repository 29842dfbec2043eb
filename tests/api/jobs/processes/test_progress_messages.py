"""While it works, a worker process sends the latest progress and now and then its best plan; after the end nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import pytest

from api.jobs.processes import worker
from api.jobs.processes.messages import unpack
from api.jobs.processes.worker import Reporter, Teller, Worker
from api.settings import Settings
from planner import Options, Plan, plan
from planner.model.deadline import CalledOff, look
from planner.planning.placing.watching import Progress
from tests.planner.planning.placing.test_starting import tangle

PLAN = plan(tangle(), Options(solver="greedy"))


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> tuple[Worker, Connection]:
    """An idle worker and the other end of its connection."""
    monkeypatch.setattr(worker, "TOLD_SECONDS", 0.01)
    receiving, sending = Pipe(duplex=False)
    return Worker(sending, Settings()), receiving


def moment(value: int, best: Callable[[], Plan] | None = None) -> Progress:
    return Progress(0.5, value, 1, best)


def heard_from(connection: Connection) -> list[dict[str, Any]]:
    """Return the messages that have come since the last call."""
    messages = []
    while connection.poll():
        header, payload = unpack(connection.recv_bytes())
        messages.append({**header, "bytes": len(payload)})
    return messages


def test_only_the_latest_progress_is_sent_and_only_once(ends: tuple[Worker, Connection]) -> None:
    made, connection = ends
    reporter = Reporter(made, 7, [])
    reporter.tell()
    assert heard_from(connection) == []
    for value in (9, 8, 7):
        reporter.progress(moment(value))
    reporter.tell()
    reporter.tell()
    message = {"kind": "progress", "number": 7, "seconds": 0.5, "best": 7, "bound": 1, "bytes": 0}
    assert heard_from(connection) == [message]


def test_the_best_plan_is_sent_now_and_then_and_not_twice(
    ends: tuple[Worker, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: now, sleep=time.sleep))
    made, connection = ends
    reporter = Reporter(made, 7, ["a note"])

    def tell(value: int) -> list[str]:
        reporter.progress(moment(value, lambda: PLAN))
        reporter.tell()
        return [message["kind"] for message in heard_from(connection)]

    assert tell(9) == ["progress", "plan"]
    assert tell(8) == ["progress"], "too soon for a plan"
    now += worker.SAVED_SECONDS
    assert tell(8) == ["progress", "plan"]
    now += worker.SAVED_SECONDS
    assert tell(8) == ["progress"], "it is as good as the last one"


def test_an_ended_reporter_sends_nothing_more(ends: tuple[Worker, Connection]) -> None:
    made, connection = ends
    reporter = Reporter(made, 7, [])
    reporter.progress(moment(9, lambda: PLAN))
    reporter.end()
    reporter.tell()
    assert heard_from(connection) == []


def test_the_end_does_not_wait_until_the_best_plan_is_verified(ends: tuple[Worker, Connection]) -> None:
    made, connection = ends
    begun = threading.Event()
    called_off = []

    def verified_for_ever() -> Plan:
        begun.set()
        try:
            while True:
                look("verifying the plan of")
        except CalledOff:
            called_off.append(True)
            raise

    reporter = Reporter(made, 7, [])
    reporter.progress(moment(9, verified_for_ever))
    telling = threading.Thread(target=reporter.tell)
    telling.start()
    assert begun.wait(30)
    reporter.end()
    telling.join(30)
    assert called_off
    assert [message["kind"] for message in heard_from(connection)] == ["progress"]


def test_points_are_put_down_while_earlier_ones_are_written(ends: tuple[Worker, Connection]) -> None:
    made, connection = ends
    reporter = Reporter(made, 7, [])
    begun, is_put_down = threading.Event(), threading.Event()

    def so_far() -> tuple[dict[str, Any], bytes]:
        begun.set()
        assert is_put_down.wait(30)
        return {}, b""

    reporter.point({"number": 1}, so_far)
    telling = threading.Thread(target=reporter.tell)
    telling.start()
    assert begun.wait(30)
    reporter.point({"number": 2}, so_far)
    is_put_down.set()
    telling.join(30)
    assert [message["points"] for message in heard_from(connection)] == [[{"number": 1}]]
    assert reporter.end() == [{"number": 2}]


def test_an_unwritable_plan_does_not_stop_later_progress(
    ends: tuple[Worker, Connection], capsys: pytest.CaptureFixture[str]
) -> None:
    made, connection = ends

    def without_memory() -> Plan:
        raise MemoryError

    teller = Teller()
    for number, best in ((1, without_memory), (2, lambda: PLAN)):
        reporter = Reporter(made, number, [])
        teller.listen_to(reporter)
        reporter.progress(moment(9, best))
        assert connection.poll(30)
        until_told(connection, "progress" if number == 1 else "plan", number)
        teller.listen_to(None)
        reporter.end()
    assert "MemoryError" in capsys.readouterr().err


def test_one_thread_sends_the_progress_of_many_short_tasks(ends: tuple[Worker, Connection]) -> None:
    made, connection = ends
    teller, before = Teller(), threading.active_count()
    for number in range(200):
        reporter = Reporter(made, number, [])
        teller.listen_to(reporter)
        reporter.progress(moment(9))
        teller.listen_to(None)
        reporter.end()
    assert threading.active_count() == before
    last = Reporter(made, 200, [])
    teller.listen_to(last)
    last.progress(moment(9))
    until_told(connection, "progress", 200)


def until_told(connection: Connection, kind: str, number: int) -> None:
    end = time.monotonic() + 120
    while True:
        assert connection.poll(max(end - time.monotonic(), 0)), "nothing was told"
        header, _ = unpack(connection.recv_bytes())
        if (header["kind"], header["number"]) == (kind, number):
            return


def test_a_look_that_is_called_off_ends_at_the_next_point(ends: tuple[Worker, Connection]) -> None:
    """Otherwise the rest would still be planned, hastily, for an answer that nobody wants."""
    made, _ = ends
    look, whole = Reporter(made, 7, [], is_look=True), Reporter(made, 8, [])
    for reporter in (look, whole):
        reporter.point({}, lambda: ({}, b""))
    made.cancelled |= dict.fromkeys((7, 8), time.monotonic())
    whole.point({}, lambda: ({}, b""))
    with pytest.raises(CalledOff):
        look.point({}, lambda: ({}, b""))


@pytest.mark.parametrize(("seconds", "found"), [(0.0, 3), (60.0, 5)])
def test_a_cancelled_answer_of_several_plans_ends_in_time_with_those_found(
    ends: tuple[Worker, Connection], monkeypatch: pytest.MonkeyPatch, seconds: float, found: int
) -> None:
    """Otherwise the process is killed where the rest takes too long, although it is planned in haste."""
    made, connection = ends
    monkeypatch.setattr(worker, "LAST_SECONDS", seconds)

    def work(_header: Any, _parts: Any, _settings: Any, line: Reporter) -> Any:
        def so_far() -> Any:
            return {"stop": "cancelled"}, b"x" * count

        for count in range(1, 6):
            if count == 3:
                made.cancelled[7] = time.monotonic() - 1
            line.point({"part": count}, so_far)
        return so_far()

    monkeypatch.setattr(worker, "do", work)
    made._do({"number": 7}, [])
    message = heard_from(connection)[-1]
    assert (message["kind"], message["stop"], message["bytes"]) == ("done", "cancelled", found)
    assert [point["part"] for point in message["points"]] == [*range(1, found + 1)]
