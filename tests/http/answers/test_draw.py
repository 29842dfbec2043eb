"""Pictures of plans over HTTP, and the files and examples of the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from planner import read_problem
from tests.http.queued.test_jobs import post_job, until, until_there_is_a_plan
from tests.http.served import JSON, SLOW, SLOW_QUERY, THREE, TOO_SMALL, Served, refusal

HOSTILE = "<img src=x onerror=alert(1)>\r\nX-Evil: 1\x00\u202e"
WEB = Path(__file__).resolve().parents[3] / "api" / "web"


def both(service: Served, problem: object = THREE) -> dict[str, object]:
    return {"problem": problem, "plan": service.plan(problem).json()}


def test_a_plan_is_drawn_as_an_attachment_in_which_nothing_can_run(service: Served) -> None:
    answer = service.client.post("/v1/draw", content=json.dumps(both(service)), headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.headers["content-disposition"] == 'attachment; filename="memory-map.svg"'
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert b"<title>edges: 20 B at 64 to 84, live [1, 3)</title>" in answer.content


def test_a_job_is_drawn_from_its_stored_problem_and_plan(service: Served) -> None:
    job = post_job(service, {**THREE, "name": "drawn", "solve": {"seed": 3}})
    until(service, job, "succeeded")
    picture = service.client.get(f"{job['links']['self']}/drawing")
    plan = service.client.get(f"{job['links']['self']}/plan")
    given = json.dumps({"problem": {**THREE, "name": "drawn", "solve": {"seed": 3}}, "plan": plan.json()})
    assert picture.content == service.client.post("/v1/draw", content=given, headers=JSON).content
    assert picture.headers["content-disposition"].startswith("attachment")
    found = service.client.get(f"{job['links']['self']}/drawing?as=map")
    assert found.headers["content-type"] == "application/json"
    assert found.json()["buffers"]["id"] == ["image", "edges", "score"]
    sent = service.client.get(f"{job['links']['self']}/problem")
    assert sent.json() == {**THREE, "name": "drawn", "solve": {"seed": 3}}


def test_a_plan_made_with_options_is_drawn_with_them(service: Served) -> None:
    options = {"as": "map", "capacity": "arena=128", "prefer": "speed"}
    job = post_job(service, {**THREE, "name": "changed", "solve": {"capacity": {"arena": 128}, "prefer": "speed"}})
    until(service, job, "succeeded")
    found = service.client.get(f"{job['links']['self']}/drawing?as=map").json()
    assert [pool["size"] for pool in found["pools"]] == [128]
    plan = service.client.get(f"{job['links']['self']}/plan").json()
    given = json.dumps({"problem": {**THREE, "name": "changed"}, "plan": plan})
    again = service.client.post("/v1/draw", params=options, content=given, headers=JSON)
    assert again.json() == found
    without = service.client.post("/v1/draw?as=map", content=given, headers=JSON)
    assert without.json() != found


def test_the_best_plan_so_far_is_drawn_while_the_job_runs(service: Served) -> None:
    job = post_job(service, SLOW, SLOW_QUERY)
    until_there_is_a_plan(service, job)
    found = service.client.get(f"{job['links']['self']}/drawing?as=map").json()
    assert len(found["buffers"]["id"]) == 400
    service.client.delete(job["links"]["self"])
    until(service, job, "cancelled")


def test_problems_in_other_formats_and_with_other_capacities_are_drawn(service: Served) -> None:
    rows = "id,lower,upper,size\na,0,2,64\nb,1,3,20\n"
    csv = {"Content-Type": "text/csv"}
    plan = service.client.post("/v1/plans?capacity=100", content=rows, headers=csv).json()
    given = json.dumps({"problem": rows, "plan": plan})
    right = service.client.post("/v1/draw?capacity=100&as=map", content=given, headers=JSON).json()
    assert (right["wrong_count"], right["pools"][0]["size"]) == (0, 100)
    assert service.client.post("/v1/draw?as=map", content=given, headers=JSON).json()["wrong_count"] > 0


def test_a_wrong_plan_is_drawn_with_its_faults(service: Served) -> None:
    given = json.loads(json.dumps(both(service)))
    for place in given["plan"]["placements"]:
        place["offset"] = 0
    found = service.client.post("/v1/draw?as=map", content=json.dumps(given), headers=JSON).json()
    assert {"image", "edges"} <= {name for finding in found["wrong"] for name in finding["buffers"]}
    assert b"bad" in service.client.post("/v1/draw", content=json.dumps(given), headers=JSON).content


def test_names_of_strangers_are_escaped_in_markup_headers_and_logs(service: Served) -> None:
    problem = {
        **THREE,
        "name": HOSTILE,
        "pools": [{"name": HOSTILE}],
        "buffers": [{"id": HOSTILE, "size": 64, "live": [[0, 2]], "kind": HOSTILE}],
    }
    job = post_job(service, problem)
    until(service, job, "succeeded")
    answer = service.client.get(f"{job['links']['self']}/drawing")
    titles = [element.text for element in ET.fromstring(answer.content).iter() if element.tag.endswith("}title")]
    assert sum("onerror" in (title or "") for title in titles) == 2
    for name in (r"\r\n", r"\x00", r"\u202e"):
        assert name.encode() in answer.content
    assert not any("evil" in name.lower() or "onerror" in value for name, value in answer.headers.items())
    assert not any("\x00" in line or "\u202e" in line for line in service.log)


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/draw", {}, 422, "missing_field"),
        ("/v1/draw", {"problem": THREE, "plan": {"format": "memplan-plan/1"}}, 422, "missing_field"),
        ("/v1/draw", {"problem": THREE, "plan": {}, "x": 1}, 422, "unknown_field"),
        ("/v1/draw?as=png", {"problem": THREE, "plan": {}}, 422, "invalid_option"),
        ("/v1/draw?capacity=many", {"problem": THREE, "plan": {}}, 422, "invalid_option"),
    ],
)
def test_impossible_drawings_are_refused(service: Served, path: str, body: object, status: int, code: str) -> None:
    found = refusal(service.client.post(path, content=json.dumps(body), headers=JSON))
    assert (found["status"], found["code"]) == (status, code)


def test_a_plan_of_another_problem_is_refused_with_the_place(service: Served) -> None:
    given = json.loads(json.dumps(both(service)))
    given["plan"]["placements"][1]["id"] = "stranger"
    found = refusal(service.client.post("/v1/draw", content=json.dumps(given), headers=JSON))
    assert (found["code"], found["errors"][0]["pointer"]) == ("unknown_buffer", "/plan/placements/1/id")


def test_what_a_table_lacks_in_the_problem_is_refused_with_the_place_there(service: Served) -> None:
    given = both(service, {"format": "memplan/1", "buffers": [{"id": "a", "size": 8}]})
    found = refusal(service.client.post("/v1/write?as=chrome-trace", content=json.dumps(given), headers=JSON))
    assert (found["code"], found["errors"][0]["pointer"]) == ("lifetimes_missing", "/problem/buffers")


def test_a_job_without_a_plan_has_no_drawing(service: Served) -> None:
    for path in ("/v1/jobs/0/drawing", "/v1/jobs/0/problem", "/v1/jobs/%3Cb%3E/drawing"):
        assert refusal(service.client.get(path))["code"] == "not_found"
    job = post_job(service, TOO_SMALL)
    until(service, job, "succeeded")
    assert b"infeasible" in service.client.get(f"{job['links']['self']}/drawing").content


def test_the_page_s_policy_forbids_all_other_sources(service: Served) -> None:
    page = service.client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "require-trusted-types-for 'script'" in policy
    tag = {"If-None-Match": page.headers["etag"]}
    assert service.client.get("/", headers=tag).status_code == 304


def test_exactly_the_files_of_the_page_are_served(service: Served) -> None:
    for file in (path for path in WEB.rglob("*") if path.is_file()):
        answer = service.client.get(f"/web/{file.relative_to(WEB).as_posix()}")
        assert (answer.status_code, answer.content) == (200, file.read_bytes())
        assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("/web/", "/web/none.js", "/web/../app.py", "/web/%2e%2e%2fapp.py", "/web/..%2fapp.py"):
        assert refusal(service.client.get(path))["code"] == "not_found"


def test_the_page_s_files_last_under_the_name_of_their_version_alone(service: Served) -> None:
    (script,) = re.findall(r'src="(web/\w+/page\.js)"', service.client.get("/").text)
    lasting = service.client.get(f"/{script}")
    assert lasting.headers["cache-control"] == "public, max-age=31536000, immutable"
    for address in ("/web/page.js", "/web/0123456789abcdef/page.js"):
        answer = service.client.get(address)
        assert (answer.headers["cache-control"], answer.content) == ("no-cache", lasting.content)


def test_every_example_is_a_sound_problem(service: Served) -> None:
    listed = service.client.get("/v1/examples").json()["examples"]
    assert len({example["title"] for example in listed}) == len(listed) >= 5
    for example in listed:
        answer = service.client.get(f"/v1/examples/{example['name']}")
        problem, warnings = read_problem(answer.content)
        assert problem.buffers
        assert not warnings
    assert refusal(service.client.get("/v1/examples/none"))["code"] == "not_found"


def part(name: str, data: bytes, more: str = "") -> bytes:
    return f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + data + b"\r\n"


PROBLEM = json.dumps(THREE).encode()
FORM = "multipart/form-data; boundary=x"
END = b"--x--\r\n"


@pytest.mark.parametrize(
    ("kind", "body", "status", "code", "pointer"),
    [
        ("multipart/form-data", END, 400, "invalid_header", None),
        ("multipart/form-data; boundary=" + "x" * 71, END, 400, "invalid_header", None),
        ("multipart/mixed; boundary=x", END, 415, "unsupported_media_type", None),
        (FORM, b"", 400, "unreadable", ""),
        (FORM, b"hello", 400, "unreadable", ""),
        (FORM, END, 422, "missing_field", "/problem"),
        (FORM, part("problem", PROBLEM) + END, 422, "missing_field", "/plan"),
        (FORM, part("problem", PROBLEM) + part("plan", b"{}"), 400, "unreadable", ""),
        (FORM, part("problem", PROBLEM) * 2 + END, 400, "duplicate_key", "/problem"),
        (FORM, part("problem", PROBLEM) + part("plan", b"{}") + part("x", b"") + END, 422, "unknown_field", ""),
        (FORM, part("problem", b"\0\1") + part("plan", b"{}") + END, None, None, "/problem"),
        (FORM, part("problem", PROBLEM) + part("plan", b"{}") + END, 422, None, "/plan"),
        (FORM, part("problem", PROBLEM) + part("plan", b"{") + END, 400, "invalid_json", "/plan"),
        (FORM, b"--x\r\n" + b"A: b\r\n" * 10_000 + b"\r\n" + END, 400, "unreadable", ""),
        (FORM, b"--x\r\nA: " + b"b" * 1_000_000 + b"\r\n\r\n" + END, 400, "unreadable", ""),
        (FORM, part("problem", PROBLEM, "; " + "a=b;" * 1000) + END, 422, "missing_field", "/plan"),
    ],
)
def test_wrong_forms_are_refused(
    service: Served, kind: str, body: bytes, status: int | None, code: str | None, pointer: str | None
) -> None:
    found = refusal(service.client.post("/v1/verify", content=body, headers={"Content-Type": kind}))
    assert found["status"] == status or (status is None and found["status"] in (400, 415, 422))
    assert code is None or found["code"] == code
    assert pointer is None or found["errors"][0]["pointer"].startswith(pointer)


def test_a_form_is_limited_as_other_bodies_are(service: Served) -> None:
    data = part("problem", b" " * (65 << 20)) + END
    assert refusal(service.client.post("/v1/draw", content=data, headers={"Content-Type": FORM}))["code"] == "too_large"
