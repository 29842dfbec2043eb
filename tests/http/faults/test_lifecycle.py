"""What becomes of jobs when workers or the service are killed or stopped."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import time
from pathlib import Path

import pytest

import planner
from api.store.opening import open_store
from api.store.records import JobFilter, JobState
from planner import read_plan, read_problem
from tests.http.hostile.attacks import connected
from tests.http.queued.test_jobs import events, post_job, until, until_there_is_a_plan
from tests.http.served import SECONDS, SLOW, SLOW_QUERY, Served, refusal, serving
from tests.running.command import run
from tests.running.forked import children_of
from tests.running.processes import until_ended


def group(pids: list[int]) -> list[int]:
    """Return the processes and their descendants."""
    found = list(pids)
    for pid in found:
        found += children_of(pid)
    return found


def test_a_killed_service_leaves_nothing_behind_and_the_next_one_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        job = post_job(first, SLOW, SLOW_QUERY)
        before = until_there_is_a_plan(first, job).json()
        end = time.monotonic() + SECONDS
        while len(processes := group(first.children())) < 3:
            assert time.monotonic() < end, "two workers, and what solves"
            time.sleep(0.05)
        first.stop(signal.SIGKILL)
        until_ended(processes)
    with serving(tmp_path) as second:
        now = until(second, job, "running")
        assert (now["attempt"], now["best"]) == (2, before["objective"]["value"])
        second.client.delete(job["links"]["self"])
        until(second, job, "cancelled")
        kept = second.client.get(f"{job['links']['self']}/plan").content
        problem, _ = read_problem(SLOW)
        plan = read_plan(kept)
        assert planner.verify(problem, plan) == ()
        assert (plan.peak or 0) <= before["peak"]
        assert any("job was running when the service ended" in line for line in second.log)


def test_a_killed_worker_is_replaced_and_a_job_that_kills_three_is_given_up(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        job = post_job(service, SLOW, SLOW_QUERY)
        until_there_is_a_plan(service, job)
        while (now := until(service, job, "running", "failed"))["state"] == "running":
            for pid in service.children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        assert (now["attempt"], now["failure"]["code"], now["status"]) == (3, "worker_died", "feasible")
        assert "killed by signal 9" in now["failure"]["detail"]
        assert service.client.get(now["links"]["plan"]).json()["status"] == "feasible"
        assert service.plan().status_code == 200, "and the service goes on"


def test_a_stopping_service_puts_its_jobs_back(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        running = post_job(service, SLOW, SLOW_QUERY)
        queued = post_job(service, SLOW, f"{SLOW_QUERY}&seed=1")
        until_there_is_a_plan(service, running)
        until(service, queued, "queued", attempt=1)  # a first look at it is over
        heard = []
        for _, kind, _ in events(service, queued):
            heard.append(kind)
            if len(heard) == 1:
                processes = group(service.children())
                service.process.send_signal(signal.SIGTERM)
        assert heard == [*["state"] * 3, "closing"], "queued, looked at, and queued again"
        assert service.stop() == 0
        until_ended(processes)
        assert not any("Traceback" in line for line in service.log), service.log
    store = open_store(f"sqlite:///{tmp_path / 'memplan.sqlite'}")
    jobs = {job.id: job for job in store.jobs(JobFilter("anonymous"))}
    assert {job.state for job in jobs.values()} == {JobState.QUEUED}
    assert (jobs[running["id"]].deaths, jobs[running["id"]].has_plan) == (0, True)
    store.close()


def test_a_second_service_in_one_data_folder_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        code, message = refused_start(tmp_path)
        assert (code, "in use by another service" in message, str(first.process.pid) in message) == (2, True, True)
        assert "Traceback" not in message


def test_a_second_service_on_one_sqlite_file_is_refused(tmp_path: Path) -> None:
    """It took over what the first was carrying out."""
    url = f"sqlite:///{tmp_path / 'jobs.sqlite'}"
    with serving(tmp_path / "first", store_url=url) as first:
        code, message = refused_start(tmp_path / "second", {"MEMPLAN_STORE_URL": url})
        assert (code, "in use by another service" in message, str(first.process.pid) in message) == (2, True, True)


def test_a_request_that_is_still_arriving_when_the_service_stops_is_told_so(tmp_path: Path) -> None:
    with serving(tmp_path, shutdown_seconds="1") as service:
        with connected(service) as line:
            head = (
                b"POST /v1/plans HTTP/1.1",
                b"Host: localhost",
                b"Content-Type: application/json",
                b"Content-Length: 900",
            )
            line.sendall(b"\r\n".join((*head, b"", b"{")))
            time.sleep(0.3)
            service.process.send_signal(signal.SIGTERM)
            told, _, body = b"".join(iter(lambda: line.recv(1 << 16), b"")).partition(b"\r\n\r\n")
        assert (told.split()[1], json.loads(body)["code"]) == (b"503", "stopping")
        assert service.stop() == 0
        assert not any("Traceback" in text for text in service.log), service.log


@pytest.mark.parametrize(
    ("variables", "word"),
    [
        ({"MEMPLAN_READERS": "many"}, "readers"),
        ({"MEMPLAN_HOST": "0.0.0.0"}, "can be reached from other machines"),
        ({"MEMPLAN_TOKENS": "me=secret"}, "64 hexadecimal digits"),
        ({"MEMPLAN_STORE_URL": "mysql" + "://x/y"}, "store"),
        ({"MEMPLAN_SETTINGS": "nowhere.toml"}, "there is no settings file"),
        ({"MEMPLAN_DEFAULT_TIME_LIMIT": "50", "MEMPLAN_MAX_TIME_LIMIT": "5"}, "greater than max_time_limit"),
    ],
)
def test_a_service_that_cannot_start_says_why_in_a_sentence(
    tmp_path: Path, variables: dict[str, str], word: str
) -> None:
    code, message = refused_start(tmp_path, variables)
    assert (code, "error: " in message, word in message, "Traceback" in message) == (2, True, True, False), message


@pytest.mark.parametrize("damage", ["no database", "a broken one", "half of one"])
def test_a_store_that_is_damaged_is_not_opened(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "memplan.sqlite"
    if damage == "no database":
        file.write_bytes(random.Random(1).randbytes(100_000))
    else:
        open_store(f"sqlite:///{file}").close()
        data = bytearray(file.read_bytes())
        if damage == "half of one":
            del data[len(data) // 2 :]
        else:
            data[4096:] = random.Random(1).randbytes(len(data) - 4096)
        file.write_bytes(data)
    code, message = refused_start(tmp_path)
    assert (code, "Traceback" in message) == (2, False), message
    assert f"{file} is damaged" in message
    assert "put a copy of it back" in message


def test_a_taken_port_is_reported_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, message = refused_start(tmp_path / "new", port=port)
    assert (code, message.count("\n")) == (2, 1), message
    assert f"port: {port} is in use already on 127.0.0.1" in message
    assert not (tmp_path / "new").exists()


def refused_start(folder: Path, variables: dict[str, str] | None = None, port: int = 0) -> tuple[int, str]:
    """Return the exit code and the message of a service that must not start."""
    done = run("serve", "--port", str(port), env={"MEMPLAN_DATA_DIR": str(folder), **(variables or {})})
    return done.returncode, done.stderr.decode()


def test_uvicorn_starts_the_same_service(tmp_path: Path) -> None:
    command = ["uvicorn", "api.app:app", "--port", "0"]
    service = Served(tmp_path, {"MEMPLAN_WORKERS": "1"}, command)
    try:
        assert service.plan().json()["status"] == "optimal"
        assert refusal(service.client.get("/nowhere"))["code"] == "not_found"
    finally:
        assert service.stop() in (0, -signal.SIGTERM)
