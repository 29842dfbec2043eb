"""The parameters of all paths are known before a request asks for them."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
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
