"""Checks every request before anything of it is read: origin, host, token, and size."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import re
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import HttpCode, Refusal, too_busy, too_large
from ...process.memory_budget import Budget
from ...process.metrics import Metrics
from ...settings import LOOPBACK_NAMES, Settings, is_loopback
from ...store.records import ANYBODY
from .body import Bodies
from .sending import Sender, answer, refusal_of

PROBES = ("/healthz", "/readyz")
OPEN_PATHS = (*PROBES, "/", "/docs")
"""For probes, which have no tokens, and for browsers, which have none until the page has asked for one."""
STREAMED = ("/v1/batches",)
"""Bodies that are read in pieces, so that their length does not matter."""
OPEN_FOLDERS = ("/web/", "/docs/")
"""The page's files, and the documentation."""
VERSIONS = ("1.0", "1.1")
PAGES_METHODS = ("GET", "HEAD", "POST", "DELETE")
PAGES_SEND = (
    "Authorization",
    "Cache-Control",
    "Content-Type",
    "Idempotency-Key",
    "If-None-Match",
    "Last-Event-ID",
    "Prefer",
)
PAGES_READ = ("Age", "ETag", "Location", "Preference-Applied", "Retry-After", "X-Cache")
"""What pages of allowed origins may do, send, and read."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/\s]*)(?::[0-9]{0,5})?")

log = structlog.get_logger("memplan.http")


class Guard:
    """Refuses inadmissible requests, counts and logs. The outermost layer."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self.bodies = Bodies(settings.max_bodies_bytes, Budget(settings.service_memory))
        self._hosts = frozenset(
            name.lower() for name in (*LOOPBACK_NAMES, settings.host, f"[{settings.host}]", *settings.allowed_hosts)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = with_plain_target(scope)
        begun = time.perf_counter()
        sender = Sender(scope, receive, send, self.bodies)
        try:
            state = scope.setdefault("state", {})
            state["bodies"] = self.bodies
            state["owner"] = self._admit(scope)
            if scope["method"] == "HEAD":
                await self._answer_head(scope, sender.receive, sender)
            else:
                await self._app(scope, sender.receive, sender)
        except Refusal as refusal:
            await answer(refusal)(scope, receive, sender)
        except MemoryError as error:
            if sender.status:
                raise
            await answer(refusal_of(error))(scope, receive, sender)
        except Exception as error:
            log.exception("fault while answering", path=scope["path"][:200], method=scope["method"][:20])
            if sender.status:
                raise  # half an answer is sent; only the connection can be ended
            await answer(refusal_of(error))(scope, receive, sender)
        except asyncio.CancelledError:
            if sender.status:
                raise
            text = "the service is stopping, and waits no longer for the rest of the request"
            await answer(Refusal(503, HttpCode.STOPPING, text))(scope, receive, sender)
        finally:
            sender.close()
            self._note(scope, sender.status, time.perf_counter() - begun)

    async def _answer_head(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head of GET's answer. Some bodies have no end, so none is awaited."""
        begun = asyncio.Event()

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start" and not begun.is_set():
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                begun.set()

        work = asyncio.ensure_future(self._app({**scope, "method": "GET"}, receive, send_head))
        waits = asyncio.ensure_future(begun.wait())
        try:
            await asyncio.wait({work, waits}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waits.cancel()
            if begun.is_set():
                work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work

    def _admit(self, scope: Scope) -> str:
        """Return the owner of what the request makes. Raises Refusal."""
        if scope["http_version"] not in VERSIONS:
            text = f"HTTP/{scope['http_version'][:20]} is not spoken here, but HTTP/1.1"
            raise Refusal(505, HttpCode.MALFORMED_REQUEST, text, headers={"Connection": "close"})
        headers, path = Headers(scope=scope), own_path(scope)
        if path not in PROBES:
            if scope["state"].get("is_extra"):
                raise too_busy("too many connections are open; try again later")
            self.bodies.require_room()
        if "transfer-encoding" in headers and "content-length" in headers:
            text = "a body has a Content-Length or comes in chunks, not both"
            raise Refusal(400, HttpCode.INVALID_HEADER, text, headers={"Connection": "close"})
        if not self._settings.is_open and not _is_of_this_machine(scope.get("server")):
            text = "without tokens this service is for its own machine alone"
            raise Refusal(403, HttpCode.NOT_LOOPBACK, text)
        host = headers.get("host", "")
        if "*" not in self._hosts and host_name(host) not in self._hosts:
            raise Refusal(
                403, HttpCode.FORBIDDEN_HOST, "requests may not be addressed to this host name (allowed_hosts)"
            )
        if scope["method"] not in SAFE_METHODS:
            self._require_own_page(headers, host)
            self._require_length(headers, is_streamed=path in STREAMED)
        is_for_all = path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)
        return ANYBODY if is_for_all else self._owner(headers)

    def _require_own_page(self, headers: Headers, host: str) -> None:
        """Check the page that sends, as named by browsers; programs name none."""
        origin = headers.get("origin")
        if origin is None:
            if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
                return
        elif origin in self._settings.allowed_origins or (origin != "null" and urlsplit_host(origin) == host.lower()):
            return
        raise Refusal(403, HttpCode.FORBIDDEN_ORIGIN, "pages of other origins may not send this (allowed_origins)")

    def _require_length(self, headers: Headers, *, is_streamed: bool) -> None:
        """Raise Refusal for bodies with too great a length."""
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            text = "the Content-Length is no number"
            raise Refusal(400, HttpCode.INVALID_HEADER, text, headers={"Connection": "close"})
        if len(length) > 18 or (int(length) > self._settings.max_body_bytes and not is_streamed):
            raise too_large(f"the body is larger than {self._settings.max_body_bytes} bytes")

    def _owner(self, headers: Headers) -> str:
        """Return the token's name. Every token is compared, so that the time taken reveals nothing."""
        if not self._settings.tokens:
            return ANYBODY
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = hashlib.sha256(token.strip().encode("latin-1", "replace")).hexdigest()
        found = None
        for name, digest in self._settings.tokens.items():
            if hmac.compare_digest(given, digest):
                found = name
        if found is None or scheme.lower() != "bearer":
            if self._settings.anonymous and "authorization" not in headers:
                return ANYBODY
            text = "a valid token is needed: Authorization: Bearer TOKEN"
            raise Refusal(
                401, HttpCode.UNAUTHORISED, text, headers={"WWW-Authenticate": "Bearer", "Connection": "close"}
            )
        return found

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in (*SAFE_METHODS, "POST", "PUT", "PATCH", "DELETE") else "other"
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        log.info(
            "request",
            method=scope["method"][:20],
            path=scope["path"][:200],
            status=status,
            milliseconds=round(seconds * 1000, 1),
            owner=scope["state"].get("owner"),
        )


def _is_of_this_machine(server: Sequence[object] | None) -> bool:
    """True if what a request came in on is open to this machine alone: a loopback address, a Unix socket (which has no port), or nothing."""
    return not server or server[1] is None or is_loopback(str(server[0]))


def own_path(scope: Scope) -> str:
    """Return the path below the folder in which a proxy serves this (`uvicorn --root-path`), as routes are found by it."""
    path: str = scope["path"]
    folder: str = scope.get("root_path", "")
    return path.removeprefix(folder) if path.startswith(f"{folder}/") else path


def host_name(host: str) -> str:
    """Return the Host header without its port; empty if invalid."""
    found = HOST.fullmatch(host.lower())
    return "" if found is None else found[1].removesuffix(".")


def with_plain_target(scope: Scope) -> Scope:
    """Treat a request for `http://host/path`, as proxies send, as one for `/path` of that host, whatever the Host header says."""
    target: str = scope["path"]
    scheme, separator, rest = target.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return scope
    host, _, path = rest.partition("/")
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    headers.append((b"host", host.encode("latin-1", "replace")))
    return {**scope, "path": f"/{path}", "raw_path": f"/{path}".encode("latin-1", "replace"), "headers": headers}


def urlsplit_host(origin: str) -> str | None:
    """Return host and port of an origin, as in a Host header; None if it is invalid."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


class Origins(CORSMiddleware):
    """Lets pages of these origins send what this service takes, and read its answers."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        super().__init__(app, origins, PAGES_METHODS, PAGES_SEND, expose_headers=PAGES_READ, max_age=600)

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        named = bytes(response.body).decode().removeprefix("Disallowed CORS ")
        text = f"pages may not send this from there (allowed_origins); refused: {named}"
        kept = {name: response.headers[name] for name in response.headers if not name.startswith("content-")}
        return answer(Refusal(response.status_code, HttpCode.FORBIDDEN_ORIGIN, text, headers=kept))
