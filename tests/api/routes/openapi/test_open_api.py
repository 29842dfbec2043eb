"""The OpenAPI document has the right content, and the service keeps to it."""

from __future__ import annotations

import asyncio
import hashlib
import html
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.app import Application
from api.routes.pages import reference
from api.routes.pages.page import POLICY, File
from api.routes.pages.reference import rendered
from api.settings import Settings
from tests.running.forked import TOLD, usual_parent

ROOT = Path(__file__).resolve().parents[4]
MADE_UP = "tests/api/routes/openapi/made_up_requests.py"


def fetched(path: str, settings: Settings | None = None, headers: dict[str, str] | None = None) -> httpx.Response:
    """Return the answer for a path from a service that is not started."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=Application(settings or Settings()), client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http" + "://localhost") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


def document(settings: Settings | None = None, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the OpenAPI document as every client gets it."""
    found: dict[str, Any] = fetched("/openapi.json", settings, headers).json()
    return found


@pytest.mark.parametrize("path", ["/openapi.json", reference.PATH])
def test_the_description_is_written_once_for_all_requests(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """When the document was written for each request, 20 requests held up all others for 7 s."""
    written = []

    def of(data: bytes, kind: str) -> File:
        written.append(kind)
        return File.of(data, kind)

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=Application(Settings()), client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http" + "://localhost") as client:
            first = list(await asyncio.gather(*(client.get(path) for _ in range(5))))
            return [*first, await client.get(path, headers={"If-None-Match": first[0].headers["etag"]})]

    monkeypatch.setattr(reference, "File", SimpleNamespace(of=of))
    answers = asyncio.run(ask())
    assert [answer.status_code for answer in answers] == [200] * 5 + [304]
    assert len({answer.content for answer in answers[:5]}) == len(written) == 1


def test_every_answer_is_one_that_was_promised(nightly: bool) -> None:
    """By night each body is sent to each operation that takes it, otherwise to one of them."""
    command = ["pytest", "-q", "-p", "schemathesis.pytest.plugin", "-p", "no:cacheprovider", MADE_UP]
    command += ["--nightly"] * nightly
    forking = usual_parent()
    env = {**os.environ, TOLD: f"{forking.pid} {forking.path}"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert (found := re.search(r"(\d+) passed", done.stdout)), done.stdout
    assert int(found[1]) == len(operations(document()))


TOKEN = "ann's secret"
OPEN = {"Authorization": f"Bearer {TOKEN}"}
TOKENS = {"ann": hashlib.sha256(TOKEN.encode()).hexdigest()}


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(method, path, each) for path, methods in described["paths"].items() for method, each in methods.items()]


def test_every_body_has_a_schema_and_an_example() -> None:
    found = operations(document())
    assert len(found) > 20
    for method, path, operation in found:
        contents = [operation["requestBody"]["content"]] if "requestBody" in operation else []
        contents += [answer["content"] for answer in operation["responses"].values() if "content" in answer]
        assert contents, (method, path)
        for content in contents:
            for kind, each in content.items():
                assert each["schema"], (method, path, kind)
                assert ("example" in each) != ("examples" in each), (method, path, kind)


def test_the_documentation_names_every_path() -> None:
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    paths = document()["paths"]
    assert {"/v1/plans", "/v1/jobs/{id}/events", "/metrics"} <= set(paths)
    for path in paths:
        assert path in page, path


def test_the_document_names_the_server_and_whether_tokens_are_needed() -> None:
    described = document()
    assert [each["url"] for each in described["servers"]] == ["/"]
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "security" not in described
    assert not [path for _, path, operation in operations(described) if "security" in operation]


@pytest.mark.parametrize(("anonymous", "needed"), [(False, [{"token": []}]), (True, [{"token": []}, {}])])
def test_with_tokens_every_path_but_the_probes_needs_one(anonymous: bool, needed: list[object]) -> None:
    described = document(Settings(tokens=TOKENS, anonymous=anonymous), OPEN)
    assert described["security"] == needed
    free = {path for _, path, operation in operations(described) if operation.get("security") == []}
    assert free == {"/healthz", "/readyz"}


def test_the_page_names_everything_and_loads_nothing_from_elsewhere() -> None:
    described = document()
    page = rendered(described)
    for method, path, operation in operations(described):
        assert f">{method.upper()}</span> <code>{path}</code>" in page
        assert html.escape(operation["summary"]) in page
        for parameter in operation.get("parameters", []):
            assert f"<dt><code>{parameter['name']}</code>" in page
    for name in described["components"]["schemas"]:
        assert f'id="schema-{name}"' in page
    loaded = re.findall(r'<(?:link|img|script)[^>]*?(?:href|src)="([^"]*)"', page)
    assert loaded
    assert {address.partition("/web/")[0] for address in loaded} == {".."}
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", page)
    targets = re.findall(r'href="#([^"]+)"', page)
    places = re.findall(r'id="([^"]+)"', page)
    assert set(targets) <= set(places)
    assert len(places) == len(set(places))


def test_the_page_is_served_with_the_policy_of_pages() -> None:
    response = fetched("/docs/api")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert response.headers["content-security-policy"] == POLICY
    assert fetched("/docs/api", headers={"If-None-Match": response.headers["etag"]}).status_code == 304
    assert fetched("/web/reference.css").headers["content-type"] == "text/css; charset=utf-8"
    assert fetched("/docs/api", Settings(tokens=TOKENS)).status_code == 200
