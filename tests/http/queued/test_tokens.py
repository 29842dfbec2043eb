"""If tokens are set, nothing is done without one, and the jobs of one token do not exist for the others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.cli.exit_codes import ExitCode
from api.cli.invocation import invoke
from tests.http.served import JSON, SLOW, SLOW_QUERY, THREE, Served, refusal, serving
from tests.running.command import run

TOKENS = {"ann": "ann's secret", "bob": "bob's secret"}
PAIRS = ",".join(f"{name}={hashlib.sha256(token.encode()).hexdigest()}" for name, token in TOKENS.items())


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(
        tmp_path_factory.mktemp("data"),
        tokens=PAIRS,
        metrics_tokens="bob",
        host="0.0.0.0",
        allowed_hosts="planner.example",
    ) as served:
        yield served


def send_as(served: Served, name: str | None, method: str, path: str, **rest: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {TOKENS[name]}"} if name else {}
    return served.client.request(method, path, headers={**JSON, **headers}, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/solvers", "/metrics", "/openapi.json", "/nowhere"])
def test_every_path_needs_a_token(guarded: Served, path: str) -> None:
    for header in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer ann"},
    ):
        response = guarded.client.get(path, headers=header)
        found = refusal(response)
        assert (found["status"], found["code"], response.headers["www-authenticate"]) == (401, "unauthorised", "Bearer")


def test_metrics_are_for_named_owners_only(guarded: Served) -> None:
    refused = send_as(guarded, "ann", "GET", "/metrics")
    assert (refusal(refused)["code"], refused.status_code) == ("forbidden", 403)
    assert "memplan_jobs" in send_as(guarded, "bob", "GET", "/metrics").text


def test_probes_need_no_token(guarded: Served) -> None:
    assert guarded.client.get("/healthz").status_code == 200
    assert guarded.client.get("/healthz", headers={"Host": "planner.example"}).status_code == 200


def test_jobs_of_another_owner_are_not_found(guarded: Served) -> None:
    job = send_as(guarded, "ann", "POST", "/v1/jobs", json=THREE).json()
    here = job["links"]["self"]
    assert send_as(guarded, "ann", "GET", here).status_code == 200
    for method, path in (("GET", here), ("GET", f"{here}/plan"), ("GET", f"{here}/events"), ("DELETE", here)):
        assert refusal(send_as(guarded, "bob", method, path))["code"] == "not_found"
    assert send_as(guarded, "bob", "GET", "/v1/jobs").json()["jobs"] == []


def test_plans_and_keys_belong_to_their_owner(guarded: Served) -> None:
    answers = [send_as(guarded, name, "POST", "/v1/plans?seed=5", json=THREE) for name in ("ann", "ann", "bob")]
    assert [answer.headers["x-cache"] for answer in answers] == ["miss", "hit", "miss"]
    rest = {"Idempotency-Key": "k"}
    jobs = []
    for name, seed in (("ann", 6), ("bob", 7)):
        headers = {**JSON, **rest, "Authorization": f"Bearer {TOKENS[name]}"}
        jobs.append(guarded.client.post(f"/v1/jobs?seed={seed}", json=THREE, headers=headers))
    assert [job.status_code for job in jobs] == [202, 202]


@pytest.mark.parametrize("limit", ["max_jobs_per_token", "max_queue"])
def test_one_owner_cannot_fill_the_queue_for_the_others(tmp_path: Path, limit: str) -> None:
    """Half of the queue is the most, whatever a token's own limit: of two places one."""
    with serving(tmp_path, tokens=PAIRS, **{limit: "1" if limit == "max_jobs_per_token" else "2"}) as strict:
        slow = f"/v1/jobs{SLOW_QUERY}"
        running = send_as(strict, "ann", "POST", slow, content=SLOW)
        assert running.status_code == 202
        again = send_as(strict, "ann", "POST", slow, content=SLOW)
        found = refusal(again)
        assert (found["status"], found["code"], again.headers["retry-after"]) == (429, "queue_full", "5")
        assert send_as(strict, "bob", "POST", slow, content=SLOW).status_code == 202
        send_as(strict, "ann", "DELETE", running.json()["links"]["self"])


def test_no_token_is_ever_logged(guarded: Served) -> None:
    send_as(guarded, "ann", "GET", "/v1/jobs")
    assert not any(token in line for token in TOKENS.values() for line in guarded.log)


def test_a_new_token_comes_with_its_setting() -> None:
    output = run("serve", "--new-token", "eve").stdout.decode()
    found = re.fullmatch(r"token:   (\S{40,})\nsetting: MEMPLAN_TOKENS=eve=([0-9a-f]{64})\n", output)
    assert found is not None
    assert hashlib.sha256(found[1].encode()).hexdigest() == found[2]


@pytest.mark.parametrize("name", ["", " ", "a,b", "a=b"])
def test_a_name_that_no_setting_can_have_gets_no_token(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["serve", "--new-token", name]) == ExitCode.BAD_INPUT
    output = capsys.readouterr()
    assert (output.out, "--new-token" in output.err) == ("", True)
