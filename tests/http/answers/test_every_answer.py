"""What the command verifies, draws and writes, the service does in the same way: both read the table of answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.formats.tables.answers import ANSWER_KINDS
from tests.http.queued.test_jobs import until
from tests.http.queued.test_studies import post_study
from tests.http.served import JSON, Served, refusal
from tests.running.command import run
from tests.small.every_answer import every_answer

STUDIES = {
    "plan": "jobs",
    "sharing": "jobs?objects=true",
    "frontier": "pareto",
    "sweep": "sweep?capacity=sram%3D64,96,128",
    "shapes": "shapes?at=n%3D2&at=n%3D16",
    "nested": "jobs?arenas=nested",
    "proof": "proof",
}
"""What answers with each kind."""


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_the_doors_give_the_same(service: Served, tmp_path: Path, kind: str) -> None:
    problem, answer = every_answer()[kind]
    files = [tmp_path / "problem.json", tmp_path / "answer.json"]
    for file, data in zip(files, (problem, answer), strict=True):
        file.write_bytes(data)
    names = [*map(str, files)]
    both = json.dumps({"problem": json.loads(problem), "plan": json.loads(answer)})

    def post(path: str, **headers: str) -> bytes:
        response = service.client.post(f"/v1/{path}", content=both, headers={**JSON, **headers})
        assert response.status_code == 200, response.text
        return response.content

    verdict = json.loads(post("verify"))
    assert (verdict["valid"], verdict["findings"]) == (True, [])
    verified = run("verify", *names, "--json")
    assert verified.returncode == 0
    assert json.loads(verified.stdout) == {name: verdict[name] for name in ("valid", "findings", "notes")}
    picture = run("draw", *names, "-o", "-")
    assert (picture.returncode, picture.stderr) == (0, b"")
    assert picture.stdout == post("draw") == post("draw", Accept="image/*;q=0.5, text/html, text/csv;q=0.4")
    table = run("write", *names, "--as", "csv", "-o", "-")
    assert (table.returncode, table.stderr) == (0, b"")
    assert table.stdout == post("write?as=csv") == post("draw?as=csv") == post("draw", Accept="text/csv")
    report = run("report", *names, "--json")
    reported = service.client.post("/v1/report", content=both, headers=JSON)
    if kind not in ("sweep", "shapes"):
        assert json.loads(report.stdout) == json.loads(reported.content)
    else:
        assert (report.returncode, reported.status_code) == (2, 422)
    if kind not in ("plan", "proof"):
        refused = service.client.post("/v1/write?as=c", content=both, headers=JSON)
        assert refusal(refused)["code"] == "invalid_option"


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_jobs_of_each_kind_are_drawn_and_have_a_table(service: Served, kind: str) -> None:
    problem, _ = every_answer()[kind]
    job = post_study(service, STUDIES[kind], problem, Prefer="respond-async").json()
    now, here = until(service, job, "succeeded"), job["links"]["self"]
    assert now["kind"] == kind
    picture = service.client.get(f"{here}/drawing")
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/svg+xml", b"<svg")
    table = service.client.get(f"{here}/drawing?as=csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.content == service.client.get(f"{here}/drawing", headers={"Accept": "text/csv"}).content
    assert table.text.count("\n") > 1
    refused = service.client.get(f"{here}/drawing?as=csv&part=x")
    assert refusal(refused)["code"] == "invalid_option"
    for path in ("drawing?part=x", "drawing?part=x&as=map", "plan?part=x"):
        missing = refusal(service.client.get(f"{here}/{path}"))
        assert (missing["status"], missing["code"]) == (404, "not_found"), path
        has_parts = kind in ("frontier", "sweep", "nested", "proof") or (
            kind == "shapes" and path.startswith("drawing")
        )
        assert (" its parts are " if has_parts else " it has no parts,") in missing["detail"]


def test_what_cannot_be_a_table_is_refused(service: Served) -> None:
    problem, answer = every_answer()["plan"]
    wrong = json.loads(answer)
    wrong["placements"][0]["offset"] += 1
    both = json.dumps({"problem": json.loads(problem), "plan": wrong})
    refused = refusal(service.client.post("/v1/draw?as=csv", content=both, headers=JSON))
    assert (refused["status"], refused["errors"][0]["pointer"]) == (422, "/plan")
    refused = refusal(service.client.post("/v1/report", content=both, headers=JSON))
    assert (refused["status"], refused["errors"][0]["pointer"]) == (422, "/plan")
    small = json.loads(problem) | {"pools": [{"name": "sram", "size": 8}]}
    for path in ("jobs", "jobs?objects=true"):
        job = post_study(service, path, small).json()
        until(service, job, "succeeded")
        refused = refusal(service.client.get(f"{job['links']['self']}/drawing?as=csv"))
        assert (refused["status"], refused["code"]) == (422, "no_plan_found")
    proof = post_study(service, "proof", problem, Prefer="respond-async").json()
    until(service, proof, "succeeded")
    table = service.client.get(f"{proof['links']['self']}/drawing?as=csv")
    assert table.text.startswith("id,lower,upper,size,offset\n")
