"""Every format can be sent over HTTP with its own content type, as plain text and as bytes; a wrong type is refused."""

from __future__ import annotations

import re

import httpx
import pytest

from planner.formats import FORMATS, Format
from tests.http.served import Served, refusal
from tests.planner.formats.models.onnx.models import graph, model, node, value

EVERY = pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)
KINDS = sorted({kind for row in FORMATS.values() for kind in row.media_types})


def sent(service: Served, row: Format, kind: str, query: str = "", path: str = "/v1/plans") -> httpx.Response:
    return service.client.post(path + query, content=row.document, headers={"Content-Type": kind})


@EVERY
def test_each_format_is_read_with_its_types(service: Served, row: Format) -> None:
    for kind in (*row.media_types, "application/octet-stream"):
        for query in ("", f"?format={row.name}"):
            assert sent(service, row, kind, query).json()["peak"] == 96


@pytest.mark.parametrize("row", [row for row in FORMATS.values() if row.is_text], ids=lambda row: row.name)
def test_plain_text_needs_a_named_format(service: Served, row: Format) -> None:
    assert sent(service, row, "text/plain", f"?format={row.name}").json()["peak"] == 96
    found = refusal(sent(service, row, "text/plain"))
    assert (found["status"], found["code"]) == (415, "unsupported_media_type")
    assert row.name in found["detail"]


@EVERY
@pytest.mark.parametrize("path", ["/v1/plans", "/v1/validate", "/v1/jobs"])
def test_a_contradictory_type_is_refused_with_and_without_a_named_format(
    service: Served, row: Format, path: str
) -> None:
    for kind in set(KINDS) - set(row.media_types):
        answers = [refusal(sent(service, row, kind, query, path)) for query in ("", f"?format={row.name}")]
        assert answers[0] == answers[1]
        assert (answers[0]["status"], answers[0]["code"]) == (415, "unsupported_media_type")
        assert row.name in answers[0]["detail"]


def test_formats_are_listed(service: Served) -> None:
    listed = service.client.get("/v1/formats").json()["formats"]
    assert [each["name"] for each in listed] == list(FORMATS)
    assert [tuple(each["endings"]) for each in listed] == [row.endings for row in FORMATS.values()]
    assert [each["name"] for each in listed if each["is_program"]] == ["graph", "tflite", "onnx"]


@EVERY
def test_a_job_gives_its_problem_back_unchanged(service: Served, row: Format) -> None:
    job = sent(service, row, row.media_types[0], path="/v1/jobs").json()
    answer = service.client.get(f"/v1/jobs/{job['id']}/problem")
    assert (answer.content, answer.headers["content-type"].partition(";")[0]) == (
        row.document,
        row.media_types[0],
    )


def test_settings_of_a_format_follow_its_name(service: Served) -> None:
    row = FORMATS["tflite"]
    for kind in row.media_types:
        plan = sent(service, row, kind, "?format=tflite:like=tflm").json()
        assert [placement["size"] for placement in plan["placements"]] == [64, 32]
        found = refusal(sent(service, row, kind, "?format=tflite:like=tfl"))
        assert (found["status"], found["code"]) == (422, "invalid_option")
        assert "like must be one of tflm" in found["detail"]
    job = sent(service, row, row.media_types[0], "?format=tflite:like=tflm", path="/v1/jobs").json()
    answer = service.client.get(f"/v1/jobs/{job['id']}/problem")
    assert (answer.content, answer.headers["content-type"].partition(";")[0]) == (row.document, row.media_types[0])


def test_dimensions_of_a_model_are_stated_in_the_query(service: Served) -> None:
    relu = graph([node("Relu", "x", "y")], [value("x", ["batch", 16])], [value("y", ["batch", 16])])

    def answer(query: str) -> httpx.Response:
        return service.client.post(
            f"/v1/plans?format=onnx{query}", content=model(relu), headers={"Content-Type": "application/onnx"}
        )

    assert answer(":dim=batch=4").json()["peak"] == 2 * 4 * 64
    assert answer(":dim=batch=1..8").json()["peak"] == 2 * 8 * 64
    found = refusal(answer(""))
    assert (found["status"], found["code"]) == (422, "missing_field")
    assert found["errors"][0]["pointer"] == "/graph/input/0"


@EVERY
def test_a_problem_and_its_plan_are_sent_as_files(service: Served, row: Format) -> None:
    plan = sent(service, row, row.media_types[0]).content
    files = {"problem": row.document, "plan": plan}
    for query in ("", f"?format={row.name}"):
        assert service.client.post(f"/v1/verify{query}", files=files).json()["valid"] is True
    assert service.client.post("/v1/draw?as=map", files=files).json()["peak"] == 96
    wrong = {**files, "plan": re.sub(b'"problem_digest": "[0-9a-f]+"', b'"problem_digest": "%s"' % (b"0" * 64), plan)}
    assert service.client.post("/v1/verify", files=wrong).json()["valid"] is False
