"""Bodies grow where they are, and count for as long as anything refers to them."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest
from starlette.requests import Request
from starlette.types import Message

from api.errors import Refusal
from api.process.garbage import forget_frames
from api.process.memory_budget import Budget
from api.routes.http.body import PIECE, Bodies, Body, read_body
from api.routes.queued.batch_intake import lines_of
from api.settings import Settings

MIB = 1 << 20
CHUNK = b"x" * (1 << 16)


def request(bodies: Bodies, chunks: list[bytes]) -> Request:
    """A request whose body arrives in these chunks."""
    left = chunks[::-1]

    async def receive() -> Message:
        chunk = left.pop()
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "state": {"bodies": bodies}}
    return Request(scope, receive)


def test_a_body_is_never_copied_whole() -> None:
    """Nothing else would run meanwhile, not even an answer about the service's health."""
    bodies = Bodies(64 * MIB, Budget(1 << 60))
    chunks = [CHUNK] * (16 * MIB // len(CHUNK))

    async def reading() -> None:
        body = await read_body(request(bodies, chunks), Settings())
        assert (len(body), bodies.held) == (16 * MIB, 16 * MIB)

    tracemalloc.start()
    try:
        asyncio.run(reading())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 24 * MIB
    assert not bodies.held


def test_nor_is_a_line_of_a_batch() -> None:
    bodies = Bodies(64 * MIB, Budget(1 << 60))
    chunks = [b" \t" * MIB, b"[", *[CHUNK] * (16 * MIB // len(CHUNK)), b"]", b" \r" * MIB, b"\n\n 7\n8"]

    async def sizes() -> list[int]:
        return [len(line) async for line in lines_of(request(bodies, chunks), Settings())]

    tracemalloc.start()
    try:
        assert asyncio.run(sizes()) == [16 * MIB + 2, 1, 1]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30 * MIB
    assert not bodies.held


@pytest.mark.parametrize("blanks", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
@pytest.mark.parametrize("kept", [b"", b"a", b"a \n b"])
def test_blanks_are_dropped_at_both_ends(kept: bytes, blanks: int) -> None:
    bodies = Bodies(MIB, Budget(1 << 60))
    body = Body(bodies)
    body.add(b" " * blanks + kept + b"\r" * blanks)
    body.drop_blanks()
    assert (bytes(body), bodies.held) == (kept, len(kept))


def test_a_refused_body_does_not_count_once_it_is_answered() -> None:
    bodies = Bodies(MIB, Budget(1 << 60))
    with pytest.raises(Refusal) as refused:
        asyncio.run(read_body(request(bodies, [CHUNK] * 17), Settings()))
    forget_frames(refused.value)
    assert not bodies.held


def test_bytes_that_do_not_come_in_do_not_count() -> None:
    """As when the process has no memory left for them."""
    bodies = Bodies(MIB, Budget(1 << 60))
    body = Body(bodies)
    body.add(b"one")
    with memoryview(body), pytest.raises(BufferError):
        body.add(b"more")
    assert bodies.held == len(body) == 3
