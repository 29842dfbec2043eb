"""Services and workers on a PostgreSQL server are killed in turn: no job is lost, and no plan is doubled or wrong."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.jobs.test_going_on import moments
from tests.http.faults.cluster import ENDLESS, LONG, LONG_OBJECTS, SLOW, STALLED_SECONDS, Cluster, Stream, cluster
from tests.http.queued.test_pareto import LONG as FRONTIER
from tests.http.queued.test_pareto import LONG_QUERY as FRONTIER_QUERY
from tests.http.served import JSON, PLAIN, SECONDS, THREE, Served, refusal
from tests.running.postgresql import Server
from tests.running.processes import until


def shaped() -> bytes:
    """The problem SLOW with sizes for many shapes."""
    problem = json.loads(SLOW)
    for buffer in problem["buffers"]:
        buffer["size"] = f"{buffer['size']}*n"
    return json.dumps({**problem, "symbols": {"n": [1, 64]}}).encode()


def program(functions: int = 40, tensors: int = 120) -> bytes:
    """A program of functions that run one after the other, each of which is hard to plan."""
    rows = random.Random(3)
    found: list[dict[str, Any]] = []
    for number in range(functions):
        made = [{"id": f"t{i}", "shape": [rows.randrange(1, 5000)]} for i in range(tensors)]
        operators = [
            {
                "kind": "compute",
                "inputs": sorted({f"t{rows.randrange(max(0, i - 30), i)}" for _ in range(2)}),
                "outputs": [f"t{i}"],
            }
            for i in range(1, tensors)
        ]
        named = {"name": f"f{number}", "inputs": ["t0"], "outputs": [f"t{tensors - 1}"]}
        found.append({**named, "tensors": [{**made[0], "kind": "input"}, *made[1:]], "operators": operators})
    return json.dumps({"format": "memplan-graph/2", "functions": found, "entries": [f["name"] for f in found]}).encode()


PACE = "&solver=cbc&time_limit=40&work_limit=1000000000000"
SEVERAL = {
    "sweep": (SLOW, "sweep", f"?capacity=256KiB..2MiB&step=4096{PACE}"),
    "shapes": (shaped(), "shapes", "?" + "&".join(f"at=n={n}" for n in range(1, 65)) + PACE),
    "nested": (program(), "plans", f"?arenas=nested{PACE}"),
}
"""Jobs of several plans that go on for many seconds and are reported part by part: problem, endpoint and query."""


@pytest.fixture(scope="module")
def whole(postgresql: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with (
        contextlib.closing(Server(postgresql.programs)) as own_server,
        cluster(own_server, tmp_path_factory.mktemp("nothing")) as made,
    ):
        yield made


@pytest.fixture
def system(whole: Cluster) -> Iterator[Cluster]:
    """The cluster, with all processes running at the beginning of the test; what it did is checked at the end."""
    whole.restore()
    yield whole
    whole.restore()
    whole.require_sound()


def test_undisturbed_services_share_their_answers(system: Cluster) -> None:
    here, there = system.services
    content = json.dumps(THREE).encode()
    made = here.client.post("/v1/plans?seed=1", content=content, headers=JSON)
    assert (made.status_code, made.json()["status"], made.headers["x-cache"]) == (200, "optimal", "miss")
    again = there.client.post("/v1/plans?seed=1", content=content, headers=JSON)
    assert (again.headers["x-cache"], again.content) == ("hit", made.content)
    id_ = system.post(here, SLOW, ENDLESS)
    stream = Stream(there, id_)
    best = stream.until("incumbent")["best"]
    system.until_there_is_a_plan(id_)
    assert there.client.delete(f"/v1/jobs/{id_}").status_code == 200
    assert stream.until("done")["best"] <= best
    assert refusal(here.client.delete("/v1/jobs/0123"))["code"] == "not_found"


@pytest.mark.parametrize("query", [LONG, LONG_OBJECTS])
def test_killing_a_worker_during_a_job_loses_nothing(system: Cluster, query: str) -> None:
    here, there = system.services
    for seconds in (3, 15, 60):
        id_ = system.post(here, SLOW, query.replace("time_limit=3", f"time_limit={seconds}"))
        stream = Stream(there, id_)
        before = system.until_there_is_a_plan(id_)
        # Each time other seeds, as what was asked before is answered from the store.
        first = 1000 * seconds + (0 if query == LONG else 6)
        others = system.post_some(range(first, first + 6))
        system.worker_of(id_, 1).stop(signal.SIGKILL)
        if system.job(id_)["state"] != "succeeded":  # on a busy machine the job may have ended before
            break
        system.restore()
    now = system.until(id_, "succeeded", attempt=2)
    assert now["best"] <= before["best"]
    stream.join(SECONDS)
    assert stream.kinds[-1] == "done"
    assert stream.numbers == list(range(1, len(stream.numbers) + 1))
    assert {system.until(other, "succeeded")["attempt"] for other in others} <= {1, 2}


def test_killing_a_worker_during_a_frontier_loses_nothing(system: Cluster) -> None:
    here, there = system.services
    id_ = system.post(here, FRONTIER, FRONTIER_QUERY, endpoint="pareto")
    stream = Stream(there, id_)
    point = stream.until("point")
    system.worker_of(id_, 1).stop(signal.SIGKILL)
    system.until(id_, "running", attempt=2)
    plan = there.client.get(f"/v1/jobs/{id_}/plan", params={"part": point["part"]})
    assert plan.json()["choice"]["cost"] == point["cost"]
    here.client.delete(f"/v1/jobs/{id_}")
    assert system.until(id_, "cancelled")["status"] == "feasible"
    stream.join(SECONDS)
    points = there.client.get(f"/v1/jobs/{id_}/plan").json()["points"]
    assert any(each["cost"] <= point["cost"] and each["memory"] <= point["memory"] for each in points)


def test_killing_a_worker_during_several_plans_loses_nothing(system: Cluster, *, nightly: bool) -> None:
    """By day one kind is tried; tests/api/jobs/test_going_on.py tries all kinds without killing a worker."""
    for kind in SEVERAL if nightly else ["shapes"]:
        require_gone_on(system, kind)
        system.restore()


def require_gone_on(system: Cluster, kind: str) -> None:
    here, there = system.services
    problem, endpoint, query = SEVERAL[kind]
    id_ = system.post(here, problem, query, endpoint=endpoint)
    stream = Stream(there, id_)
    first = stream.until("point")
    before = made(there, id_)
    assert before
    system.worker_of(id_, 1).stop(signal.SIGKILL)
    system.until(id_, "running", attempt=2)
    while not before <= made(there, id_) or len(made(there, id_)) == len(before):
        assert system.job(id_)["state"] == "running", "what was made is not made again"
        time.sleep(0.05)
    here.client.delete(f"/v1/jobs/{id_}")
    system.until(id_, "cancelled", "failed")
    stream.join(SECONDS)
    names = [data.get("part") or data["at"] for _, kind, data in stream.heard if kind == "point"]
    assert names.count(first.get("part") or first["at"]) == 1, "nobody is told twice"


def made(service: Served, id_: str) -> set[str]:
    """Return the run of each plan that a job has so far; a plan that is made again has another run."""
    return moments(service.client.get(f"/v1/jobs/{id_}/plan").content)


def test_stopping_a_worker_during_a_job_loses_nothing(system: Cluster) -> None:
    id_ = system.post(system.services[0], SLOW, ENDLESS)
    before = system.until_there_is_a_plan(id_)
    worker = system.worker_of(id_, 1)
    assert worker.stop() == 0
    assert not any("Traceback" in line for line in worker.log), worker.log
    now = system.until(id_, "running", attempt=2)
    assert now["best"] <= before["best"]
    system.services[1].client.delete(f"/v1/jobs/{id_}")
    assert system.until(id_, "cancelled")["attempt"] == 2


def test_killing_a_service_while_clients_wait_loses_nothing(system: Cluster) -> None:
    here, there = system.services
    id_ = system.post(here, SLOW, ENDLESS)  # a job that does not end before the service does
    others = system.post_some(range(200, 206))
    stream = Stream(here, id_)
    stream.until("incumbent")
    key = {"Idempotency-Key": "killed"}
    waiting = threading.Thread(target=post_quietly, args=(f"{here.address}/v1/plans{LONG}&seed=7", key))
    waiting.start()
    until(lambda: any(job["options"]["seed"] == 7 for job in there.client.get("/v1/jobs").json()["jobs"]))
    here.stop(signal.SIGKILL)
    waiting.join(SECONDS)
    stream.join(SECONDS)
    later = Stream(there, id_, after=stream.numbers[-1])
    assert there.client.delete(f"/v1/jobs/{id_}").status_code == 200
    later.join(SECONDS)
    assert later.kinds[-1] == "done"
    assert later.numbers[0] == stream.numbers[-1] + 1
    again = there.client.post(f"/v1/plans{LONG}&seed=7", content=SLOW, headers={**JSON, **key})
    assert again.json()["status"] == "feasible"
    listed = there.client.get("/v1/jobs?limit=500").json()["jobs"]
    assert len([job for job in listed if job["options"]["seed"] == 7]) == 1, "the request has had the effect of one"
    system.restore()
    assert {system.until(other, "succeeded")["attempt"] for other in others} == {1}


def post_quietly(address: str, headers: dict[str, str]) -> None:
    """Post a request whose answer may be lost."""
    with contextlib.suppress(httpx.TransportError):
        httpx.post(address, content=SLOW, headers={**JSON, **headers}, timeout=SECONDS, trust_env=False, verify=PLAIN)


def test_a_stopping_service_tells_its_event_streams(system: Cluster) -> None:
    here, there = system.services
    id_ = system.post(here, SLOW, ENDLESS)
    stream = Stream(here, id_)
    stream.until("incumbent")
    assert here.stop() == 0
    stream.join(SECONDS)
    assert stream.kinds[-1] == "closing"
    assert not any("Traceback" in line for line in here.log), here.log
    assert system.job(id_, there)["state"] == "running", "nobody else need stop for that"
    later = Stream(there, id_, after=stream.numbers[-1])
    there.client.delete(f"/v1/jobs/{id_}")
    later.join(SECONDS)
    assert later.numbers[0] == stream.numbers[-1] + 1
    assert (later.kinds[-1], later.heard[-1][2]["state"]) == ("done", "cancelled")


@pytest.mark.parametrize(
    ("how", "seconds"), [(signal.SIGINT, 0.0), (signal.SIGQUIT, 0.0), (signal.SIGINT, 2 * STALLED_SECONDS)]
)
def test_restarting_the_database_loses_nothing(system: Cluster, how: signal.Signals, seconds: float) -> None:
    here, there = system.services
    id_ = system.post(here, SLOW, ENDLESS)
    stream = Stream(there, id_)
    before = system.until_there_is_a_plan(id_)
    others = system.post_some(range(300, 306))
    system.server.stop(how)
    for service in (here, there):
        assert service.client.get("/healthz").status_code == 200
        found = refusal(service.client.get("/readyz"))
        assert (found["status"], found["code"], "store" in found["detail"]) == (503, "not_ready", True)
        found = refusal(service.client.post("/v1/jobs", content=json.dumps(THREE), headers=JSON))
        assert (found["status"], found["code"]) == (503, "store_unavailable")
        assert "memplan_store_up 0.0" in service.client.get("/metrics").text
    time.sleep(seconds)
    system.server.start()
    assert here.client.get("/readyz").status_code == 200
    for other in others:
        assert system.until(other, "succeeded")["status"] == "optimal"
    system.services[0].client.delete(f"/v1/jobs/{id_}")
    now = system.until(id_, "cancelled")
    assert now["best"] <= before["best"]
    stream.join(SECONDS)
    assert stream.kinds[-1] == "done"
    assert stream.numbers == list(range(1, len(stream.numbers) + 1))
