"""Request bodies: what they may be, and reading them without ever holding more than is allowed, nor waiting for ever."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from planner.formats.table import BYTES, FORMATS, TEXT

from ..errors import HttpCode, Refusal, bad_option, too_large, unsupported
from ..jobs.posted_problem import require_format
from ..settings import Settings

LINES = "application/x-ndjson"
PROBLEM_TYPES = (*dict.fromkeys(kind for row in FORMATS.values() for kind in row.media_types), BYTES, TEXT)
"""As what a problem may be sent."""


class Bodies:
    """How many bytes of request bodies are in memory."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._all = 0

    def take(self, size: int) -> None:
        """Raises Refusal if that would be too many."""
        if self._all + size > self._most:
            text = "too many large requests at a time; try again later"
            headers = {"Retry-After": "5", "Connection": "close"}
            raise Refusal(503, HttpCode.TOO_BUSY, text, headers=headers)
        self._all += size

    def give_back(self, size: int) -> None:
        self._all -= size


class Share:
    """One request's part of it."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._mine = 0

    def take(self, size: int) -> None:
        self._bodies.take(size)
        self._mine += size

    def give_back(self) -> None:
        self._bodies.give_back(self._mine)
        self._mine = 0


async def read_body(request: Request, settings: Settings) -> bytes:
    """The whole body. Raises Refusal."""
    body = bytearray()
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                request.state.share.take(len(chunk))
                body += chunk
                if len(body) > settings.max_body_bytes:
                    raise too_large(f"the body is larger than {settings.max_body_bytes} bytes")
    except TimeoutError:
        text = f"the body did not arrive within {settings.body_seconds:g} seconds"
        raise Refusal(408, HttpCode.TOO_SLOW, text, headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise Refusal(400, HttpCode.TOO_SLOW, "the client went away before its request was complete") from None
    return bytes(body)


def require_type(request: Request, *allowed: str) -> str:
    """The body's media type. Raises Refusal unless it is one of these."""
    given = request.headers.get("content-type", "")
    kind, *parameters = (part.strip().lower() for part in given.split(";"))
    wanted = ", ".join(allowed)
    if kind not in allowed:
        raise unsupported(f"the Content-Type must be one of: {wanted}")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "charset" and value.strip('"') not in ("utf-8", "utf8", "us-ascii"):
            raise unsupported("the charset must be UTF-8")
    return kind


def format_of(kind: str, wanted: str | None, settings: Settings) -> str | None:
    """The format to read a body as; None: to be recognised. Raises Refusal."""
    if wanted is None:
        if kind == TEXT:
            raise unsupported(f"say which format it is: ?format= with one of {', '.join(FORMATS)}")
        return None
    if wanted not in FORMATS:
        raise bad_option("format", f"there is no such format; known are {', '.join(FORMATS)}")
    require_format(FORMATS[wanted], kind, settings)
    return wanted
