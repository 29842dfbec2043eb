"""Sweeps, plans for all shapes and nested arenas over HTTP have the library's answers, and are jobs like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import planner
from planner import PlanStatus, read_model, read_plan, read_problem, read_shaped
from planner.formats import FORMATS, read_program, read_shapes_plan
from planner.graph import nested_plan
from planner.planning.shapes import c_source, verify_shapes
from planner.planning.sweeping import sweep
from tests.api.cli.test_programs import onnx_loop
from tests.http.queued.test_jobs import events, until
from tests.http.served import JSON, SLOW, SLOW_QUERY, THREE, Served, refusal
from tests.planner.formats.models.tflite.test_reading import looping

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SHAPED: dict[str, Any] = {
    "format": "memplan/1",
    "name": "tokens",
    "lifetimes": "half_open",
    "symbols": {"n": [1, 64]},
    "pools": [{"name": "arena", "size": 100000}],
    "buffers": [
        {"id": "scores", "size": "4*n*n", "live": [[0, 2]]},
        {"id": "rows", "size": "64*n", "live": [[1, 3]]},
        {"id": "mask", "size": 512, "live": [[2, 4]]},
    ],
}
LOOPED = onnx_loop()
LOOP = (EXAMPLES / "loop.json").read_bytes()


def post_study(service: Served, path: str, problem: object, **headers: str) -> httpx.Response:
    content = problem if isinstance(problem, bytes) else json.dumps(problem).encode()
    return service.client.post(f"/v1/{path}", content=content, headers={**JSON, **headers})


def test_a_sweep_is_the_library_s(service: Served) -> None:
    response = post_study(service, "sweep?capacity=80..96&step=4", THREE)
    assert response.status_code == 200, response.text
    found, problem = response.json(), read_problem(json.dumps(THREE).encode())[0]
    expected = sweep(problem, {"arena": (80, 84, 88, 92, 96)}, processes=1)
    assert [(p["capacity"]["arena"], p["status"], p["value"]) for p in found["points"]] == [
        (p.capacity["arena"], p.status, None if p.value is None else list(p.value)) for p in expected.points
    ]
    assert (found["smallest"]["capacity"], found["smallest"]["bound"]) == (84, 84)
    for point in found["points"]:
        if point["plan"] is not None:
            sized = planner.with_capacity(problem, point["capacity"])
            assert planner.verify(sized, read_plan(json.dumps(point["plan"]).encode())) == ()
    again = post_study(service, "sweep?capacity=arena%3D80..96&step=4", {**THREE, "name": "other"})
    assert again.status_code == 200


def test_a_sweep_of_variants_lists_the_cost_of_each_size(service: Served) -> None:
    groups = [
        {
            "name": f"layer {k}",
            "alternatives": [
                {
                    "name": "whole",
                    "costs": {"cycles": 10},
                    "buffers": [{"id": f"w{k}", "size": 64, "live": [[k, k + 2]]}],
                },
                {
                    "name": "striped",
                    "costs": {"cycles": 13},
                    "buffers": [{"id": f"s{k}", "size": 16, "live": [[k, k + 2]]}],
                },
            ],
        }
        for k in range(3)
    ]
    problem = {
        "format": "memplan/1",
        "lifetimes": "half_open",
        "pools": [{"name": "arena"}],
        "buffers": [],
        "variants": {"costs": [{"name": "cycles"}], "groups": groups},
    }
    response = post_study(service, "sweep?capacity=16,32,80,128", problem)
    assert response.status_code == 200, response.text
    found = response.json()
    assert found["terms"] == ["cost", "sum_of_peaks"]
    assert [point["value"] for point in found["points"]] == [None, [39, 32], [33, 80], [30, 128]]
    assert (found["smallest"]["capacity"], found["smallest"]["bound"]) == (32, 32)
    assert post_study(service, "sweep?capacity=16,32&prefer=size", problem).status_code == 422


def test_sizes_of_a_job_are_reported_and_can_be_fetched_and_drawn(service: Served) -> None:
    body = {**THREE, "solve": {"capacity": ["arena=80,84,100"]}}
    job = post_study(service, "sweep", body, Prefer="respond-async").json()
    heard = [(data["part"], data["status"]) for _, kind, data in events(service, job) if kind == "point"]
    assert sorted(heard) == [("100", "optimal"), ("80", "infeasible"), ("84", "optimal")]
    assert 'memplan_asked_total{kind="sweep"}' in service.client.get("/metrics").text
    now, here = service.client.get(job["links"]["self"]).json(), job["links"]["self"]
    assert (now["kind"], now["status"], now["stop"], now["best"], now["bound"]) == (
        "sweep",
        "optimal",
        "proved",
        84,
        84,
    )
    plan = read_plan(service.client.get(f"{here}/plan?part=84").content)
    problem = planner.with_capacity(read_problem(json.dumps(THREE).encode())[0], 84)
    assert planner.verify(problem, plan) == ()
    assert service.client.get(f"{here}/drawing?part=100&as=map").json()["pools"][0]["size"] == 100
    assert service.client.get(f"{here}/drawing").content.startswith(b"<svg")
    figures = service.client.get(f"{here}/drawing?as=map").json()
    assert [point["capacity"]["arena"] for point in figures["points"]] == [80, 84, 100]
    assert "plan" not in figures["points"][0] | figures["smallest"]
    least = read_plan(service.client.get(f"{here}/plan?part=smallest").content)
    assert least.peak == 84
    assert service.client.get(f"{here}/drawing?part=smallest&as=map").json()["pools"][0]["peak"] == 84
    assert refusal(service.client.get(f"{here}/plan?part=90"))["code"] == "not_found"


def test_parts_of_a_sweep_of_many_pools_can_be_fetched_by_the_names_that_are_listed(service: Served) -> None:
    names = [f"p{i}" for i in range(200)]
    sizes = [*(f"{name}=1000000" for name in names[1:]), "p0=1000000,1000010"]
    problem = {**THREE, "pools": [{"name": name, "size": 4096} for name in names], "solve": {"capacity": sizes}}
    job = post_study(service, "sweep", problem, Prefer="respond-async").json()
    heard = [data["part"] for _, kind, data in events(service, job) if kind == "point"]
    here = job["links"]["self"]
    assert min(map(len, heard)) > 1000
    for part in heard:
        assert read_plan(service.client.get(f"{here}/plan", params={"part": part}).content).status is PlanStatus.OPTIMAL
    listed = refusal(service.client.get(f"{here}/plan?part=none"))["detail"]
    assert sum(json.dumps(part) in listed for part in heard) == 1
    assert listed.endswith(", 1 more")


def test_a_sweep_can_be_stopped(service: Served) -> None:
    query = f"sweep{SLOW_QUERY}&capacity=1KiB..2MiB&step=65536"
    job = post_study(service, query, SLOW, Prefer="respond-async").json()
    until(service, job, "running")
    service.client.delete(job["links"]["self"])
    until(service, job, "cancelled")


@pytest.mark.parametrize("query", ["", "?mode=maximum", "?mode=buckets&at=n%3D16&at=n%3D64"])
def test_a_plan_for_all_shapes_is_right(service: Served, query: str) -> None:
    response = post_study(service, f"shapes{query}", SHAPED)
    assert response.status_code == 200, response.text
    problem, _ = read_shaped(json.dumps(SHAPED).encode())
    assert verify_shapes(problem, read_shapes_plan(response.content)) == ()
    both = {"problem": SHAPED, "plan": response.json()}
    assert post_study(service, "verify", both).json()["valid"]
    assert post_study(service, "verify", {**both, "problem": {**SHAPED, "symbols": {"n": [1, 65]}}}).json()["findings"]
    again = post_study(service, f"shapes{query}", SHAPED)
    assert (again.headers["x-cache"], again.content) == ("hit", response.content)


def test_c_functions_come_with_the_offsets_on_request(service: Served) -> None:
    response = post_study(service, "shapes?c=tokens", SHAPED)
    found = read_shapes_plan(response.content)
    expected = c_source(found, ["scores", "rows", "mask"], "tokens").decode()
    assert response.json()["c"] == expected
    assert "int tokens_offsets(" in expected
    assert "c" not in post_study(service, "shapes", SHAPED).json()


def test_problems_that_differ_in_their_expressions_alone_are_kept_apart(service: Served) -> None:
    other = {**SHAPED, "buffers": [{**SHAPED["buffers"][0], "size": "256*n"}, *SHAPED["buffers"][1:]]}
    first, second = (post_study(service, "shapes?seed=3", problem).json() for problem in (SHAPED, other))
    assert first["problem_digest"] == second["problem_digest"]
    assert first["buffers"] != second["buffers"]


def test_shapes_with_other_sizes_of_memory_may_be_a_job(service: Served) -> None:
    job = post_study(service, "shapes?at=n%3D8&at=n%3D64&capacity=50000", SHAPED, Prefer="respond-async").json()
    now = until(service, job, "succeeded")
    assert (now["kind"], now["status"]) == ("shapes", "feasible")
    here = job["links"]["self"]
    assert [row["at"] for row in service.client.get(f"{here}/drawing?as=map").json()["shapes"]] == [{"n": 8}, {"n": 64}]
    assert service.client.get(f"{here}/drawing").content.startswith(b"<svg")
    assert refusal(service.client.get(f"{here}/plan?part=n"))["code"] == "not_found"
    for n in (8, 64):
        drawn = service.client.get(f"{here}/drawing", params={"part": f"n={n}", "as": "map"}).json()
        assert sorted(drawn["buffers"]["size"]) == sorted((4 * n * n, 64 * n, 512))
    assert refusal(service.client.get(f"{here}/drawing?part=n%3D9"))["code"] == "not_found"


def test_nested_arenas_are_the_library_s(service: Served) -> None:
    response = post_study(service, "plans?arenas=nested", LOOP)
    assert response.status_code == 200, response.text
    file = read_program(LOOP)
    expected = nested_plan(file.program, file.pools, file.options, planner.plan)
    found = response.json()
    assert (found["format"], found["peak"]) == ("memplan-nested/1", expected.peak)
    assert [arena["function"] for arena in found["arenas"]] == [arena.function for arena in expected.arenas]
    alone = post_study(service, "plans", LOOP).json()
    assert (alone["format"], alone["peak"] <= found["peak"]) == ("memplan-plan/1", True)
    job = post_study(service, "jobs?arenas=nested&seed=2", LOOP).json()
    now, here = until(service, job, "succeeded"), job["links"]["self"]
    assert (now["kind"], now["best"]) == ("nested", expected.peak)
    for arena in expected.arenas:
        part = {"part": arena.function}
        plan = read_plan(service.client.get(f"{here}/plan", params=part).content)
        assert planner.verify(arena.problem, plan) == ()
        drawn = service.client.get(f"{here}/drawing", params={**part, "as": "map"}).json()
        assert drawn["format"] == "memplan-map/1"
    whole = service.client.get(f"{here}/drawing").text
    assert whole.startswith("<svg")
    assert [whole.count(f">{arena.function}:   sram<") for arena in expected.arenas] == [1, 1]
    figures = service.client.get(f"{here}/drawing?as=map").json()
    assert [(arena["function"], arena["peak"]) for arena in figures["arenas"]] == [
        (arena.function, arena.plan.peak) for arena in expected.arenas
    ]
    assert refusal(service.client.get(f"{here}/drawing?part=nobody"))["code"] == "not_found"


@pytest.mark.parametrize(
    ("row", "data", "settings"), [("tflite", looping(), ":in_place"), ("onnx", LOOPED, ":dim=rows=4")]
)
def test_models_have_nested_arenas_too(service: Served, row: str, data: bytes, settings: str) -> None:
    def nested(settings: str) -> httpx.Response:
        kind = FORMATS[row].media_types[0]
        headers = {"Content-Type": kind}
        return service.client.post(f"/v1/plans?arenas=nested&format={row}{settings}", content=data, headers=headers)

    file, _ = read_model(data, format=row + settings)
    expected = nested_plan(file.program, file.pools, file.options, planner.plan)
    response = nested(settings)
    assert response.status_code == 200, response.text
    assert response.json()["peak"] == expected.peak
    assert nested(settings).headers["x-cache"] == "hit"
    assert nested(f"{settings},alignment=512").json()["peak"] > (expected.peak or 0)
    both = {"problem": data, "plan": response.content}

    def verified(settings: str) -> httpx.Response:
        return service.client.post(f"/v1/verify?format={row}{settings}", files=both)

    assert verified(settings).json()["valid"]
    wrong = {"tflite": ":like=tflm", "onnx": ":dim=rows=1..4"}[row]
    for refused in (nested(wrong), verified(wrong)):
        found = refusal(refused)
        assert (found["status"], found["code"]) == (422, "invalid_option")
        assert found["errors"][0]["pointer"] == "/options/format"


@pytest.mark.parametrize(
    ("path", "problem", "code", "pointer"),
    [
        ("sweep", THREE, "invalid_option", "/options/capacity"),
        ("sweep?capacity=9..4", THREE, "invalid_option", "/options/capacity"),
        ("sweep?capacity=nowhere%3D64", THREE, "invalid_option", "/options/capacity"),
        ("sweep?capacity=1..99&step=0", THREE, "invalid_option", "/options/step"),
        ("sweep?capacity=0..1GiB&step=1", THREE, "invalid_option", "/options/step"),
        ("sweep", {**THREE, "solve": {"capacity": "64"}}, "invalid_option", "/solve/capacity"),
        ("shapes?mode=most", SHAPED, "invalid_option", "/options/mode"),
        ("shapes?mode=buckets", SHAPED, "invalid_option", "/options/at"),
        ("shapes?at=n", SHAPED, "invalid_option", "/options/at"),
        ("shapes?at=n%3D65", SHAPED, "invalid_option", "/options/at"),
        ("shapes?c=1x", SHAPED, "invalid_option", "/options/c"),
        ("shapes?c=x&mode=maximum", SHAPED, "invalid_option", "/options/c"),
        ("shapes?capacity=100", SHAPED, "infeasible", ""),
        ("shapes", {**SHAPED, "symbols": {"n": [1]}}, "invalid_value", "/symbols/n"),
        ("plans?arenas=nested", THREE, "unsupported", "/options/arenas"),
        ("plans?arenas=here", LOOP, "invalid_option", "/options/arenas"),
        ("plans?arenas=nested&objects=true", LOOP, "invalid_option", "/options/objects"),
    ],
)
def test_wrong_requests_are_refused(service: Served, path: str, problem: object, code: str, pointer: str) -> None:
    found = refusal(post_study(service, path, problem))
    assert (found["status"], found["code"], found["errors"][0]["pointer"]) == (422, code, pointer)


def test_more_plans_than_there_is_room_for_are_refused(service: Served) -> None:
    buffers = [{"id": i, "size": 8, "live": [[i, i + 1]]} for i in range(1200)]
    found = refusal(post_study(service, "sweep?capacity=1..1024&step=1", {**THREE, "buffers": buffers}))
    assert (found["status"], found["code"]) == (413, "too_large")


def test_lists_of_jobs_do_not_grow_with_their_options(service: Served) -> None:
    body = {**SHAPED, "solve": {"at": [f"n={n % 64 + 1}" for n in range(4000)], "mode": "maximum", "time_limit": 0.1}}
    job = post_study(service, "shapes", body, Prefer="respond-async").json()
    assert len(job["options"]["at"]) == 4000
    listed = service.client.get("/v1/jobs?limit=1").json()["jobs"][0]
    assert (listed["id"], listed["options"]["at"]) == (job["id"], None)
    service.client.delete(job["links"]["self"])
