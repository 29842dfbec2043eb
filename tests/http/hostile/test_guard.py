"""Whether a request passes the guard depends on the address it came in on, the host it names, origin and token."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from api.process.metrics import Metrics
from api.routes.http.guard import PAGES_SEND, Guard, Origins
from api.settings import Settings


def answer_to(settings: Settings, address: str, host: str | None = None, **headers: str) -> tuple[int, str]:
    """Return the status and the text, or a refusal's code, for a request that comes in on this address."""

    async def ask() -> httpx.Response:
        guard = Guard(PlainTextResponse("in"), settings, Metrics())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=guard)) as client:
            named = {} if host is None else {"Host": host}
            return await client.post("http" + f"://{address}:8080/x", headers={**named, **headers})

    response = asyncio.run(ask())
    return response.status_code, response.text if response.status_code == 200 else response.json()["code"]


OPEN = Settings(anonymous=True)


@pytest.mark.parametrize("address", ["192.0.2.1", "10.1.2.3", "[2001:db8::1]", "service.example"])
def test_without_tokens_only_loopback_is_served_on_any_address(address: str) -> None:
    assert answer_to(Settings(allowed_hosts=("*",)), address) == (403, "not_loopback")
    assert answer_to(Settings(anonymous=True, allowed_hosts=("*",)), address) == (200, "in")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "[::1]"])
def test_loopback_is_always_served(address: str) -> None:
    assert answer_to(Settings(), address, "localhost") == (200, "in")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/x/healthz", 200),
        ("/x/", 200),
        ("/x/web/page.css", 200),
        ("/x/v1/plans", 401),
        ("/x", 401),
        ("/xhealthz", 401),
        ("/y/healthz", 401),
        ("/x/x/healthz", 401),
    ],
)
def test_below_a_folder_the_same_paths_need_no_token(path: str, status: int) -> None:
    guard = Guard(PlainTextResponse("in"), Settings(tokens={"me": "0" * 64}), Metrics())

    async def ask() -> int:
        transport = httpx.ASGITransport(app=guard, root_path="/x")
        async with httpx.AsyncClient(transport=transport) as client:
            return (await client.get("http" + f"://localhost{path}")).status_code

    assert asyncio.run(ask()) == status


@pytest.mark.parametrize(("host", "status"), [("localhost", 200), ("service.example", 403)])
def test_so_is_a_unix_socket(host: str, status: int) -> None:
    guard = Guard(PlainTextResponse("in"), Settings(), Metrics())

    async def on_socket(scope: Scope, receive: Receive, send: Send) -> None:
        await guard({**scope, "server": ("/run/memplan.sock", None), "client": None}, receive, send)

    async def ask() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=on_socket)) as client:
            return (await client.post("http" + f"://{host}/x")).status_code

    assert asyncio.run(ask()) == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LocalHost.:99", 200),
        ("[::1]:1", 200),
        ("planner.example", 200),
        ("planner.example:8080", 200),
        ("planner.example.evil.example", 403),
        ("evil.example", 403),
        ("", 403),
        ("[::1", 403),
        ("[::1].evil", 403),
        ("localhost.", 200),
        ("localhost..", 403),
        ("[::1]evil", 403),
        ("localhost:evil", 403),
        ("localhost/evil", 403),
        ("localhost@evil.example", 403),
    ],
)
def test_requests_must_be_addressed_to_a_known_host(host: str, status: int) -> None:
    settings = Settings(anonymous=True, allowed_hosts=("planner.example",))
    assert answer_to(settings, "127.0.0.1", host)[0] == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http" + "://localhost", 200),
        ("https" + "://pages.example", 200),
        ("https" + "://pages.example:444", 403),
        ("http" + "://localhost:1", 403),
        ("http" + "://localhost.evil.example", 403),
        ("http" + "://[broken", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_pages_write_from_their_own_origin_or_an_allowed_one(origin: str, status: int) -> None:
    settings = Settings(anonymous=True, allowed_origins=("https" + "://pages.example",))
    assert answer_to(settings, "127.0.0.1", "localhost", Origin=origin)[0] == status


def test_a_wrong_token_is_refused_even_where_anonymous_is_allowed() -> None:
    settings = Settings(anonymous=True, tokens={"ann": "0" * 64})
    assert answer_to(settings, "127.0.0.1", "localhost") == (200, "in")
    assert answer_to(settings, "127.0.0.1", "localhost", Authorization="Bearer x") == (401, "unauthorised")


def test_a_body_has_a_length_or_chunks_but_not_both() -> None:
    both = {"Content-Length": "3", "Transfer-Encoding": "chunked"}
    assert answer_to(OPEN, "127.0.0.1", "localhost", **both) == (400, "invalid_header")


def test_pages_of_allowed_origins_may_send_the_documented_headers() -> None:
    document = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")
    table = document.partition("| header | |")[2].partition("\n\n")[0]
    documented = re.findall(
        r"`([A-Z][A-Za-z-]+)(?::[^`]*)?`", "\n".join(row.split("|")[1] for row in table.split("\n")[2:])
    )
    assert {"Cache-Control", "Prefer"} <= set(documented)
    assert set(documented) <= {*PAGES_SEND, "ETag"}


PAGES = "https" + "://pages.example"


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ({"Origin": "https" + "://evil.example"}, "origin"),
        ({"Access-Control-Request-Method": "PUT"}, "method"),
        ({"Access-Control-Request-Headers": "x-evil"}, "headers"),
        ({}, None),
    ],
)
def test_a_browser_that_asks_first_is_refused_as_everybody_is(wanted: dict[str, str], named: str | None) -> None:
    async def ask() -> httpx.Response:
        app = Origins(PlainTextResponse("in"), (PAGES,))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
            headers = {"Origin": PAGES, "Access-Control-Request-Method": "POST", **wanted}
            return await client.options("http" + "://localhost/x", headers=headers)

    response = asyncio.run(ask())
    if named is None:
        assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, PAGES)
    else:
        assert response.headers["content-type"] == "application/problem+json"
        assert (response.json()["code"], response.json()["detail"].rpartition(" ")[2]) == ("forbidden_origin", named)
