"""POST to /v1/plans, /v1/verify, /v1/validate and /v1/explain, as a client sees the answers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

import planner
from planner import Options, PlanStatus, read_plan, read_problem, write_plan
from tests.http.served import JSON, THREE, TOO_SMALL, Served, refusal


def steady(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "run"}


def test_the_answered_plan_is_the_library_s(service: Served) -> None:
    response = service.plan()
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    problem, _ = read_problem(json.dumps(THREE).encode())
    assert steady(response.json()) == steady(json.loads(write_plan(planner.plan(problem, Options(time_limit=10)))))
    assert not planner.verify(problem, read_plan(response.content))


@pytest.mark.parametrize(
    ("kind", "query", "body"),
    [
        ("text/csv", "", b"id,lower,upper,size\na,0,2,64\nb,1,3,20\n"),
        ("text/csv; charset=utf-8", "?format=minimalloc", b"id,lower,upper,size\na,0,2,64\nb,1,3,20\n"),
        ("application/octet-stream", "", b"id,lower,upper,size\na,0,2,64\nb,1,3,20\n"),
        ("application/json", "?format=usmp", b'{"buffers": [{"name_hint": "a", "size_bytes": 84, "conflicts": []}]}'),
        ("application/json", "", b'{"buffers": [{"name_hint": "a", "size_bytes": 84, "conflicts": []}]}'),
    ],
)
def test_other_formats_are_read(service: Served, kind: str, query: str, body: bytes) -> None:
    response = service.client.post(f"/v1/plans{query}", content=body, headers={"Content-Type": kind})
    assert (response.status_code, response.json()["peak"]) == (200, 84)


def test_options_may_stand_in_the_query_or_in_the_body(service: Served) -> None:
    in_query = service.plan(THREE, "?seed=7&goal=fit&capacity=1KiB").json()
    in_body = service.plan({**THREE, "solve": {"seed": 7, "goal": "fit", "capacity": {"arena": 1024}}}).json()
    assert steady(in_query) == steady(in_body)
    assert (in_query["seed"], in_query["pools"][0]["size"]) == (7, 1024)


def test_contradictions_between_query_and_body_are_refused(service: Served) -> None:
    assert service.plan({**THREE, "solve": {"seed": 7}}, "?seed=7").status_code == 200
    found = refusal(service.plan({**THREE, "solve": {"seed": 7}}, "?seed=8"))
    assert (found["status"], found["code"], found["errors"][0]["pointer"]) == (422, "invalid_option", "/options/seed")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?seed=-1", "invalid_option"),
        ("?seed=x", "invalid_option"),
        ("?time_limit=nan", "invalid_option"),
        ("?time_limit=0", "invalid_option"),
        ("?time_limit=inf", "invalid_option"),
        ("?workers=0", "invalid_option"),
        ("?goal=best", "invalid_option"),
        ("?colour=red", "invalid_option"),
        ("?capacity=many", "invalid_option"),
        ("?capacity=a=1&capacity=2", "invalid_option"),
        ("?capacity=flash=1", "invalid_option"),
        ("?format=nnx", "invalid_option"),
        ("?require=optimal", "invalid_option"),
        ("?solver=magic", "unknown_solver"),
        ("?solver=os:system", "unknown_solver"),
        ("?solver=/tmp/mine.py:plan", "unknown_solver"),
        ("?seed=99999999999999999999999999", "invalid_option"),
        ("?%00=%ff&x[]=1", "invalid_option"),
    ],
)
def test_wrong_options_are_refused(service: Served, query: str, code: str) -> None:
    found = refusal(service.plan(THREE, query))
    assert (found["status"], found["code"]) == (422, code)
    assert found["errors"][0]["pointer"].startswith("/options")


@pytest.mark.parametrize(
    "solve",
    [{"seed": "7"}, {"seed": True}, {"colour": 1}, {"time_limit": -1}, {"capacity": {"arena": -1}}, {"capacity": "1"}],
)
def test_options_in_the_body_are_read_as_strictly(service: Served, solve: dict[str, object]) -> None:
    found = refusal(service.plan({**THREE, "solve": solve}))
    assert (found["status"], found["code"]) == (422, "invalid_option")
    assert found["errors"][0]["pointer"].startswith("/solve/")


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("solver", "magic", "unknown_solver"),
        ("solver", "two_ended", "unsupported"),
        ("capacity", {"flash": 64}, "invalid_option"),
        ("max_cost", 3, "invalid_option"),
    ],
)
def test_what_is_wrong_with_an_option_is_told_where_it_stands(
    service: Served, option: str, value: object, code: str
) -> None:
    problem = {**THREE, "pools": [{"name": "fast", "size": 96}, {"name": "slow"}]}
    for path in ("/v1/plans", "/v1/explain"):
        found = refusal(service.client.post(path, json={**problem, "solve": {option: value}}))
        assert (found["code"], found["errors"][0]["pointer"]) == (code, f"/solve/{option}")
        assert found["detail"].startswith(f"/solve/{option}: ")
    if not isinstance(value, dict):
        found = refusal(service.plan(problem, f"?{option}={value}"))
        assert (found["code"], found["errors"][0]["pointer"]) == (code, f"/options/{option}")


def test_solve_must_be_an_object(service: Served) -> None:
    assert refusal(service.plan({**THREE, "solve": [1]}))["errors"][0]["pointer"] == "/solve"


def test_infeasible_is_an_answer_unless_a_plan_is_required(service: Served) -> None:
    response = service.plan(TOO_SMALL)
    assert (response.status_code, response.json()["status"]) == (200, "infeasible")
    found = refusal(service.plan(TOO_SMALL, "?require=feasible"))
    assert (found["status"], found["code"]) == (422, "infeasible")
    assert found["plan"]["shortage"]["bytes_short"] == 4
    explained = refusal(service.client.post("/v1/explain?require=feasible", json=TOO_SMALL))
    assert (explained["status"], explained["code"]) == (422, "infeasible")
    assert explained["plan"]["shortage"]["bytes_short"] == 4
    assert service.client.post("/v1/explain?require=feasible", json=THREE).status_code == 200


def test_clipped_limits_are_named_in_the_answer(service: Served) -> None:
    response = service.plan(THREE, "?time_limit=100000&workers=64")
    assert response.status_code == 200
    assert [warning.split(" was ")[0] for warning in response.json()["warnings"]] == [
        "the time limit",
        "the number of workers",
    ]


def test_verify_finds_faults(service: Served) -> None:
    made = service.plan().json()
    answer = service.client.post("/v1/verify", json={"problem": THREE, "plan": made})
    assert answer.json() == {"valid": True, "findings": [], "notes": [], "warnings": []}
    made["placements"][0]["offset"] = 16
    answer = service.client.post("/v1/verify", json={"problem": THREE, "plan": made})
    assert (answer.status_code, answer.json()["valid"]) == (200, False)
    assert "overlap" in {finding["kind"] for finding in answer.json()["findings"]}


def test_verify_takes_csv_as_text_and_other_sizes(service: Served) -> None:
    rows = "id,lower,upper,size\na,0,2,64\nb,1,3,20\n"
    made = service.client.post("/v1/plans?capacity=100", content=rows, headers={"Content-Type": "text/csv"}).json()
    body = {"problem": rows, "plan": made}
    assert service.client.post("/v1/verify?format=minimalloc&capacity=100", json=body).json()["valid"] is True
    assert service.client.post("/v1/verify?capacity=200", json=body).json()["valid"] is False


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"problem": THREE}, "/plan"),
        ({"problem": {**THREE, "buffers": 1}, "plan": {}}, "/problem/buffers"),
        ({"problem": THREE, "plan": {"format": "memplan-plan/2"}}, "/plan/format"),
        ({"problem": THREE, "plan": {}, "also": 1}, ""),
        ([1], ""),
    ],
)
def test_verify_names_the_wrong_document_of_the_two(service: Served, body: object, pointer: str) -> None:
    found = refusal(service.client.post("/v1/verify", json=body))
    assert found["errors"][0]["pointer"] == pointer


def test_validate_answers_with_a_verdict_and_reasons(service: Served) -> None:
    good = service.client.post("/v1/validate", json=THREE).json()
    assert (good["valid"], good["buffers"], good["pools"]) == (True, 3, ["arena"])
    assert good["digest"] == service.plan().json()["problem_digest"]
    bad = service.client.post("/v1/validate", json={**THREE, "buffers": [{"id": "a", "size": -4}] * 50})
    assert bad.status_code == 200
    assert (bad.json()["valid"], len(bad.json()["errors"]), bad.json()["more"] > 0) == (False, 20, True)


@pytest.mark.parametrize("solve", [{"capacity": ["arena=60..100"], "step": 20}, {"mode": "maximum"}, {"points": 3}])
def test_validate_takes_options_for_any_answer(service: Served, solve: object) -> None:
    assert service.client.post("/v1/validate", json={**THREE, "solve": solve}).json()["valid"]
    bad = service.client.post("/v1/validate", json={**THREE, "solve": {"stepp": 20}}).json()
    assert [error["pointer"] for error in bad["errors"]] == ["/solve/stepp"]


def test_explain_names_the_reason_and_the_shortage(service: Served) -> None:
    good = service.client.post("/v1/explain", json=THREE).json()
    assert "live together" in good["sentences"][0]
    short = service.client.post("/v1/explain", json=TOO_SMALL).json()
    assert short["status"] == PlanStatus.INFEASIBLE
    assert (set(short["shortage"]["subset"]), short["shortage"]["irreducible"]) == ({"image", "edges"}, True)


@pytest.mark.parametrize(("name", "token"), [("a/b~c", "a~1b~0c"), ("~1", "~01")])
def test_places_of_options_are_json_pointers(service: Served, name: str, token: str) -> None:
    in_query = service.client.post("/v1/plans", params={name: "1"}, json=THREE)
    in_body = service.plan({**THREE, "solve": {name: 1}})
    of_a_pool = service.plan({**THREE, "solve": {"capacity": {name: -5}}})
    for answer, place in (
        (in_query, f"/options/{token}"),
        (in_body, f"/solve/{token}"),
        (of_a_pool, f"/solve/capacity/{token}"),
    ):
        assert [each["pointer"] for each in refusal(answer)["errors"]] == [place]


def test_options_under_solve_also_hold_for_whatever_looks_at_the_answer(service: Served) -> None:
    problem = {**THREE, "solve": {"capacity": {"arena": 1000}, "seed": 3}}
    plan = service.plan(problem).json()
    for path in ("verify", "draw", "report", "write?as=csv"):
        answer = service.client.post(f"/v1/{path}", json={"problem": problem, "plan": plan})
        assert answer.status_code == 200, answer.text
    assert service.client.post("/v1/verify", json={"problem": problem, "plan": plan}).json()["valid"] is True
    swept = {**THREE, "solve": {"capacity": ["arena=80,1000"], "step": 8}}
    found = service.client.post("/v1/verify?capacity=arena=1000", json={"problem": swept, "plan": plan}).json()
    assert found["valid"] is True
    for solve, place in (
        ({"capacity": {"arena": "x"}}, "/problem/solve/capacity"),
        ({"capacity": {"none": 5}}, "/problem/solve/capacity"),
        ({"nothing": 1}, "/problem/solve/nothing"),
    ):
        wrong = refusal(service.client.post("/v1/verify", json={"problem": {**THREE, "solve": solve}, "plan": plan}))
        assert wrong["errors"][0]["pointer"].startswith(place)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("arenas", "nested", "only for /v1/plans; leave it out"),
        ("objects", True, "only for /v1/plans; leave it out"),
        ("explain", False, "is always true here; leave it out, or send the problem to /v1/plans"),
    ],
)
def test_explanations_are_of_plans_only(service: Served, option: str, value: object, message: str) -> None:
    found = refusal(service.client.post("/v1/explain", json={**THREE, "solve": {option: value}}))
    assert [each["pointer"] for each in found["errors"]] == [f"/solve/{option}"]
    assert message in found["errors"][0]["message"]
    offered = service.client.get("/openapi.json").json()["paths"]["/v1/explain"]["post"]["parameters"]
    assert {each["name"] for each in offered if each["in"] == "query"} & {"arenas", "objects"} == set()


def test_a_stored_plan_is_answered_again(service: Served) -> None:
    problem = {**THREE, "name": "kept", "buffers": [*THREE["buffers"], {"id": "kept", "size": 1}]}
    first, again = service.plan(problem), service.plan(problem)
    assert (first.headers["x-cache"], again.headers["x-cache"]) == ("miss", "hit")
    assert "age" not in first.headers
    assert int(again.headers["age"]) >= 0
    assert first.content == again.content
    assert first.headers["etag"] == again.headers["etag"]
    same = service.plan({**problem, "name": "another name, which makes no difference"})
    assert (same.headers["x-cache"], same.content) == ("hit", first.content)
    assert service.plan(problem, "?seed=1").headers["x-cache"] == "miss"
    for wish, answer in (
        ("no-cache", "miss"),
        ("max-age=5, NO-CACHE", "miss"),
        ('private="x, no-cache, y"', "hit"),
        ("x-no-cache", "hit"),
    ):
        assert service.plan(problem, **{"Cache-Control": wish}).headers["x-cache"] == answer


def test_a_client_that_has_the_plan_gets_not_modified(service: Served) -> None:
    tag = service.plan().headers["etag"]
    for condition in (tag, f'"other", W/{tag}', "*"):
        response = service.plan(THREE, **{"If-None-Match": condition})
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", tag)
    assert service.plan(THREE, **{"If-None-Match": '"other"'}).status_code == 200
    two = [("If-None-Match", '"other"'), ("If-None-Match", tag), *JSON.items()]
    assert service.client.post("/v1/plans", json=THREE, headers=two).status_code == 304


def test_an_explanation_has_a_tag_of_its_own(service: Served) -> None:
    plan = service.plan(THREE, "?explain=true").headers["etag"]
    explained = service.client.post("/v1/explain", json=THREE)
    tag = explained.headers["etag"]
    assert tag != plan
    assert service.client.post("/v1/explain", json=THREE, headers={"If-None-Match": plan}).content == explained.content
    again = service.client.post("/v1/explain", json=THREE, headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)


def test_preferences_may_have_several_lines_and_parameters(service: Served) -> None:
    for lines in (["handling=lenient", "respond-async"], ["respond-async; x=1"]):
        headers = [*(("Prefer", line) for line in lines), *JSON.items()]
        assert service.client.post("/v1/plans?seed=99", json=THREE, headers=headers).status_code == 202


def test_a_request_that_was_answered_leaves_no_job(service: Served) -> None:
    service.plan({**THREE, "buffers": []})
    listed = service.client.get("/v1/jobs").json()["jobs"]
    assert all(job["buffers"] for job in listed)


def test_solvers_and_schema_equal_those_of_the_command(service: Served) -> None:
    named = {solver["name"]: solver for solver in service.client.get("/v1/solvers").json()["solvers"]}
    assert named["greedy"]["available"] is True
    schema = service.client.get("/v1/schema").json()
    assert schema["title"] == "memplan/1 problem"


def test_the_service_is_alive_and_ready(service: Served) -> None:
    assert service.client.get("/healthz").json() == {"status": "alive"}
    ready = service.client.get("/readyz").json()
    assert ready["status"] == "ready"
    assert {"greedy", "search"} <= set(ready["solvers"])


def test_metrics_are_served(service: Served) -> None:
    service.plan()
    text = service.client.get("/metrics").text
    assert 'memplan_requests_total{method="POST",route="/v1/plans",status="200"}' in text
    assert "memplan_plan_cache_total" in text
    assert 'memplan_jobs{state="queued"} 0.0' in text


def test_every_body_s_openapi_example_works(service: Served) -> None:
    document = service.client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    posts = {path: methods["post"] for path, methods in document["paths"].items() if "post" in methods}
    assert {"/v1/plans", "/v1/jobs", "/v1/verify", "/v1/validate", "/v1/explain"} <= set(posts)
    for path, described in posts.items():
        for kind, content in described["requestBody"]["content"].items():
            assert content["examples"], (path, kind)
            for example in content["examples"].values():
                value = example["value"]
                sent = value.encode() if isinstance(value, str) else json.dumps(value).encode()
                if "in base64" in example.get("summary", ""):
                    sent = base64.b64decode(value)
                if kind == "multipart/form-data":
                    response = service.client.post(path, files=value)
                else:
                    response = service.client.post(path, content=sent, headers={**JSON, "Content-Type": kind})
                assert response.status_code in (200, 202), (path, kind, response.text)


TWO = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "pools": [{"name": "fast", "size": 8}, {"name": "slow"}],
    "buffers": [
        {"id": "a", "size": 8, "live": [[0, 2]], "reads": 1},
        {"id": "b", "size": 8, "live": [[1, 3]], "reads": 2},
    ],
}


def test_a_plan_made_for_a_preference_is_verified_by_it(service: Served) -> None:
    made = service.plan(TWO, "?prefer=speed").json()
    assert [(term["name"], term["value"]) for term in made["objective"]["terms"]] == [
        ("access_cost", 1),
        ("sum_of_peaks", 16),
    ]
    body = {"problem": TWO, "plan": made}
    assert service.client.post("/v1/verify?prefer=speed", json=body).json()["valid"] is True
    assert service.client.post("/v1/verify", json=body).json()["valid"] is False
    refused = service.plan(TWO, "?prefer=fun")
    assert (refused.status_code, refusal(refused)["code"]) == (422, "invalid_option")


def test_a_limit_that_ends_while_the_problem_is_read_is_reported(service: Served) -> None:
    body = b'{"format": "memplan/1", "buffers": [' + b"{}," * 600_000 + b"{}]}"
    found = refusal(service.client.post("/v1/plans?time_limit=0.001", content=body, headers=JSON))
    assert (found["status"], found["code"]) == (413, "out_of_time")
    assert "reading the problem" in found["detail"]
