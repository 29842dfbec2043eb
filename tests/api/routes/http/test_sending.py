"""Answers that are sent as they come: when their clients learn that they have begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.types import Message

from api.routes.http.sending import Following, Stream


@pytest.mark.parametrize(("follows", "known"), [(True, ["http.response.start", "http.response.body"]), (False, [])])
def test_what_lasts_begins_before_there_is_anything_to_send(follows: bool, known: list[str]) -> None:
    """A client that comes back to a quiet stream would wait for a header until something happens."""
    sent: list[Message] = []
    seen: list[str] = []

    async def pieces() -> AsyncGenerator[bytes, None]:
        seen.extend(message["type"] for message in sent)
        yield b"something"

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def answer() -> None:
        service: Any = SimpleNamespace(close_stream=lambda _: None)
        made = Following(service, "me", pieces(), {}, "text/plain") if follows else Stream(pieces(), {}, "text/plain")
        await made(cast(Any, {"type": "http"}), receive, send)

    asyncio.run(answer())
    assert seen == known
    assert b"".join(message.get("body", b"") for message in sent) == b"something"
