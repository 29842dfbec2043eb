"""The parameters of all paths are known before a request asks for them."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.requests import Request

from api.errors import Refusal
from api.routes.http.parameters import begin_to_describe, known_only


async def take(some: int = 0) -> None:
    """Takes one."""


def test_no_request_waits_for_the_description() -> None:
    app = FastAPI()
    app.get("/v1/some")(take)
    route = next(each for each in app.routes if isinstance(each, APIRoute))

    def request(query: bytes) -> Request:
        return Request(
            {"type": "http", "method": "GET", "query_string": query, "route": route, "app": app, "headers": []}
        )

    async def ask() -> None:
        assert await begin_to_describe(app) == {"GET /v1/some": {"some": False}}
        app.openapi = lambda: pytest.fail("it was described already")  # type: ignore[method-assign]
        await known_only(request(b"some=1"))
        with pytest.raises(Refusal):
            await known_only(request(b"other=1"))

    asyncio.run(ask())


def test_routes_are_made_before_they_are_described_beside_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads cannot make them at once: the first request had an internal error."""
    router, app = APIRouter(), FastAPI()
    router.get("/v1/some")(take)
    app.include_router(router)
    made: list[object] = []
    monkeypatch.setattr(TypeAdapter, "__init__", lambda *_, **__: made.append(1))

    def described() -> dict[str, object]:
        made.append("described")
        return {"paths": {}}

    app.openapi = described  # type: ignore[method-assign]

    async def begin() -> None:
        await begin_to_describe(app)

    asyncio.run(begin())
    assert (made[0], made[-1]) == (1, "described")
