"""Jobs, their events, batches, and repeated requests that count once, as a client sees them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import planner
from planner import read_plan, read_problem
from tests.http.served import JSON, PLAIN, SECONDS, SLOW, SLOW_QUERY, THREE, TOO_SMALL, Served, refusal, serving
from tests.running import processes


def post_job(service: Served, problem: object, query: str = "", **headers: str) -> dict[str, Any]:
    """Post a job that must be accepted, and return it."""
    content = problem if isinstance(problem, bytes) else json.dumps(problem).encode()
    response = service.client.post(f"/v1/jobs{query}", content=content, headers={**JSON, **headers})
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()
    assert response.headers["location"] == job["links"]["self"] == f"/v1/jobs/{job['id']}"
    return job


def events(service: Served, job: dict[str, Any], after: int | None = None) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield number, kind and data of each event of the job's stream, until the stream ends."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    with service.client.stream("GET", job["links"]["events"], headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if not line and fields:
                yield int(fields.get("id", -1)), fields["event"], json.loads(fields["data"])
                fields = {}
            elif line and name:
                fields[name] = value


def until(service: Served, job: dict[str, Any], *states: str, attempt: int = 0) -> dict[str, Any]:
    """Wait until the job is in one of the states, after this many attempts or more, and return it."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        now: dict[str, Any] = service.client.get(job["links"]["self"]).json()
        if now["state"] in states and now["attempt"] >= attempt:
            return now
        time.sleep(0.05)
    raise AssertionError(f"still {now['state']}: {now}")


def until_there_is_a_plan(service: Served, job: dict[str, Any]) -> httpx.Response:
    return processes.until(
        lambda: (got := service.client.get(f"{job['links']['self']}/plan")).status_code == 200 and got
    )


def test_a_job_runs_and_reports_its_progress(service: Served) -> None:
    job = post_job(service, {**THREE, "name": "told"}, "?seed=11")
    assert (job["state"], job["name"], job["buffers"], job["options"]["seed"]) == ("queued", "told", 3, 11)
    heard = list(events(service, job))
    assert [number for number, _, _ in heard] == list(range(1, len(heard) + 1))
    kinds = [kind for _, kind, _ in heard]
    assert [kind for kind in kinds if kind not in ("incumbent", "bound")] == ["state", "state", "done"]
    assert kinds[:2] == ["state", "state"], "on a busy machine there is time to tell of what was found, too"
    assert kinds[-1] == "done"
    assert heard[-1][2]["status"] == "optimal"
    now = service.client.get(job["links"]["self"]).json()
    assert (now["state"], now["status"], now["best"], now["bound"], now["attempt"]) == (
        "succeeded",
        "optimal",
        84,
        84,
        1,
    )
    answer = service.client.get(now["links"]["plan"])
    assert answer.json()["seed"] == 11
    tag = {"If-None-Match": answer.headers["etag"]}
    assert service.client.get(now["links"]["plan"], headers=tag).status_code == 304


def test_a_stream_continues_after_the_last_event_heard(service: Served) -> None:
    job = post_job(service, THREE, "?seed=12")
    heard = list(events(service, job))
    assert list(events(service, job, after=1)) == heard[1:]
    last = {"Last-Event-ID": str(len(heard))}
    assert service.client.get(job["links"]["events"], headers=last).status_code == 204
    for wrong in ("-1", "x", "9" * 30):
        found = refusal(service.client.get(job["links"]["events"], headers={"Last-Event-ID": wrong}))
        assert found["code"] == "invalid_header"


def test_a_stream_from_beyond_the_last_event_ends_with_the_job(service: Served) -> None:
    job = post_job(service, SLOW, f"{SLOW_QUERY}&seed=19")
    until_there_is_a_plan(service, job)
    beyond = {"Last-Event-ID": "4000"}
    with service.client.stream("GET", job["links"]["events"], headers=beyond) as response:
        service.client.delete(job["links"]["self"])
        end, heard = time.monotonic() + SECONDS, []
        for line in response.iter_lines():
            heard.append(line)
            assert time.monotonic() < end
    assert "event: done" in heard
    assert service.client.get(job["links"]["events"], headers=beyond).status_code == 204


def test_a_client_that_prefers_not_to_wait_gets_a_job(service: Served) -> None:
    response = service.plan(THREE, "?seed=13", Prefer="respond-async")
    assert (response.status_code, response.headers["preference-applied"]) == (202, "respond-async")
    assert until(service, response.json(), "succeeded")["status"] == "optimal"


def test_a_plan_that_takes_long_becomes_a_job_that_can_be_stopped(service: Served) -> None:
    response = service.plan(SLOW, SLOW_QUERY, Prefer="wait=0")
    assert response.status_code == 202
    job = response.json()
    best = until_there_is_a_plan(service, job)
    problem, _ = read_problem(SLOW)
    assert (best.json()["status"], planner.verify(problem, read_plan(best.content))) == ("feasible", ())
    kinds = set()
    stopped = False
    for _, kind, data in events(service, job):
        kinds.add(kind)
        if kind == "incumbent" and not stopped:
            stopped = True
            assert data["best"] == best.json()["objective"]["value"]
            answer = service.client.delete(job["links"]["self"]).json()
            assert answer["cancelling"] or answer["state"] == "cancelled"
    assert {"state", "incumbent", "done"} <= kinds <= {"state", "incumbent", "bound", "done"}
    now = service.client.get(job["links"]["self"]).json()
    assert (now["state"], now["stop"], now["best"] <= best.json()["peak"]) == ("cancelled", "cancelled", True)
    kept = service.client.get(now["links"]["plan"])
    assert planner.verify(problem, read_plan(kept.content)) == ()
    assert service.client.delete(job["links"]["self"]).json()["state"] == "cancelled"


def test_a_queued_job_is_stopped_at_once(service: Served) -> None:
    busy, waiting = post_job(service, SLOW, SLOW_QUERY), post_job(service, SLOW, f"{SLOW_QUERY}&seed=14")
    until(service, waiting, "queued", attempt=1)  # a first look at it is over
    assert service.client.delete(waiting["links"]["self"]).json()["state"] == "cancelled"
    found = refusal(service.client.get(f"{waiting['links']['self']}/plan"))
    assert (found["status"], found["code"]) == (409, "no_plan_yet")
    service.client.delete(busy["links"]["self"])
    until(service, busy, "cancelled")


def test_an_impossible_job_names_the_reason(service: Served) -> None:
    problem = {**THREE, "constraints": {"reuse_penalties": [{"first": "image", "second": "score", "cost": 5}]}}
    problem["objective"] = {"terms": ["reuse_cost"]}
    found = refusal(service.plan(problem, "?solver=search"))
    assert (found["status"], found["code"]) == (422, "unsupported")
    job = until(service, post_job(service, problem, "?solver=search"), "failed")
    assert job["failure"]["code"] == "unsupported"
    assert refusal(service.client.get(f"{job['links']['self']}/plan"))["errors"] == found["errors"]


def test_moves_count_where_the_problem_states_old_places(service: Served) -> None:
    problem = {**THREE, "objective": {"was": [{"buffer": "image", "pool": "arena", "offset": 32}]}}
    made = service.plan(problem, "?stability=first").json()
    assert [(term["name"], term["value"]) for term in made["objective"]["terms"]] == [
        ("moved_bytes", 0),
        ("sum_of_peaks", 96),
    ]
    answer = service.client.post(
        "/v1/verify?stability=first", content=json.dumps({"problem": problem, "plan": made}), headers=JSON
    )
    assert answer.json()["valid"]
    assert refusal(service.plan(THREE, "?stability=first"))["errors"][0]["pointer"] == "/options/stability"


def test_a_request_that_is_sent_again_counts_once(service: Served) -> None:
    key = {"Idempotency-Key": "k1"}
    first, again = post_job(service, THREE, "?seed=15", **key), post_job(service, THREE, "?seed=15", **key)
    assert first["id"] == again["id"]
    found = refusal(service.client.post("/v1/jobs?seed=16", json=THREE, headers=key))
    assert (found["status"], found["code"]) == (422, "idempotency_key_reused")
    key = {"Idempotency-Key": "k2"}
    plans = [service.plan(THREE, "?seed=17", **key) for _ in range(3)]
    assert len({plan.content for plan in plans}) == 1
    assert [plan.headers["x-cache"] for plan in plans] == ["miss", "hit", "hit"]


def test_requests_with_one_key_at_the_same_time_are_one_job(service: Served) -> None:
    answers: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda: answers.append(service.plan(THREE, "?seed=18", **{"Idempotency-Key": "k3"})))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    listed = service.client.get("/v1/jobs?limit=500").json()["jobs"]
    assert len([job for job in listed if job["options"]["seed"] == 18]) == 1


def test_jobs_are_listed_in_pages(service: Served) -> None:
    ids = [post_job(service, THREE, f"?seed={seed}")["id"] for seed in (21, 22, 23)]
    page = service.client.get("/v1/jobs?limit=2").json()
    assert [job["id"] for job in page["jobs"]] == ids[:0:-1]
    following = service.client.get(f"/v1/jobs?limit=2&before={page['next']}").json()
    assert following["jobs"][0]["id"] == ids[0]
    assert service.client.get("/v1/jobs?state=failed&limit=500").json()["next"] is None


def test_a_batch_answers_line_by_line(service: Served) -> None:
    problems = [
        {**THREE, "solve": {"seed": 31}},
        TOO_SMALL,
        {"format": "memplan/1", "buffers": 3},
        {**THREE, "solve": {"x": 1}},
    ]
    body = "\n".join(map(json.dumps, problems)) + "\n\n"
    kind = {"Content-Type": "application/x-ndjson"}
    response = service.client.post("/v1/batches?goal=fit", content=body, headers=kind)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/x-ndjson")
    first, *lines, last = [json.loads(line) for line in response.text.splitlines()]
    assert last == {"batch": first["batch"], "problems": 4}
    by_line = {line["line"]: line for line in lines}
    assert (by_line[0]["state"], by_line[0]["plan"]["seed"]) == ("succeeded", 31)
    assert by_line[1]["status"] == "infeasible"
    assert by_line[2]["error"]["code"] == "wrong_type"
    assert by_line[3]["error"]["code"] == "invalid_option"
    again = service.client.get(response.headers["location"]).text.splitlines()
    assert sorted(again) == sorted(response.text.splitlines())
    listed = service.client.get(f"/v1/jobs?batch={first['batch']}").json()["jobs"]
    assert {job["line"]: job["state"] for job in listed} == {0: "succeeded", 1: "succeeded", 2: "failed", 3: "failed"}
    rest = service.client.get(response.headers["location"] + "?have=0-1,3").text.splitlines()
    assert [json.loads(line).get("line") for line in rest] == [None, 2, None]
    for have in ("x", "1-", "2-1", "2-1-", "-1"):
        assert refusal(service.client.get(f"{response.headers['location']}?have={have}"))["code"] == "invalid_option"


@pytest.mark.parametrize(("body", "status", "code"), [("", 422, "invalid_value"), ("\n" * 200_000, 413, "too_large")])
def test_wrong_batches_are_refused(service: Served, body: str, status: int, code: str) -> None:
    response = service.client.post("/v1/batches", content=body, headers={"Content-Type": "application/x-ndjson"})
    found = refusal(response)
    assert (found["status"], found["code"]) == (status, code)
    assert refusal(service.client.get("/v1/batches/0123"))["code"] == "not_found"


def test_a_client_that_goes_away_is_not_planned_for(service: Served) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{service.address}/v1/plans{SLOW_QUERY}&seed=41",
            content=SLOW,
            headers=JSON,
            timeout=httpx.Timeout(SECONDS, read=1.0),
            trust_env=False,
            verify=PLAIN,
        )

    def is_given_up() -> bool:
        listed = service.client.get("/v1/jobs?limit=500").json()["jobs"]
        return [job["state"] for job in listed if job["options"]["seed"] == 41] in ([], ["cancelled"])

    processes.until(is_given_up)


def test_a_full_queue_says_when_to_come_again(tmp_path: Path) -> None:
    with serving(tmp_path, max_queue="1", max_streams="1") as small:
        running = post_job(small, SLOW, SLOW_QUERY)
        until(small, running, "running")
        waiting = post_job(small, SLOW, f"{SLOW_QUERY}&seed=1")
        until(small, waiting, "queued", attempt=1)
        response = small.plan(SLOW, f"{SLOW_QUERY}&seed=2")
        found = refusal(response)
        assert (found["status"], found["code"], response.headers["retry-after"]) == (429, "queue_full", "5")
        assert small.plan().status_code == 200, "what is short does not have to wait in it"
        with small.client.stream("GET", running["links"]["events"]) as stream:
            lines = stream.iter_lines()  # the stream is open as long as this iterator is
            assert next(lines) == "id: 1"
            found = refusal(small.client.get(waiting["links"]["events"]))
            assert (found["status"], found["code"]) == (429, "too_many_streams")
        small.client.delete(waiting["links"]["self"])
        small.client.delete(running["links"]["self"])
