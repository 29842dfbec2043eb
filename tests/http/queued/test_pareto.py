"""POST /v1/pareto answers with the frontier of memory and cost; points are reported when found, with a plan each."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import Any

import httpx
import pytest

import planner
from api.routes.openapi.examples import VARIANTS
from planner import read_plan, read_problem
from planner.formats import read_frontier, write_problem
from planner.generate import Request, generate
from tests.http.queued.test_jobs import events, until, until_there_is_a_plan
from tests.http.served import JSON, THREE, Served, refusal

STRIPES: dict[str, Any] = VARIANTS
LONG = write_problem(generate("variants", Request(200, seed=9, parameters={"groups": 60, "alternatives": 4})))
LONG_QUERY = "?time_limit=600&work_limit=1000000000000"
"""With this query, LONG has some points at once, and the search for more takes longer."""


def pareto(service: Served, problem: object = STRIPES, query: str = "", **headers: str) -> httpx.Response:
    content = problem if isinstance(problem, bytes) else json.dumps(problem).encode()
    return service.client.post(f"/v1/pareto{query}", content=content, headers={**JSON, **headers})


def as_job(service: Served, problem: object, query: str, **headers: str) -> dict[str, Any]:
    response = pareto(service, problem, query, Prefer="respond-async", **headers)
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()
    assert job["kind"] == "frontier"
    return job


def first_points(service: Served, job: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the data of the events of the first points."""
    heard: list[dict[str, Any]] = []
    for _, kind, data in events(service, job):
        if kind == "point":
            heard.append(data)
        if len(heard) == count:
            return heard
    raise AssertionError(heard)


def test_a_job_counts_the_buffers_of_a_plan(service: Served) -> None:
    problem = {**STRIPES, "name": "counted"}
    job = as_job(service, problem, "")
    most = len(STRIPES["buffers"]) + sum(
        max(len(a["buffers"]) for a in g["alternatives"]) for g in STRIPES["variants"]["groups"]
    )
    assert most > len(STRIPES["buffers"])
    listed = next(each for each in service.client.get("/v1/jobs").json()["jobs"] if each["id"] == job["id"])
    valid = service.client.post("/v1/validate", json=problem).json()
    assert [each["buffers"] for each in (job, listed, valid)] == [most] * 3


def require_sound(problem: bytes, answer: bytes) -> None:
    """Assert that every point is a valid plan, and that none dominates another."""
    read, _ = read_problem(problem)
    worth: list[tuple[int, int]] = []
    for plan in read_frontier(answer).points:
        assert planner.verify(read, plan) == ()
        assert plan.choice is not None
        worth.append((plan.choice.cost, plan.objective.value or 0))
    assert worth == sorted(set(worth))
    assert [memory for _, memory in worth] == sorted({memory for _, memory in worth}, reverse=True)


def test_a_frontier_comes_back_with_a_plan_for_each_point(service: Served) -> None:
    query = "?seed=71"  # others ask the same service for the same frontier
    response = pareto(service, query=query)
    assert (response.status_code, response.headers["x-cache"]) == (200, "miss")
    found = response.json()
    assert (found["format"], found["complete"], found["stop"]) == ("memplan-frontier/1", True, "proved")
    assert [(p["cost"], p["memory"], p["memory_bound"]) for p in found["points"]] == [
        (1000, 60000, 60000),
        (1400, 25000, 25000),
    ]
    require_sound(json.dumps(STRIPES).encode(), response.content)
    again = pareto(service, query=query)
    assert (again.headers["x-cache"], again.content) == ("hit", response.content)
    tag = {"If-None-Match": again.headers["etag"]}
    assert pareto(service, STRIPES, query, **tag).status_code == 304


def test_each_point_of_a_job_is_reported_and_can_be_fetched_and_drawn(service: Served) -> None:
    job = as_job(service, STRIPES, "?seed=2")
    heard = list(events(service, job))
    assert heard[-1][1] == "done"
    reported = {data["part"]: data for _, kind, data in heard if kind == "point"}
    assert {part: data["memory"] for part, data in reported.items()} == {"1000": 60000, "1400": 25000}
    now = service.client.get(job["links"]["self"]).json()
    assert (now["state"], now["status"], now["stop"], now["gap"]) == ("succeeded", "optimal", "proved", 0.0)
    problem, _ = read_problem(json.dumps(STRIPES).encode())
    here = job["links"]["self"]
    for part, memory in (("1000", 60000), ("1400", 25000)):
        answer = service.client.get(f"{here}/plan", params={"part": part})
        plan = read_plan(answer.content)
        assert (planner.verify(problem, plan), plan.objective.value) == ((), memory)
        tag = {"If-None-Match": answer.headers["etag"]}
        assert service.client.get(f"{here}/plan", params={"part": part}, headers=tag).status_code == 304
        drawn = service.client.get(f"{here}/drawing", params={"part": part, "as": "map"}).json()
        assert (drawn["format"], drawn["pools"][0]["peak"]) == ("memplan-map/1", memory)
    curve = service.client.get(f"{here}/drawing?as=map").json()
    assert (curve["in_bytes"], [point["plan"] for point in curve["points"]]) == (True, ["1000", "1400"])
    assert service.client.get(f"{here}/drawing").content.startswith(b"<svg")
    for path in ("plan?part=1", "drawing?part=1", "plan?part=%3Cb%3E"):
        assert refusal(service.client.get(f"{here}/{path}"))["code"] == "not_found"


def test_points_can_be_fetched_during_the_search_and_after_a_stop(service: Served) -> None:
    response = pareto(service, LONG, LONG_QUERY, Prefer="wait=0")
    assert response.status_code == 202
    job = response.json()
    problem, _ = read_problem(LONG)
    reported = first_points(service, job, 2)
    for data in reported:
        plan = read_plan(service.client.get(f"{job['links']['self']}/plan", params={"part": data["part"]}).content)
        assert planner.verify(problem, plan) == ()
        assert plan.choice is not None
        assert (plan.choice.cost, plan.objective.value) == (data["cost"], data["memory"])
    service.client.delete(job["links"]["self"])
    now = until(service, job, "cancelled")
    assert (now["status"], now["stop"]) == ("feasible", "cancelled")
    answer = service.client.get(now["links"]["plan"])
    require_sound(LONG, answer.content)
    assert {point["cost"] for point in answer.json()["points"]} >= {data["cost"] for data in reported}


def test_a_killed_worker_loses_no_point(service: Served) -> None:
    job = as_job(service, LONG, f"{LONG_QUERY}&seed=1")
    reported = first_points(service, job, 3)
    until_there_is_a_plan(service, job)
    for pid in service.children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while until(service, job, "running", "queued")["attempt"] < 2:
        pass
    first = {data["part"] for data in reported}
    found = service.client.get(f"{job['links']['self']}/drawing?as=map").json()
    assert first <= {point["plan"] for point in found["points"]}
    service.client.delete(job["links"]["self"])
    until(service, job, "cancelled")
    answer = service.client.get(f"{job['links']['self']}/plan")
    require_sound(LONG, answer.content)
    best = {point["cost"]: point["memory"] for point in answer.json()["points"]}
    for data in reported:  # the answer has each point, or one that beats it
        assert any(cost <= data["cost"] and memory <= data["memory"] for cost, memory in best.items())
    heard = [(data["part"], data["memory"]) for _, kind, data in events(service, job) if kind == "point"]
    assert len(heard) == len(set(heard)), "what an earlier attempt has reported is not reported again"


def test_a_request_that_is_sent_again_is_one_job(service: Served) -> None:
    key = {"Idempotency-Key": "frontier"}
    first, again = as_job(service, STRIPES, "?seed=4", **key), as_job(service, STRIPES, "?seed=4", **key)
    assert first["id"] == again["id"]
    found = refusal(service.client.post("/v1/plans?seed=4", json=STRIPES, headers=key))
    assert found["code"] == "idempotency_key_reused"


def test_plans_and_frontiers_of_one_problem_are_kept_apart(service: Served) -> None:
    formats = [service.plan(STRIPES, "?seed=5").json()["format"], pareto(service, STRIPES, "?seed=5").json()["format"]]
    assert formats == ["memplan-plan/1", "memplan-frontier/1"]


def test_a_frontier_s_options_stand_in_the_query_or_in_the_body(service: Served) -> None:
    assert len(pareto(service, STRIPES, "?points=1").json()["points"]) == 1
    assert len(pareto(service, {**STRIPES, "solve": {"points": 1, "seed": 6}}).json()["points"]) == 1
    assert [p["cost"] for p in pareto(service, STRIPES, "?capacity=30000").json()["points"]] == [1400]
    assert [p["cost"] for p in pareto(service, STRIPES, "?max_cost=1000").json()["points"]] == [1000]
    none = pareto(service, STRIPES, "?capacity=100")
    assert (none.json()["infeasible"], none.json()["points"]) == (True, [])
    assert refusal(pareto(service, STRIPES, "?capacity=100&require=feasible"))["code"] == "infeasible"
    clipped = pareto(service, STRIPES, "?workers=5").json()
    assert "number of workers was clipped" in clipped["warnings"][0]


@pytest.mark.parametrize(
    ("query", "problem", "code", "pointer"),
    [
        ("", THREE, "missing_field", "/variants"),
        ("?points=0", STRIPES, "invalid_option", "/options/points"),
        ("?points=many", STRIPES, "invalid_option", "/options/points"),
        ("?prefer=speed", STRIPES, "invalid_option", "/options/prefer"),
        ("?objects=true", STRIPES, "invalid_option", "/options/objects"),
        ("?solver=nobody", STRIPES, "unknown_solver", "/options/solver"),
        ("", {**STRIPES, "solve": {"points": "2"}}, "invalid_option", "/solve/points"),
        ("?points=2", {**STRIPES, "solve": {"points": 3}}, "invalid_option", "/options/points"),
    ],
)
def test_requests_without_a_frontier_are_refused(
    service: Served, query: str, problem: object, code: str, pointer: str
) -> None:
    found = refusal(pareto(service, problem, query))
    assert (found["status"], found["code"], found["errors"][0]["pointer"]) == (422, code, pointer)
    assert refusal(service.client.post("/v1/plans?points=2", json=STRIPES))["code"] == "invalid_option"


def test_a_frontier_is_verified(service: Served) -> None:
    found = pareto(service).json()
    both = {"problem": STRIPES, "plan": found}

    def verified() -> httpx.Response:
        return service.client.post("/v1/verify", content=json.dumps(both).encode(), headers=JSON)

    answer = verified().json()
    assert (answer["valid"], answer["findings"]) == (True, [])
    found["points"][0]["plan"]["placements"][0]["offset"] = 1
    answer = verified().json()
    assert answer["valid"] is False
    assert answer["findings"][0]["message"].startswith("point 1: ")
    found["points"][0]["plan"] = "point-1.json"
    assert refusal(verified())["errors"][0]["pointer"] == "/plan/points/0/plan"
