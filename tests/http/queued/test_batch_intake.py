"""What a batch takes of its client's lines: what it waits for, what ends it and how, and that it ends when its client leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import threading
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.routes import steps
from api.routes.queued import batch_intake, batches, patience
from api.routes.queued.patience import Patience
from api.store import StoreUnavailable
from tests.http.queued.test_batches import LINES, Sending, line
from tests.http.queued.test_jobs import post_job
from tests.http.served import SECONDS, SLOW, SLOW_QUERY, Served, refusal, running_inside, serving
from tests.running.processes import until

ENDLESS = b"%s\n" % json.dumps({**json.loads(SLOW), "solve": {"solver": "waiting", "time_limit": 600}}).encode()


def last_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the last line of a batch's answer."""
    assert answer.status_code == 200, answer.text
    last: dict[str, Any] = json.loads(answer.text.splitlines()[-1])
    return last


def streams(client: httpx.Client) -> str:
    """Return how many lasting answers are counted."""
    lines = client.get("/metrics").text.splitlines()
    return next(each for each in lines if each.startswith("memplan_streams "))


@pytest.mark.parametrize("changed", [line(2), b"{no problem\n"])
@pytest.mark.parametrize("number", [0, 1])
def test_another_line_with_the_same_key_ends_the_batch(service: Served, number: int, changed: bytes) -> None:
    key = {**LINES, "Idempotency-Key": f"changed {number} {len(changed)}".replace(" ", "-")}
    lines = [line(0), line(1)]
    first = service.client.post("/v1/batches", content=b"".join(lines), headers=key)
    assert last_of(first)["problems"] == 2
    lines[number] = changed
    again = service.client.post("/v1/batches", content=b"".join(lines), headers=key)
    assert (last_of(again)["problems"], last_of(again)["error"]["code"]) == (2, "idempotency_key_reused")
    assert sorted(again.text.splitlines()[1:-1]) == sorted(first.text.splitlines()[1:-1])


def test_a_batch_without_room_for_its_first_line_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, max_jobs_per_token="1", max_streams="1") as service:
        job = post_job(service, SLOW, SLOW_QUERY)
        for _ in range(3):
            sent = service.client.post("/v1/batches", content=line(0) + line(1), headers=LINES)
            found = refusal(sent)
            assert (found["status"], found["code"], sent.headers["retry-after"]) == (429, "queue_full", "5")
        assert streams(service.client) == "memplan_streams 0.0"
        assert [each["id"] for each in service.client.get("/v1/jobs").json()["jobs"]] == [job["id"]]


@pytest.mark.parametrize("count", [2, 3000])
def test_a_client_that_leaves_while_its_lines_wait_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Also one of whose lines most are still unread: nothing tells of its end then but that an answer is not taken."""
    monkeypatch.setattr(batches, "QUIET_SECONDS", 0.0)
    monkeypatch.setenv("MEMPLAN_SOLVERS", "waiting")
    with running_inside(tmp_path, max_jobs_per_token=1) as (client, _):
        sending = Sending(str(client.base_url))
        sending.send(ENDLESS)
        batch = next(sending.answers())["batch"]
        sending.line.setblocking(False)  # the rest is given to the system, and not waited for
        with contextlib.suppress(BlockingIOError):
            for number in range(1, count):
                sending.send(line(number))
        assert streams(client) == "memplan_streams 1.0"
        sending.close()
        until(lambda: streams(client) == "memplan_streams 0.0")
        jobs = client.get(f"/v1/jobs?batch={batch}").json()["jobs"]
        assert [job["line"] for job in jobs] == [0]
        assert client.delete(f"/v1/batches/{batch}").json()["problems"] == 1


def test_nothing_is_stored_of_a_client_that_leaves_before_it_knows_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, goes_on = threading.Event(), threading.Event()

    async def slowly(*given: Any) -> Any:
        reading.set()
        await asyncio.to_thread(goes_on.wait)
        return await steps.understand(*given)

    monkeypatch.setattr(batch_intake, "understand", slowly)
    with running_inside(tmp_path) as (client, _):
        sending = Sending(str(client.base_url))
        sending.send(line(0))
        assert reading.wait(SECONDS)
        sending.close()
        assert streams(client) == "memplan_streams 1.0"
        goes_on.set()
        until(lambda: streams(client) == "memplan_streams 0.0")
    with contextlib.closing(sqlite3.connect(tmp_path / "memplan.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM jobs").fetchone() == (0,)


@pytest.mark.parametrize(("number", "answered"), [(0, None), (1, 2)])
def test_a_damaged_key_ends_the_batch(tmp_path: Path, number: int, answered: int | None) -> None:
    key = {**LINES, "Idempotency-Key": "damaged"}
    with serving(tmp_path) as service:
        assert last_of(service.client.post("/v1/batches", content=line(0) + line(1), headers=key))["problems"] == 2
        with contextlib.closing(sqlite3.connect(tmp_path / "memplan.sqlite", isolation_level=None)) as other:
            other.execute(f"UPDATE once SET fingerprint = x'ff00ff' WHERE key LIKE '%#{number}'").close()
        again = service.client.post("/v1/batches", content=line(0) + line(1), headers=key)
        found = refusal(again) if answered is None else last_of(again)["error"]
        assert (found["status"], found["code"]) == (503, "store_damaged")
        assert answered is None or last_of(again)["problems"] == answered


def locked(folder: Path) -> sqlite3.Connection:
    """Keep a service from writing, until this is closed."""
    other = sqlite3.connect(folder / "memplan.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE").close()
    return other


def impatient(folder: Path) -> str:
    return f"sqlite:///{folder / 'memplan.sqlite'}?timeout=0.2"


def test_a_batch_that_has_begun_bears_a_store_that_is_lost_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, bear = threading.Event(), Patience.bear

    def heard(patience: Patience, error: StoreUnavailable) -> None:
        lost.set()
        bear(patience, error)

    monkeypatch.setattr(Patience, "bear", heard)
    with running_inside(tmp_path, store_url=impatient(tmp_path)) as (client, _):
        sending = Sending(str(client.base_url))
        sending.send(line(0))
        answers = sending.answers()
        batch = next(answers)["batch"]
        assert next(answers)["line"] == 0
        with contextlib.closing(locked(tmp_path)):
            refused = client.post("/v1/batches", content=line(5), headers=LINES)
            assert (refusal(refused)["code"], refused.headers["retry-after"]) == ("store_unavailable", "5")
            for each in (line(1), b"{no problem\n"):
                sending.send(each)
            assert lost.wait(SECONDS)
        sending.end()
        *told, last = answers
        assert last == {"batch": batch, "problems": 3}
        assert {each["line"]: each["state"] for each in told} == {1: "succeeded", 2: "failed"}
        sending.close()


@pytest.mark.parametrize("lost", [line(1), b"{no problem\n"])
def test_a_batch_ends_where_its_store_is_lost_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: bytes
) -> None:
    monkeypatch.setattr(patience, "STORE_SECONDS", 0.0)
    with running_inside(tmp_path, store_url=impatient(tmp_path)) as (client, _):
        sending = Sending(str(client.base_url))
        sending.send(line(0))
        answers = sending.answers()
        assert [each.get("line") for each in islice(answers, 2)] == [None, 0]
        with contextlib.closing(locked(tmp_path)):
            sending.send(lost)
            sending.end()
            (last,) = answers
        assert (last["problems"], last["error"]["status"], last["error"]["code"]) == (1, 503, "store_unavailable")
        sending.close()


def test_a_fault_is_told_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def faulty(*given: Any, **named: Any) -> Any:
        if named["line"]:
            raise ZeroDivisionError
        return await steps.enqueue(*given, **named)

    monkeypatch.setattr(batch_intake, "enqueue", faulty)
    with running_inside(tmp_path) as (client, _):
        sent = client.post("/v1/batches", content=line(0) + line(1), headers=LINES)
    last = last_of(sent)
    assert (last["problems"], last["error"]["status"], last["error"]["code"]) == (1, 500, "internal")
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "answered", "code"),
    [
        (b"".join(map(line, range(5))), 4, "too_large"),
        (line(0) + b"[" * 5000, 1, "too_large"),
    ],
)
def test_excessive_lines_end_the_batch(tmp_path: Path, body: bytes, answered: int, code: str) -> None:
    with serving(tmp_path, max_batch="4", max_body_bytes="4096") as service:
        found = service.client.post("/v1/batches", content=body, headers=LINES).text.splitlines()
        last = json.loads(found[-1])
        assert (last["problems"], last["error"]["code"], len(found)) == (answered, code, answered + 2)


def test_too_many_wrong_lines_end_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert batch_intake.MOST_REFUSED == 1000
    monkeypatch.setattr(batch_intake, "MOST_REFUSED", 50)
    with running_inside(tmp_path) as (client, _):
        found = client.post("/v1/batches", content=b"0\n" * 500, headers=LINES).text.splitlines()
    last = json.loads(found[-1])
    assert 50 <= last["problems"] <= 60
    assert last["error"]["code"] == "invalid_value"


def test_a_batch_waits_where_the_queue_is_full(tmp_path: Path) -> None:
    with serving(tmp_path, max_queue="3") as service:
        found = service.client.post("/v1/batches", content=b"".join(map(line, range(40))), headers=LINES)
        answers = [json.loads(text) for text in found.text.splitlines()]
        assert answers[-1]["problems"] == 40
        assert {each["state"] for each in answers[1:-1]} == {"succeeded"}


def test_a_batch_that_is_refused_at_once_ends_without_a_fault(tmp_path: Path) -> None:
    """The refusal comes while the rest of the body is still being sent."""
    with serving(tmp_path, max_body_bytes="4096") as service:
        sent = service.client.post("/v1/batches", content=iter([b"[" * 100_000] * 20), headers=LINES)
        assert refusal(sent)["code"] == "too_large"
        assert service.client.get("/healthz").status_code == 200
    assert not [line for line in service.log if "never retrieved" in line]
