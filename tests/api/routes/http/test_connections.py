"""Connections whose clients go away while they are answered."""

from __future__ import annotations

import asyncio
import socket
import struct
from unittest.mock import create_autospec

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from api.routes.http.connections import Lines

BEGUN = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
HEADERS = [(b"connection", b"close"), (b"content-length", b"2")]
AT_ONCE = struct.pack("ii", 1, 0)


def test_a_client_that_is_gone_when_its_answer_ends_is_no_fault() -> None:
    """The system tells so where the connection is closed for writing."""
    answered: list[Exception | None] = []

    async def answering() -> None:
        client = socket.socket()
        is_done = asyncio.Event()

        async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
            try:
                await send({"type": "http.response.start", "status": 413, "headers": HEADERS})
                await send({"type": "http.response.body", "body": b"no", "more_body": True})
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                client.close()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                answered.append(None)
            except OSError as error:
                answered.append(error)
            is_done.set()

        config = uvicorn.Config(application, lifespan="off", log_config=None)
        lines, state = Lines(9, 60.0, 60.0, 1 << 20), ServerState()
        server = await asyncio.get_running_loop().create_server(lambda: lines.new(config, state, {}), "127.0.0.1", 0)
        async with server:
            client.connect(server.sockets[0].getsockname())
            client.sendall(BEGUN)
            await is_done.wait()

    asyncio.run(answering())
    assert answered == [None]


@pytest.mark.parametrize("has_ended", [False, True])
def test_a_closing_connection_is_cut_off_unless_it_has_ended(has_ended: bool) -> None:
    """Cutting off what has ended is a fault in the log."""
    transport = create_autospec(asyncio.Transport, instance=True)
    transport.is_closing.return_value, transport.get_write_buffer_size.return_value = True, 1

    async def answer() -> None:
        config = uvicorn.Config(lambda *_: None, lifespan="off", log_config=None)
        line = Lines(9, 60.0, 0.0, 1 << 20).new(config, ServerState(), {})
        line.connection_made(transport)
        line.on_response_complete()
        if has_ended:
            line.connection_lost(None)
        await asyncio.sleep(0.01)

    asyncio.run(answer())
    assert transport.abort.called is not has_ended
