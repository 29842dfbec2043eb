"""`memplan worker`, run as a process: when it starts or refuses to, what it logs, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.http.faults.cluster import READY
from tests.http.faults.test_lifecycle import group
from tests.http.served import PLAIN, SECONDS, THREE, Running, refusal, serving
from tests.running.command import run
from tests.running.postgresql import Server
from tests.running.processes import until_ended


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a worker needs a store that services share"),
        (["--store", "sqlite:///x.sqlite"], "a worker needs a store that services share"),
        (["--store", "mysql" + "://x/y"], "only sqlite:/// and postgresql://"),
        (["--store", "postgresql" + "://me:secret@127.0.0.1:1/x"], "port 1 failed: Connection refused"),
        (["--store", "postgresql" + "://me@127.0.0.1/x?nonsense=1"], "nonsense"),
        (["--settings", "nowhere.toml"], "there is no settings file"),
    ],
)
def test_a_worker_that_cannot_start_says_why_in_a_sentence(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run("worker", *arguments, cwd=tmp_path)
    message = done.stderr.decode()
    assert (done.returncode, done.stdout, "Traceback" in message, "secret" in message) == (2, b"", False, False)
    assert words in message


def test_a_service_says_why_its_database_cannot_be_used(tmp_path: Path) -> None:
    url = "postgresql" + "://me:secret@127.0.0.1:1/x"
    done = run("serve", "--port", "0", "--store", url, cwd=tmp_path)
    message = done.stderr.decode()
    assert (done.returncode, "Traceback" in message, "secret" in message) == (2, False, False)
    assert "Connection refused" in message


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_reports_metrics_and_ends_on_a_signal(postgresql: Server, number: signal.Signals) -> None:
    ready = re.compile(r"memplan worker is ready for 2 jobs at a time; metrics on port (\d+)")
    variables = {"MEMPLAN_STORE_URL": postgresql.new_database(), "MEMPLAN_METRICS_PORT": "0", "MEMPLAN_WORKERS": "2"}
    worker = Running(ready, ["api.cli", "worker"], variables)
    metrics = httpx.get(f"http://127.0.0.1:{worker.wait()[1]}/metrics", trust_env=False, verify=PLAIN).text
    assert 'memplan_workers{processes="solvers"} 2.0' in metrics
    assert 'memplan_jobs{state="queued"} 0.0' in metrics
    processes = group(worker.children())
    assert len(processes) >= 2
    assert worker.stop(number) == 0
    until_ended(processes)
    assert not any("Traceback" in line for line in worker.log), worker.log


def test_a_worker_that_is_killed_leaves_no_process_behind(postgresql: Server) -> None:
    worker = Running(READY, ["api.cli", "worker"], {"MEMPLAN_STORE_URL": postgresql.new_database()})
    worker.wait()
    processes = group(worker.children())
    worker.stop(signal.SIGKILL)
    until_ended(processes)


def test_metrics_on_a_port_of_their_own_are_not_on_the_other(tmp_path: Path) -> None:
    with serving(tmp_path, metrics_port="0") as service:
        assert refusal(service.client.get("/metrics"))["code"] == "not_found"
        started = next(line for line in service.log if '"started"' in line)
        port = re.search(r'"metrics_port": (\d+)', started)
        assert port is not None
        service.plan(THREE)
        metrics = httpx.get(f"http://127.0.0.1:{port[1]}", trust_env=False, verify=PLAIN).text
        assert 'memplan_requests_total{method="POST",route="/v1/plans",status="200"} 1.0' in metrics


def test_a_plan_without_workers_becomes_a_waiting_job(postgresql: Server, tmp_path: Path) -> None:
    url = postgresql.new_database()
    with serving(tmp_path, store_url=url, sync_seconds="0.2") as service:
        response = service.plan(THREE)
        assert (response.status_code, response.json()["state"]) == (202, "queued")
        worker = Running(READY, ["api.cli", "worker"], {"MEMPLAN_STORE_URL": url})
        try:
            end = time.monotonic() + SECONDS
            while service.client.get(response.headers["location"]).json()["state"] != "succeeded":
                assert time.monotonic() < end
                time.sleep(0.05)
            with psycopg.connect(url, autocommit=True) as connection:  # the job leaves the queue a moment later
                while connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone() != (0,):
                    assert time.monotonic() < end
                    time.sleep(0.05)
        finally:
            worker.stop()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM procrastinate_workers").fetchone() == (0,)


def test_plans_of_plan_many_are_answered_from_the_shared_store(postgresql: Server, tmp_path: Path) -> None:
    url, problem = postgresql.new_database(), tmp_path / "three.json"
    problem.write_text(json.dumps(THREE))
    limit = ("--time-limit", "10")
    done = run("plan-many", str(problem), "-o", str(tmp_path / "out"), "--store", url, *limit)
    assert json.loads(done.stdout)["sources"] == {"solved": 1}
    with serving(tmp_path / "data", store_url=url) as service:
        found = service.plan(THREE)
    assert (found.status_code, found.headers["x-cache"]) == (200, "hit"), "there is no worker to plan it"
    (plan,) = (tmp_path / "out").rglob("*.plan.json")
    assert found.json()["placements"] == json.loads(plan.read_bytes())["placements"]
