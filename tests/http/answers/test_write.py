"""Plans for firmware over HTTP."""

from __future__ import annotations

import json

import httpx
import pytest

from planner import BadInput, Options, plan, read_plan, read_problem, write_plan
from planner.formats.documents import Source
from planner.formats.tables.plans import PLAN_FORMATS
from planner.formats.tables.problems import FORMATS
from tests.http.served import JSON, THREE, Served, refusal

MODEL = FORMATS["tflite"].document


def both(service: Served) -> dict[str, object]:
    return {"problem": THREE, "plan": service.plan(THREE).json()}


def write(service: Served, given: object, form: str) -> httpx.Response:
    return service.client.post("/v1/write", params={"as": form}, content=json.dumps(given), headers=JSON)


@pytest.mark.parametrize("name", [name for name, row in PLAN_FORMATS.items() if row.read_as is None])
def test_a_plan_is_written_in_every_form_as_the_library_writes_it(service: Served, name: str) -> None:
    given = both(service)
    answer = write(service, given, name)
    row = PLAN_FORMATS[name]
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, row.media_type)
    assert answer.headers["content-disposition"] == f'attachment; filename="plan{row.endings[0]}"'
    source = json.dumps(THREE).encode()
    assert answer.content == row.write(read_problem(source)[0], read_plan(json.dumps(given["plan"]).encode()), source)


@pytest.mark.parametrize("name", [name for name, row in PLAN_FORMATS.items() if row.read_as is not None])
def test_a_model_s_plan_is_written_into_the_model(service: Served, name: str) -> None:
    row = PLAN_FORMATS[name]
    problem = read_problem(MODEL, format=row.read_as)[0]
    found = plan(problem, Options(time_limit=5))
    files = {"problem": MODEL, "plan": write_plan(found)}
    answer = service.client.post("/v1/write", params={"as": name}, files=files)
    assert answer.content == row.write(problem, found, MODEL)


def test_how_to_plan_for_a_model_is_said(service: Served) -> None:
    files = {"problem": MODEL, "plan": write_plan(plan(read_problem(MODEL)[0], Options(time_limit=5)))}
    found = refusal(service.client.post("/v1/write", params={"as": "tflite"}, files=files))
    assert (found["status"], "format=tflite:like=tflm" in found["errors"][-1]["message"]) == (422, True)


@pytest.mark.parametrize("format_", [None, "memplan", "tflite"])
@pytest.mark.parametrize("name", [name for name, row in PLAN_FORMATS.items() if row.read_as is not None])
def test_what_is_no_model_is_told_so_as_by_the_command(service: Served, name: str, format_: str | None) -> None:
    row = PLAN_FORMATS[name]
    with pytest.raises(BadInput) as refused:
        row.require_source(Source(json.dumps(THREE).encode()))
    params = {"as": name, **({} if format_ is None else {"format": format_})}
    files = {"problem": json.dumps(THREE).encode(), "plan": service.plan(THREE).content}
    found = refusal(service.client.post("/v1/write", params=params, files=files))
    (told,) = refused.value.findings
    assert found["errors"] == [{"code": told.code.value, "pointer": "/problem", "message": told.message}]


def test_names_begin_as_wanted(service: Served) -> None:
    assert b"net_arena" in write(service, both(service), "c:prefix=net").content.lower()


def test_a_wrong_plan_is_not_written(service: Served) -> None:
    given = both(service)
    given["plan"]["placements"][1]["offset"] = 0  # type: ignore[index]
    found = refusal(write(service, given, "c"))
    assert (found["status"], found["errors"][0]["code"], found["errors"][0]["pointer"]) == (
        422,
        "invalid_value",
        "/plan",
    )


@pytest.mark.parametrize(
    "form",
    [
        "exe",
        "c:colour=red",
        "",
        "c:prefix=1",
        "c:prefix",
        "cpp:prefix=std",
        "c:prefix=a,prefix=b",
        "ld:prefix=a,prefix=a",
    ],
)
def test_unknown_forms_are_refused_with_those_that_are_known(service: Served, form: str) -> None:
    found = refusal(write(service, both(service), form))
    assert (found["status"], found["code"], found["errors"][0]["pointer"]) == (422, "invalid_option", "/options/as")


def test_a_form_for_plans_alone_is_refused_for_other_answers(service: Served) -> None:
    sharing = service.plan(THREE, "?objects=true").json()
    found = refusal(write(service, {"problem": THREE, "plan": sharing}, "c"))
    assert (found["status"], found["code"], found["errors"][0]["pointer"]) == (422, "invalid_option", "/options/as")
