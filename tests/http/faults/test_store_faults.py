"""If a service's SQLite file is locked or its disk is full, it refuses with a message, loses nothing, and recovers."""

from __future__ import annotations

import contextlib
import json
import resource
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import planner
from planner import read_plan, read_problem
from tests.http.queued.test_jobs import events, post_job, until, until_there_is_a_plan
from tests.http.served import JSON, SLOW, SLOW_QUERY, THREE, Served, refusal, serving
from tests.running.disks import mount, mounted

SMALL, LARGE = 6 << 20, 64 << 20
LINES = {"Content-Type": "application/x-ndjson"}
FILLING = json.dumps(THREE).encode() + b" " * 500_000


def test_a_locked_database_refuses_jobs_and_recovers(tmp_path: Path) -> None:
    file = tmp_path / "memplan.sqlite"
    with serving(tmp_path, store_url=f"sqlite:///{file}?timeout=0.2", ready_seconds="0.05") as service:
        running = post_job(service, SLOW, SLOW_QUERY)
        before = until_there_is_a_plan(service, running).json()
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE").close()
            response = service.client.post("/v1/jobs", content=json.dumps(THREE), headers=JSON)
            found = refusal(response)
            assert (found["status"], found["code"], response.headers["retry-after"]) == (503, "store_unavailable", "5")
            assert refusal(service.client.get("/readyz"))["code"] == "not_ready"
            assert refusal(service.client.delete(running["links"]["self"]))["code"] == "store_unavailable"
            assert service.client.get(running["links"]["self"]).json()["state"] == "running", "reading goes on"
            assert service.client.get("/healthz").status_code == 200
            other.execute("ROLLBACK").close()
        assert service.client.get("/readyz").status_code == 200
        require_sound(service, running, before)


def test_a_job_s_end_is_recorded_after_the_database_was_locked(tmp_path: Path) -> None:
    file = tmp_path / "memplan.sqlite"
    with serving(tmp_path, store_url=f"sqlite:///{file}?timeout=0.2") as service:
        job = post_job(service, SLOW, "?solver=waiting&time_limit=1.5")
        until(service, job, "running")
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE").close()
            while not any("the end of a job cannot be noted" in line for line in list(service.log)):
                assert service.client.get(job["links"]["self"]).json()["state"] == "running"
            other.execute("ROLLBACK").close()
        now = until(service, job, "succeeded", "failed")
        assert (now["state"], now["attempt"]) == ("succeeded", 1)
        assert [kind for _, kind, _ in events(service, job)].count("done") == 1


def moved(folder: Path) -> Callable[[], object]:
    """Rename the database file; return a function that renames it back."""
    (folder / "memplan.sqlite").rename(folder / "elsewhere")
    return lambda: (folder / "elsewhere").rename(folder / "memplan.sqlite")


def replaced(folder: Path) -> Callable[[], object]:
    """Put another file in the place of the database; return a function that puts it back."""
    back = moved(folder)
    (folder / "memplan.sqlite").write_bytes((folder / "elsewhere").read_bytes())
    return back


def folder_moved(folder: Path) -> Callable[[], object]:
    away = folder.rename(folder.with_name("away"))
    return lambda: away.rename(folder)


@pytest.mark.parametrize("take", [moved, replaced, folder_moved])
def test_a_removed_database_refuses_jobs_until_it_is_back(
    tmp_path: Path, take: Callable[[Path], Callable[[], object]]
) -> None:
    """SQLite would go on writing to a file that nobody reads again, so the service accepts nothing meanwhile."""
    folder = tmp_path / "data"
    with serving(folder, ready_seconds="0.05") as service:
        kept = post_job(service, THREE)
        until(service, kept, "succeeded")
        put_back = take(folder)
        found = refusal(service.client.post("/v1/jobs", content=json.dumps(THREE), headers=JSON))
        assert (found["status"], found["code"]) == (503, "store_unavailable")
        batch = service.client.post("/v1/batches", content=json.dumps(THREE), headers=LINES)
        assert (refusal(batch)["code"], batch.headers["retry-after"]) == ("store_unavailable", "5")
        assert refusal(service.client.get("/readyz"))["code"] == "not_ready"
        assert service.client.get("/healthz").status_code == 200
        put_back()
        assert service.client.get("/readyz").status_code == 200
        until(service, post_job(service, THREE, "?seed=1"), "succeeded")
        assert service.client.get(f"{kept['links']['self']}/plan").status_code == 200


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk where mounting is allowed, otherwise a folder."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder, SMALL):
        yield folder


def resized(disk: Path, service: Served, size: int) -> None:
    """Change the room: on the disk if it is one, otherwise for each file that the service writes."""
    if disk.is_mount():
        assert mount(disk, f"remount,size={size}")
    else:
        _, most = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size, most))


def test_a_full_disk_refuses_jobs_and_recovers(disk: Path) -> None:
    with serving(disk, ready_seconds="0.05") as service:
        resized(disk, service, SMALL)
        running = post_job(service, SLOW, SLOW_QUERY)
        before = until_there_is_a_plan(service, running).json()
        waiting: list[dict[str, Any]] = []
        while (response := post_filling(service, len(waiting))).status_code == 202:
            waiting.append(response.json())
        found = refusal(response)
        assert (found["status"], found["code"], len(waiting) > 1) == (503, "store_unavailable", True)
        if disk.is_mount():
            ready = refusal(service.client.get("/readyz"))
            assert (ready["code"], "disk" in ready["detail"]) == ("not_ready", True)
            assert service.client.delete(waiting.pop()["links"]["self"]).status_code in (200, 202, 204)
        assert service.client.get("/healthz").status_code == 200
        assert service.client.get(running["links"]["self"]).json()["state"] == "running"
        resized(disk, service, LARGE)
        assert service.client.get("/readyz").status_code == 200
        waiting.append(post_filling(service, len(waiting)).json())
        require_sound(service, running, before)
        for job in waiting:
            assert until(service, job, "succeeded", "failed")["status"] == "optimal"


def post_filling(service: Served, seed: int) -> httpx.Response:
    return service.client.post(f"/v1/jobs?seed={seed}", content=FILLING, headers=JSON)


def require_sound(service: Served, job: dict[str, Any], before: dict[str, Any]) -> None:
    """Assert that the job can be stopped, keeps a valid plan, and has each event once."""
    assert service.client.delete(job["links"]["self"]).status_code == 200
    now = until(service, job, "cancelled")
    assert now["best"] <= before["objective"]["value"]
    plan = read_plan(service.client.get(now["links"]["plan"]).content)
    assert planner.verify(read_problem(SLOW)[0], plan) == ()
    heard = list(events(service, job))
    assert [number for number, _, _ in heard] == list(range(1, len(heard) + 1))
    assert [kind for _, kind, _ in heard].count("done") == 1


@pytest.mark.parametrize("what", ["plan", "problem"])
def test_what_a_disk_has_changed_is_refused_and_the_service_is_not_ready(tmp_path: Path, what: str) -> None:
    with serving(tmp_path, ready_seconds="0.05") as service:
        job = post_job(service, THREE)
        until(service, job, "succeeded")
        assert service.client.get("/readyz").status_code == 200
        table = "job_plans" if what == "plan" else "problems"
        with contextlib.closing(sqlite3.connect(tmp_path / "memplan.sqlite", isolation_level=None)) as other:
            other.execute(f"UPDATE {table} SET data = CAST(replace(data, '3', '4') AS BLOB)").close()
        found = refusal(service.client.get(f"{job['links']['self']}/{what}"))
        assert (found["status"], found["code"]) == (503, "store_damaged")
        assert "not what was written" in refusal(service.client.get("/readyz"))["detail"]
        assert service.client.post("/v1/plans", content=json.dumps(THREE), headers=JSON).status_code == 200
        assert not any("Traceback" in line for line in service.log)


@pytest.mark.parametrize(
    "damage",
    [
        "job_plans SET etag = CAST(x'0aff' AS TEXT)",
        "job_plans SET summary = '{{'",
        "events SET kind = 'stade' WHERE number > 1",
    ],
)
def test_what_belongs_to_a_plan_and_is_damaged_is_told_of_wherever_the_plan_is(tmp_path: Path, damage: str) -> None:
    lines = b"".join(json.dumps({**THREE, "name": name}).encode() + b"\n" for name in "abc")
    with serving(tmp_path) as service:
        sent = service.client.post("/v1/batches", content=lines, headers=LINES)
        begun, *told, end = map(json.loads, sent.text.splitlines())
        spoilt, joint = told[1]["job"], "AND" if "WHERE" in damage else "WHERE"
        with contextlib.closing(sqlite3.connect(tmp_path / "memplan.sqlite", isolation_level=None)) as other:
            other.execute(f"UPDATE {damage} {joint} job = ?", (spoilt,)).close()
        again = service.client.get(f"/v1/batches/{begun['batch']}").text.splitlines()
        assert (len(again), json.loads(again[-1])) == (len(told) + 2, end)
        for path in ("plan", "drawing", "problem", "plan?part=x", "events"):
            with contextlib.suppress(httpx.RemoteProtocolError):  # the events before it are sent
                assert service.client.get(f"/v1/jobs/{spoilt}/{path}").status_code != 500
        assert not any("Traceback" in line for line in service.log)


def test_a_job_whose_record_is_damaged_is_set_aside_and_all_else_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, ready_seconds="0.05") as service:
        job = post_job(service, THREE)
        until(service, job, "succeeded")
        assert "set_aside" not in service.client.get("/readyz").json()
        with contextlib.closing(sqlite3.connect(tmp_path / "memplan.sqlite", isolation_level=None)) as other:
            other.execute("UPDATE jobs SET about = substr(about, 2)").close()
        listed = service.client.get("/v1/jobs").json()["jobs"]
        assert [(each["state"], each["failure"]["code"]) for each in listed] == [("failed", "store_damaged")]
        assert service.client.get("/readyz").json()["set_aside"] == 1
        assert "memplan_jobs_set_aside 1.0" in service.client.get("/metrics").text
        until(service, post_job(service, THREE), "succeeded")
        assert service.client.delete(job["links"]["self"]).status_code == 200
        assert not any("Traceback" in line for line in service.log)
