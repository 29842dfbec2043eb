"""POST /v1/plans?objects=true answers with storage objects instead of offsets, kept apart from plans, and verified."""

from __future__ import annotations

import json

import pytest

import planner
from planner import read_problem, read_sharing
from tests.http.served import JSON, THREE, Served, refusal

ROOMY = {**THREE, "pools": [{"name": "arena", "size": 128}]}


def test_the_answered_sharing_is_right(service: Served) -> None:
    response = service.plan(ROOMY, "?objects=true")
    assert (response.status_code, response.json()["format"]) == (200, "memplan-sharing/1")
    problem, _ = read_problem(json.dumps(ROOMY).encode())
    assert planner.verify_sharing(problem, read_sharing(response.content)) == ()
    body = {"problem": ROOMY, "plan": response.json()}
    checked = service.client.post("/v1/verify", content=json.dumps(body).encode(), headers=JSON).json()
    assert (checked["valid"], checked["findings"]) == (True, [])
    body["plan"]["assignments"][1]["object"] = 0
    checked = service.client.post("/v1/verify", content=json.dumps(body).encode(), headers=JSON).json()
    assert "clash" in {finding["kind"] for finding in checked["findings"]}


def test_stored_plans_and_sharings_are_kept_apart(service: Served) -> None:
    problem = {**ROOMY, "name": "kept", "buffers": ROOMY["buffers"][:2]}
    first = [service.plan(problem, query) for query in ("", "?objects=true")]
    again = [service.plan(problem, query) for query in ("?objects=true", "")]
    assert [response.headers["X-Cache"] for response in first + again] == ["miss", "miss", "hit", "hit"]
    assert [response.json()["format"] for response in first + again] == [
        "memplan-plan/1",
        "memplan-sharing/1",
        "memplan-sharing/1",
        "memplan-plan/1",
    ]


def test_a_sharing_may_be_a_job_and_requested_in_the_body(service: Served) -> None:
    document = {**ROOMY, "solve": {"objects": True, "seed": 3}}
    response = service.client.post(
        "/v1/plans", content=json.dumps(document).encode(), headers=JSON | {"Prefer": "respond-async"}
    )
    assert (response.status_code, response.json()["options"]["objects"]) == (202, True)
    job = response.json()
    with service.client.stream("GET", job["links"]["events"]) as stream:
        stream.read()  # the stream ends when the job does
    job = service.client.get(job["links"]["self"]).json()
    assert (job["status"], job["best"], job["bound"]) == ("optimal", 84, 84)
    answer = service.client.get(job["links"]["plan"]).json()
    assert (answer["format"], answer["seed"]) == ("memplan-sharing/1", 3)


@pytest.mark.parametrize(
    ("query", "problem", "code", "pointer"),
    [
        ("?objects=true&solver=search", ROOMY, "unsupported", "/options/solver"),
        ("?objects=true&goal=fit", ROOMY, "invalid_option", "/options/goal"),
        ("?objects=maybe", ROOMY, "invalid_option", "/options/objects"),
        (
            "?objects=true",
            {**ROOMY, "pools": [{"name": "arena", "reserved": [[0, 4]]}]},
            "unsupported",
            "/pools/0/reserved",
        ),
    ],
)
def test_options_and_fields_unfit_for_objects_are_refused(
    service: Served, query: str, problem: object, code: str, pointer: str
) -> None:
    found = refusal(service.plan(problem, query))
    assert (found["status"], found["code"], found["errors"][0]["pointer"]) == (422, code, pointer)
