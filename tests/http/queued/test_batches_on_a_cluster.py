"""Batches on a Dask cluster whose processes come late, die and come back: each line is answered once, and rightly."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from solvers.sandbox.parent_death import kill_group
from tests.http.faults.cluster import READY
from tests.http.queued.test_batches import Sending, line, require_right
from tests.http.served import JSON, SECONDS, SLOW, THREE, Running, Served, serving
from tests.running.dask_processes import ROOT, growing_at, started
from tests.running.forked import Forked
from tests.running.postgresql import Server
from tests.running.processes import free_port, until

pytest.importorskip("distributed")
MANIFESTS = list(yaml.safe_load_all((ROOT / "docker/kubernetes/cluster.yaml").read_text(encoding="utf-8")))
COMMANDS = [m["spec"]["template"]["spec"]["containers"][0]["args"] for m in MANIFESTS if m["kind"] == "Deployment"]
SCHEDULER = MANIFESTS[0]["data"]["MEMPLAN_CLUSTER"]
PATIENCE = 3 * SECONDS
LONG = json.dumps(
    {**json.loads(SLOW), "solve": {"solver": "waiting", "time_limit": 600, "work_limit": 10**12}}
).encode()
"""A problem that has a plan at once, and then waits until it is stopped."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("dask"))
    made.start()
    yield made
    made.end()


class Cluster:
    """A scheduler and workers, started with the commands of docker/kubernetes/cluster.yaml."""

    def __init__(self, folder: Path) -> None:
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self._folder = folder
        self._processes: list[Forked] = []

    def start(self) -> None:
        self._run("scheduler")
        self.add_worker()

    def add_worker(self) -> None:
        self._run("worker")

    def _run(self, part: str) -> None:
        """Start a part of the cluster as Kubernetes does, but for ports and folders."""
        (arguments,) = [found for found in COMMANDS if found[0] == part]
        here = {"8786": self.address.rpartition(":")[2], SCHEDULER: self.address, "/tmp": str(self._folder)}
        arguments = ["127.0.0.1:0" if each.startswith(":") else here.get(each, each) for each in arguments]
        self._processes.append(started(*arguments))

    def kill_worker(self) -> None:
        """Kill the oldest worker."""
        self._kill(self._processes.pop(1))

    def end(self) -> None:
        while self._processes:
            self._kill(self._processes.pop())

    def _kill(self, process: Forked) -> None:
        kill_group(process.pid)
        process.wait()


def cluster_of(service: Served) -> str:
    found: str = service.client.get("/readyz").json()["cluster"]
    return found


def figure(service: Served, name: str) -> str:
    lines = service.client.get("/metrics").text.splitlines()
    return next(each.rpartition(" ")[2] for each in lines if each.startswith(name))


def test_cluster_jobs_stop_with_their_best_and_return_at_the_end(cluster: Cluster, tmp_path: Path) -> None:
    with serving(tmp_path, cluster=cluster.address) as service:
        body = b"\n".join([LONG, LONG.replace(b'"work_limit"', b'"seed": 1, "work_limit"'), b""])
        sending = Sending(service.address)
        sending.send(body)
        sending.end()
        batch = next(sending.answers())["batch"]
        until(lambda: len(jobs_of(service, batch, "running")) == 2)
        first, second = (job["id"] for job in jobs_of(service, batch, "running"))
        until(lambda: all(job["best"] is not None for job in jobs_of(service, batch, "running")))
        so_far = until(lambda: plan_of(service, first))
        assert so_far["placements"], "the best plan is there while the job runs"
        service.client.delete(f"/v1/jobs/{first}").raise_for_status()
        ended = until(lambda: state_of(service, first, "cancelled"))
        assert ended["attempt"] == 1
        sending.close()
    with closing(sqlite3.connect(tmp_path / "memplan.sqlite")) as store:
        row = store.execute("SELECT state, deaths FROM jobs WHERE id = ?", (second,)).fetchone()
    assert row == ("queued", 0)
    with serving(tmp_path) as again:
        assert until(lambda: state_of(again, second, "running"))["attempt"] == 2, (
            "where no cluster is named, processes do it"
        )
        again.client.delete(f"/v1/jobs/{second}").raise_for_status()
        until(lambda: state_of(again, second, "cancelled"))


def plan_of(service: Served, id_: str) -> dict[str, Any] | None:
    answer = service.client.get(f"/v1/jobs/{id_}/plan")
    return answer.json() if answer.status_code == 200 else None


def jobs_of(service: Served, batch: str, state: str) -> list[dict[str, Any]]:
    jobs: list[dict[str, Any]] = service.client.get(f"/v1/jobs?batch={batch}&state={state}").json()["jobs"]
    return jobs


def state_of(service: Served, id_: str, *states: str) -> dict[str, Any] | None:
    job: dict[str, Any] = service.client.get(f"/v1/jobs/{id_}", headers=JSON).json()
    return job if job["state"] in states else None


def test_workers_of_a_shared_store_run_batches_on_the_cluster(
    cluster: Cluster, postgresql: Server, tmp_path: Path
) -> None:
    variables = {"MEMPLAN_STORE_URL": postgresql.new_database(), "MEMPLAN_CLUSTER": cluster.address}
    worker = Running(READY, ["api.cli", "worker"], {**variables, "MEMPLAN_METRICS_PORT": "0"})
    try:
        with serving(tmp_path, store_url=variables["MEMPLAN_STORE_URL"], cluster=cluster.address) as service:
            sending = Sending(service.address)
            sending.line.settimeout(PATIENCE)
            for number in range(6):
                sending.send(line(number))
            sending.end()
            answers = sending.answers()
            next(answers)
            worker.wait()
            assert service.plan(THREE).status_code == 200, "this is carried out by the worker's own processes"
            *found, last = answers
            sending.close()
            assert (sorted(each["line"] for each in found), last["problems"]) == (list(range(6)), 6)
            for each in found:
                require_right(each)
    finally:
        worker.stop()
    assert any('"cluster reached"' in each for each in worker.log), worker.log


def test_a_cluster_that_has_workers_only_while_there_is_work_begins(tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    growing = growing_at(address, tmp_path)
    try:
        with serving(tmp_path, cluster=address) as service:
            until(lambda: cluster_of(service) == "ready")
            sending = Sending(service.address)
            sending.line.settimeout(PATIENCE)
            for number in range(12):
                sending.send(line(number))
            sending.end()
            _, *found, last = sending.answers()
            sending.close()
    finally:
        kill_group(growing.pid)
        growing.wait()
    assert (sorted(each["line"] for each in found), last["problems"]) == (list(range(12)), 12)
    for each in found:
        require_right(each)


def test_a_batch_outlives_its_workers_and_its_scheduler(cluster: Cluster, tmp_path: Path) -> None:
    with serving(tmp_path, cluster=cluster.address, ready_seconds="0.1", body_seconds="600") as service:
        until(lambda: cluster_of(service) == "ready")
        # There are two for each thread, but never fewer than eight.
        until(lambda: figure(service, 'memplan_workers{processes="cluster"}') == "8.0")
        assert figure(service, "memplan_cluster_up") == "1.0"
        sending = Sending(service.address)
        sending.line.settimeout(PATIENCE)
        for number in range(30):
            sending.send(line(number))
        answers = sending.answers()
        batch = next(answers)["batch"]
        found = [next(answers) for _ in range(4)]
        cluster.add_worker()
        cluster.kill_worker()
        found += [next(answers) for _ in range(4)]

        cluster.end()
        until(lambda: cluster_of(service) == "no scheduler answers")
        assert figure(service, "memplan_cluster_up") == "0.0"
        assert service.plan(THREE).status_code == 200, "what is no batch goes on without a cluster"
        for number in range(30, 40):
            sending.send(line(number))
        sending.end()
        until(lambda: len(jobs_of(service, batch, "queued")) > 0)
        cluster.start()
        found += answers
        sending.close()
        last = found.pop()
        assert (last["batch"], last["problems"]) == (batch, 40)
        assert sorted(each["line"] for each in found) == list(range(40))
        for each in found:
            require_right(each)
    with closing(sqlite3.connect(tmp_path / "memplan.sqlite")) as store:
        ends = store.execute("SELECT job, count(*) FROM events WHERE kind = 'done' GROUP BY job").fetchall()
        died = store.execute("SELECT count(*) FROM jobs WHERE deaths > 0").fetchone()
    assert {count for _, count in ends} == {1}
    assert died == (0,), "a lost scheduler or worker is no fault of the job's"
