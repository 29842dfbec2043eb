"""Proofs over HTTP are jobs like any other, whose answer contains a proof that the library can check."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.errors import Refusal
from api.jobs.kinds.proofs import ProofKind
from planner import BadProof, check_proof, read_plan, read_problem, verify
from planner.verifying.proofs.claims import height_to_refute
from tests.http.queued.test_jobs import until
from tests.http.served import JSON, THREE, Served, refusal

SEARCHED: dict[str, Any] = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "pools": [{"name": "arena"}],
    "buffers": [
        {"id": "a", "size": 3, "live": [[0, 3]]},
        {"id": "b", "size": 3, "live": [[2, 5]], "alignment": 2},
        {"id": "c", "size": 2, "live": [[4, 7]]},
        {"id": "d", "size": 3, "live": [[6, 9], [0, 1]]},
        {"id": "e", "size": 2, "live": [[1, 6]], "alignment": 4},
        {"id": "f", "size": 1, "live": [[3, 8]]},
    ],
}
"""A problem for which refuting what is below the bound takes more than one step."""


def post_proof(service: Served, problem: object, query: str = "", **headers: str) -> Any:
    return service.client.post(f"/v1/proof{query}", content=json.dumps(problem), headers={**JSON, **headers})


@pytest.mark.parametrize("document", [THREE, SEARCHED, {**THREE, "pools": [{"name": "arena", "size": 80}]}])
def test_the_answer_holds_a_plan_and_a_proof_that_can_be_checked(service: Served, document: dict[str, Any]) -> None:
    answer = post_proof(service, document)
    found = answer.json()
    assert (answer.status_code, found["format"], found["why_not"]) == (200, "memplan-proved/1", None)
    problem, _ = read_problem(json.dumps(document).encode())
    plan = read_plan(json.dumps(found["plan"]).encode())
    assert not verify(problem, plan)
    assert check_proof(problem, found["proof"].encode()).height == found["height"] == height_to_refute(problem, plan)
    *rest, last = found["proof"].splitlines()
    with pytest.raises(BadProof):
        check_proof(problem, "".join(f"{line}\n" for line in rest).encode())
    assert last
    again = post_proof(service, document)
    assert (again.headers["x-cache"], again.content) == ("hit", answer.content)


def test_a_job_keeps_its_proof(service: Served) -> None:
    job = post_proof(service, SEARCHED, "?seed=3", Prefer="respond-async").json()
    assert job["kind"] == "proof"
    done = until(service, job, "succeeded", "failed")
    whole = service.client.get(done["links"]["plan"]).json()
    proof = service.client.get(f"{done['links']['self']}/proof")
    assert proof.headers["content-type"].startswith("text/plain")
    part = service.client.get(f"{done['links']['plan']}?part=proof")
    assert (part.headers["content-type"], part.text) == (proof.headers["content-type"], proof.text)
    assert proof.text == whole["proof"]
    same = service.client.get(f"{done['links']['self']}/proof", headers={"If-None-Match": proof.headers["etag"]})
    assert same.status_code == 304
    plan = service.client.get(f"{done['links']['plan']}?part=plan").json()
    assert plan == whole["plan"]
    assert done["best"] == plan["peak"]
    assert "<svg" in service.client.get(f"{done['links']['self']}/drawing").text
    here = done["links"]["self"]
    for path, parts in (
        ("plan?part=x", '"plan", "proof"'),
        ("drawing?part=x", '"plan"'),
        ("drawing?part=proof", '"plan"'),
    ):
        missing = refusal(service.client.get(f"{here}/{path}"))
        assert (missing["status"], missing["detail"].partition("its parts are ")[2]) == (404, parts)
    assert service.client.get(f"{here}/drawing?part=plan").content == service.client.get(f"{here}/drawing").content


def test_peaks_of_several_memories_are_proven_but_not_costs_of_reuse(service: Served) -> None:
    problem = {**SEARCHED, "pools": [{"name": "a", "size": 40}, {"name": "b"}]}
    found = post_proof(service, problem).json()
    read, _ = read_problem(json.dumps(problem).encode())
    assert check_proof(read, found["proof"].encode()).height == found["height"]
    refused = refusal(post_proof(service, {**problem, "objective": {"terms": ["reuse_cost"]}}))
    assert (refused["status"], refused["code"]) == (422, "unsupported")


def test_jobs_without_a_requested_proof_have_none(service: Served) -> None:
    job = service.client.post("/v1/jobs", content=json.dumps(THREE), headers=JSON).json()
    until(service, job, "succeeded")
    assert refusal(service.client.get(f"{job['links']['self']}/proof"))["status"] == 404


def test_a_missing_proof_is_answered_with_the_reason() -> None:
    document: dict[str, Any] = {"proof": None, "why_not": "it was not found in time", "plan": {}}
    with pytest.raises(Refusal) as caught:
        ProofKind().part(json.dumps(document).encode(), "proof")
    assert (caught.value.status, caught.value.code) == (409, "no_proof")
    assert "not found in time" in caught.value.detail
