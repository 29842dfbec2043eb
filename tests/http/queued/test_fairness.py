"""The jobs of one token leave room for those of others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.http.faults.cluster import READY
from tests.http.hostile.attacks import connected, head
from tests.http.hostile.clients import SETTING, client
from tests.http.served import JSON, SECONDS, SLOW, SLOW_QUERY, THREE, Running, Served, serving
from tests.running.postgresql import Server
from tests.running.processes import until


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_small_plan_does_not_wait_for_another_s_long_jobs(tmp_path: Path, workers: str) -> None:
    with (
        serving(tmp_path, tokens=SETTING, workers=workers, sync_seconds=str(SECONDS)) as service,
        client(service, "a") as a,
        client(service, "b") as b,
    ):
        first, *_ = [a.post(f"/v1/jobs{SLOW_QUERY}&seed={number}", content=SLOW).json()["id"] for number in range(8)]
        until(lambda: first in running_ids(a))
        for limit in (10, 600):
            answer = b.post(f"/v1/plans?time_limit={limit}", content=json.dumps(THREE))
            assert answer.status_code == 200, "long before a's jobs have ended"
        running = until(lambda: len(found := running_ids(a)) == 1 and found)
        assert running == [first], "one worker is left to what is short, when it has looked at the others"


@contextmanager
def one_service(folder: Path, _: Server) -> Iterator[Served]:
    with serving(folder, tokens=SETTING, workers="2", sync_seconds=str(SECONDS)) as service:
        yield service


@contextmanager
def service_and_worker(folder: Path, server: Server) -> Iterator[Served]:
    url = server.new_database()
    worker = Running(READY, ["api.cli", "worker"], {"MEMPLAN_STORE_URL": url, "MEMPLAN_WORKERS": "2"})
    try:
        with serving(folder, tokens=SETTING, store_url=url, sync_seconds=str(SECONDS)) as service:
            worker.wait()
            yield service
    finally:
        worker.stop()


@pytest.mark.parametrize("running", [one_service, service_and_worker])
def test_jobs_of_one_token_leave_a_process_to_others_whatever_their_time_limits(
    tmp_path: Path, postgresql: Server, running: Callable[[Path, Server], AbstractContextManager[Served]]
) -> None:
    """Ten seconds count as short, and are what plans get that ask for no limit."""
    with running(tmp_path, postgresql) as service, client(service, "a") as a, client(service, "b") as b:
        slow = SLOW_QUERY.replace("time_limit=600", "time_limit=10")
        assert slow != SLOW_QUERY
        for number in range(3):
            a.post(f"/v1/jobs{slow}&seed={number}", content=SLOW)
        b.post(f"/v1/jobs{slow}", content=SLOW)
        begun = until(lambda: [id_ for id_ in running_ids(a) if a.get(f"/v1/jobs/{id_}").json()["links"]["plan"]])
        assert b.post("/v1/plans?time_limit=10", content=json.dumps(THREE)).status_code == 200
        assert begun[0] in running_ids(a), "long before it has ended"
        assert not any(a.get(f"/v1/jobs?state={state}").json()["jobs"] for state in ("succeeded", "failed"))


def running_ids(one: httpx.Client) -> list[str]:
    return [job["id"] for job in one.get("/v1/jobs?state=running").json()["jobs"]]


LARGE = json.dumps({**THREE, "buffers": [{"id": n, "size": 8, "live": [[n, n + 2]], "hint": 0} for n in range(30_000)]})
"""A problem whose buffers have hints, so that they are read one by one; reading columns takes almost no time."""


@pytest.mark.parametrize("readers", ["1", "2"])
def test_a_small_body_is_checked_while_large_ones_wait(tmp_path: Path, readers: str) -> None:
    with (
        serving(tmp_path, tokens=SETTING, readers=readers) as service,
        client(service, "a") as a,
        client(service, "b") as b,
    ):
        b.post("/v1/validate", content=json.dumps(THREE))
        with ThreadPoolExecutor(6) as threads:
            large = [threads.submit(a.post, "/v1/validate", content=LARGE) for _ in range(6)]
            time.sleep(0.3)
            assert b.post("/v1/validate", content=json.dumps(THREE)).json()["valid"]
            assert sum(answer.done() for answer in large) < 6
            assert all(answer.result().json()["valid"] for answer in large)


@pytest.mark.parametrize("path", ["/v1/validate", "/v1/jobs"])
def test_bodies_of_clients_that_left_are_not_read(tmp_path: Path, path: str) -> None:
    """Otherwise the only reader would be busy for a long time with requests that nobody waits for."""
    body = b'{"format": "memplan/1", "buffers": [' + b"{}," * 7_500_000 + b"{}]}"
    with serving(tmp_path) as service:
        service.plan()
        for _ in range(3):
            with connected(service) as line:
                line.sendall(head(path, "application/json", f"Content-Length: {len(body)}") + body)
                time.sleep(0.5)
        begun = time.monotonic()
        small = service.client.post("/v1/validate", content=json.dumps(THREE), headers=JSON)
        assert small.json()["valid"]
        assert time.monotonic() - begun < 40, "each would be read for 15 seconds at least"
