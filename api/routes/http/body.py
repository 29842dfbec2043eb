"""Request bodies: their types, and reading them within limits of memory and time."""

from __future__ import annotations

import asyncio
import re
import threading

from python_multipart.multipart import parse_options_header
from starlette.requests import ClientDisconnect, Request

from planner.formats.tables.format import BYTES, TEXT
from planner.formats.tables.problems import FORMATS, format_named
from planner.model.errors import BadInput

from ...errors import HttpCode, Refusal, bad_option, too_busy, too_large, unsupported
from ...jobs.requests.posted_problem import require_format
from ...process.memory_budget import Budget
from ...settings import Settings

LINES = "application/x-ndjson"
FORM = "multipart/form-data"
BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
"""The boundary between the parts of a form (RFC 2046)."""
PROBLEM_TYPES = (*dict.fromkeys(kind for row in FORMATS.values() for kind in row.media_types), BYTES, TEXT)
"""The media types of problems."""
BLANKS = re.compile(rb"\s*")
PIECE = 1 << 16
"""White space at a body's end is looked for in so many bytes at a time."""
LOOKED_BYTES = 1 << 18
"""Free memory is checked again after this many bytes."""


class Bodies:
    """The bytes of requests and answers in memory: read, in use, or waiting to be sent."""

    def __init__(self, most: int, budget: Budget) -> None:
        self._most = most
        self._budget = budget
        self._turn = threading.RLock()
        """A body may end in any thread, and while another one is counted."""
        self.held = 0
        self._unlooked = 0
        """Bytes taken since free memory was last checked: every request is checked on entry, and small ones need no more."""

    def take(self, size: int) -> None:
        """Count bytes. Raises Refusal if that is too many, or more than this process has room for."""
        with self._turn:
            if self.held + size > self._most:
                raise too_busy("too many large requests at a time; try again later")
            if self._unlooked + size > LOOKED_BYTES:
                self.require_room(size)
                self._unlooked = 0
            self._unlooked += size
            self.held += size

    def require_room(self, size: int = 0) -> None:
        """Raise Refusal if this process would exceed its memory limit."""
        if not self._budget.has_room(size):
            raise too_busy("the service has as much memory in use as it may; try again later")

    def give_back(self, size: int) -> None:
        with self._turn:
            self.held -= size


class Body(bytearray):
    """Bytes that count until nothing refers to them any more: a job's worker may need them for longer than its request lasts.

    They grow where they are: a copy of all of them would hold up everything else.
    """

    def __init__(self, bodies: Bodies) -> None:
        super().__init__()
        self._bodies = bodies

    def add(self, chunk: bytes | memoryview) -> None:
        """Append bytes. Raises Refusal if there is no room for them."""
        self._bodies.take(len(chunk))
        try:
            self.extend(chunk)
        except BaseException:
            self._bodies.give_back(len(chunk))
            raise

    def drop_blanks(self) -> None:
        """Remove the white space at both ends."""
        before = len(self)
        kept = bytearray()
        while self and not kept:
            last = self[-PIECE:]
            kept = last.rstrip()
            del self[len(self) - len(last) + len(kept) :]
        first = BLANKS.match(self)
        if first is not None:
            del self[: first.end()]
        self._bodies.give_back(before - len(self))

    def __del__(self) -> None:
        self._bodies.give_back(len(self))


async def read_body(request: Request, settings: Settings) -> Body:
    """Return the whole body. Raises Refusal."""
    body = Body(request.state.bodies)
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                body.add(chunk)
                if len(body) > settings.max_body_bytes:
                    raise too_large(f"the body is larger than {settings.max_body_bytes} bytes")
        return body
    except TimeoutError:
        raise too_slow(settings) from None
    except ClientDisconnect:
        raise went_away() from None


def too_slow(settings: Settings) -> Refusal:
    text = f"the body did not arrive within {settings.body_seconds:g} seconds"
    return Refusal(408, HttpCode.TOO_SLOW, text, headers={"Connection": "close"})


def went_away() -> Refusal:
    """Return the refusal of a request whose client is gone, which nobody receives."""
    return Refusal(400, HttpCode.TOO_SLOW, "the client went away before its request was complete")


def require_type(request: Request, *allowed: str) -> str:
    """Return the body's media type. Raises Refusal unless it is one of these, and not compressed."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        text = "bodies must be sent as they are, without Content-Encoding"
        raise Refusal(415, HttpCode.UNSUPPORTED_ENCODING, text, headers={"Connection": "close"})
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


def boundary_of(request: Request, kind: str) -> str | None:
    """Return the boundary of a form; None: the body is not a form. Raises Refusal."""
    if kind != FORM:
        return None
    _, options = parse_options_header(request.headers["content-type"])
    boundary = options.get(b"boundary", b"").decode("latin-1")
    if not BOUNDARY.fullmatch(boundary):
        raise Refusal(400, HttpCode.INVALID_HEADER, "the Content-Type of a form must say what its boundary is")
    return boundary


def format_of(kind: str, wanted: str | None, settings: Settings) -> str | None:
    """Return the format of a body; None: to be recognised. Raises Refusal."""
    if wanted is None:
        if kind == TEXT:
            raise unsupported(f"say which format it is: ?format= with one of {', '.join(FORMATS)}")
        return None
    try:
        row = format_named(wanted)
    except BadInput as error:
        raise bad_option("format", error.findings[0].message) from None
    require_format(row, kind, settings)
    return wanted
