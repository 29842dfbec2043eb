"""The HTTP service: `memplan serve`, or `uvicorn api.app:app`."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import structlog
from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.model.versions import MEMPLAN

from .errors import HttpCode, Refusal
from .jobs.processes.pool import CalledOff, WorkerDied, WorkerFault
from .jobs.requests.options import wrong_options
from .process import logs
from .process.garbage import forget_frames
from .process.memory_budget import Shares, reader_processes, share_out, solver_processes
from .process.metrics import Metrics
from .routes import about, checks, draw, plans, studies, write
from .routes.http.guard import OPEN_PATHS, Guard, Origins
from .routes.http.parameters import begin_to_describe, known_only
from .routes.http.sending import answer, refusal_of
from .routes.openapi.examples import ERRORS
from .routes.openapi.shapes import components
from .routes.pages import page, reference, site
from .routes.plans import NotYet
from .routes.queued import batches, events, jobs
from .service import Service
from .settings import Settings, WrongSettings, read_settings
from .store import StoreUnavailable

SUMMARY = "Plans memory ahead of time: an address for every buffer, the smallest peak, and a proven lower bound."
BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token in the header `Authorization: Bearer TOKEN`, required if the service has tokens (`MEMPLAN_TOKENS`).",
}
log = structlog.get_logger("memplan.service")
PARTS = (plans, studies, jobs, events, batches, checks, draw, write, about, page, reference, site)
CODES = {404: HttpCode.NOT_FOUND, 405: HttpCode.METHOD_NOT_ALLOWED}


class Application:
    """The service as an ASGI application. If it cannot start, one sentence tells why."""

    def __init__(self, settings: Settings) -> None:
        settings.require_safe_host()
        self._shares = _shares_of(settings)
        settings = self._shares.applied(settings)
        metrics = Metrics()
        routed = _routed(settings, metrics, self.start)
        self._guarded: ASGIApp = Guard(routed, settings, metrics)
        if settings.allowed_origins:
            # Pages of these origins may also read refusals, so this is outside of the guard.
            self._guarded = Origins(self._guarded, settings.allowed_origins)
        self.wrong: WrongSettings | None = None
        """Why it could not start."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._guarded(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed" and self.wrong is not None:
                message = {**message, "message": str(self.wrong)}
            await send(message)

        try:
            await self._guarded(scope, receive, send_on)
        except WrongSettings:
            return  # already reported

    async def start(self, settings: Settings, metrics: Metrics) -> Service:
        """Build the service. Raises WrongSettings."""
        log.info("memory", **self._shares.in_mib())
        try:
            return await Service.start(settings, metrics, self._shares)
        except WrongSettings as error:
            self.wrong = error
            raise


def _shares_of(settings: Settings) -> Shares:
    """Return the memory shares of the service's own process and of the others. Raises WrongSettings."""
    from .store.opening import is_shared

    elsewhere = False
    with contextlib.suppress(StoreUnavailable):  # it is not opened here
        elsewhere = settings.store_url is not None and is_shared(settings.store_url)
    workers = 0 if elsewhere else solver_processes(settings)
    return share_out(settings, service=True, readers=reader_processes(settings), workers=workers)


def create_app(settings: Settings | None = None) -> Application:
    """Return the service with these settings, or with those of the process. Raises WrongSettings."""
    settings = settings or read_settings()
    logs.configure(settings.log_format, settings.log_level)
    return Application(settings)


def _routed(settings: Settings, metrics: Metrics, start: Callable[[Settings, Metrics], Awaitable[Service]]) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = await start(settings, metrics)
        app.state.service = service
        described = begin_to_describe(app)
        forget = _on_termination(service.begin_to_close_soon)
        try:
            yield
        finally:
            forget()
            await described
            await service.close()

    app = FastAPI(
        title="memplan",
        version=MEMPLAN,
        summary=SUMMARY,
        lifespan=lifespan,
        openapi_url=None,  # writing it anew for every request would hold up all others; ours is written once
        docs_url=None,  # their pages fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses=ERRORS,
    )
    for part in PARTS:
        app.include_router(part.router, dependencies=[Depends(known_only)])
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, _without_traceback(handler))
    app.add_exception_handler(Exception, _on_refusal)  # it is raised on, and logged with its traceback
    _describe(app, settings)
    return app


def _describe(app: FastAPI, settings: Settings) -> None:
    """Add to the OpenAPI document what FastAPI's Python types cannot express: the problem's schema, servers, and access."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        document["components"]["schemas"].update(components())
        document["components"]["securitySchemes"] = {"token": BEARER}
        document["servers"] = [{"url": "/", "description": "The service that this document comes from."}]
        if settings.tokens:
            document["security"] = [{"token": []}, *([{}] if settings.anonymous else [])]
            for path in set(OPEN_PATHS) & set(document["paths"]):
                for operation in document["paths"][path].values():
                    operation["security"] = []
        return document

    app.openapi = openapi  # type: ignore[method-assign]


Handler = Callable[[Request, Exception], Awaitable[Response]]


def _without_traceback(handler: Handler) -> Handler:
    """Drop a refusal's traceback: its frames refer back to it, and this cycle would keep the request's body until the next garbage collection."""

    async def handle(request: Request, error: Exception) -> Response:
        response = await handler(request, error)
        forget_frames(error)
        return response

    return handle


async def _on_refusal(_: Request, error: Exception) -> Response:
    return answer(refusal_of(error))


async def _on_not_yet(_: Request, error: Exception) -> Response:
    assert isinstance(error, NotYet)
    return error.response


def _allowed(scope: Scope) -> list[str]:
    """Return the methods of all routes with the request's path. The guard answers HEAD wherever there is GET."""
    routes = (route for part in PARTS for route in part.router.routes if isinstance(route, Route))
    methods = {name for route in routes if route.matches(scope)[0] is Match.PARTIAL for name in route.methods or ()}
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


async def _on_http(request: Request, error: Exception) -> Response:
    """Answer an unknown path or method."""
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, HttpCode.INVALID_HEADER)
    headers = dict(error.headers or {})
    if "Allow" in headers:  # of the path's first route only
        headers["Allow"] = ", ".join(_allowed(request.scope))
    return answer(Refusal(error.status_code, code, str(error.detail), headers=headers))


async def _on_invalid(_: Request, error: Exception) -> Response:
    """Answer an invalid option in the query."""
    assert isinstance(error, RequestValidationError | ValidationError)
    return answer(wrong_options(error.errors()))


HANDLERS: dict[type[Exception], Handler] = {
    NotYet: _on_not_yet,
    HTTPException: _on_http,
    RequestValidationError: _on_invalid,
    **dict.fromkeys((Refusal, MemoryError, StoreUnavailable, WorkerDied, CalledOff, WorkerFault), _on_refusal),
}


def _on_termination(then: Callable[[], None]) -> Callable[[], None]:
    """Call the function when the process is told to end, before other handlers; return a function that undoes this.

    The server waits for open requests before it ends the application, so long requests must learn of the end by themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    before: dict[signal.Signals, Any] = {}

    def on_signal(number: int, frame: Any) -> None:
        then()
        if callable(before[signal.Signals(number)]):
            before[signal.Signals(number)](number, frame)

    for each in (signal.SIGINT, signal.SIGTERM):
        before[each] = signal.signal(each, on_signal)

    def forget() -> None:
        for each, handler in before.items():
            if signal.getsignal(each) is on_signal:
                signal.signal(each, handler)

    return forget


_app: Application | None = None


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The application with the process's settings; made on the first call, so that importing this starts nothing."""
    global _app  # noqa: PLW0603
    if _app is None:
        _app = create_app()
    await _app(scope, receive, send)
