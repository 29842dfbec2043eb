"""`memplan serve`, `worker` and `migrate`: the HTTP service, a worker for several services, and the tables of their shared store."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...settings import FILE_VARIABLE, Settings, WrongSettings, read_settings
from ..exit_codes import ExitCode
from ..terminal.standard_output import write_out
from ..terminal.text import is_terminal, say, visible

if TYPE_CHECKING:
    import uvicorn

    from ...app import Application

ACCEPTED_AT_ONCE = 16
"""Connections that the event loop accepts before it closes excess ones: in a rush, more would take every descriptor, and then none is accepted for a second."""
WAITING_LINES = 2048
"""Connections that the system lets wait for acceptance."""


def serve(settings_file: str | None, given: dict[str, Any]) -> ExitCode:
    """Run the HTTP service until told to stop."""

    def safely(settings: Settings) -> ExitCode:
        settings.require_safe_host()
        return _serve(settings)

    return _with_settings(settings_file, given, safely)


def work(settings_file: str | None, given: dict[str, Any]) -> ExitCode:
    """Carry out the jobs of services that share a store, until told to stop."""

    def until_stopped(settings: Settings) -> ExitCode:
        from ...worker_service import work

        asyncio.run(work(settings, _ready_to_work))
        return ExitCode.OK

    return _with_settings(settings_file, given, until_stopped)


def migrate(settings_file: str | None, given: dict[str, Any]) -> ExitCode:
    """Update the tables of a shared store before services and workers of a new version start: opening it once does that."""

    def open_once(settings: Settings) -> ExitCode:
        from ...store import StoreUnavailable
        from ...store.opening import open_store, why

        if settings.store_url is None:
            text = "store_url: which store? A service with a store of its own sees to that itself when it starts"
            raise WrongSettings(text)
        try:
            open_store(settings.store_url).close()
        except StoreUnavailable as error:
            raise WrongSettings(f"store_url: {why(error)}") from None
        say("the store's tables are up to date")
        return ExitCode.OK

    return _with_settings(settings_file, given, open_once)


def _with_settings(settings_file: str | None, given: dict[str, Any], act: Callable[[Settings], ExitCode]) -> ExitCode:
    """Act with the settings; missing options come from MEMPLAN_* variables, the settings file, and defaults."""
    if settings_file is not None:
        os.environ[FILE_VARIABLE] = settings_file  # so that worker processes and messages refer to the same file
    try:
        return act(read_settings(**{name: value for name, value in given.items() if value is not None}))
    except WrongSettings as error:
        say(f"error: {visible(str(error))} [invalid_option]")
        return ExitCode.BAD_INPUT


def new_token(name: str) -> ExitCode:
    """Print a new token, and the setting that admits it."""
    if not name.strip() or {",", "="} & {*name}:
        say("error: --new-token: a token's name is not empty, and has no comma and no equals sign [invalid_option]")
        return ExitCode.BAD_INPUT
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode("ascii")).hexdigest()
    write_out(f"token:   {token}\nsetting: MEMPLAN_TOKENS={visible(name)}={digest}\n".encode())
    return ExitCode.OK


def _serve(settings: Settings) -> ExitCode:
    import uvicorn

    from ...app import create_app

    class Server(uvicorn.Server):
        """Reports its address once it can be reached."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                listening.listen(WAITING_LINES)
            for server in self.servers if self.started else ():
                for taken in server.sockets:
                    host, port = taken.getsockname()[:2]
                    shown = f"[{host}]" if ":" in host else host
                    say(f"memplan is served at http://{shown}:{port}" + "   Ctrl-C ends it" * is_terminal(sys.stderr))

    application = create_app(settings)
    server = Server(server_config(application, settings))
    listening = listening_socket(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        # The server sends itself the signal that ended it once more when all is done; by then there is nothing left to end.
        signal.signal(number, _ignore)
    with listening, contextlib.suppress(SystemExit):  # its way of reporting that it could not start
        server.run(sockets=[listening])
    if application.wrong is not None:
        raise application.wrong
    return ExitCode.OK if server.started else ExitCode.BAD_INPUT


def server_config(application: Application, settings: Settings) -> uvicorn.Config:
    """Return how the server runs the application."""
    import uvicorn

    from ...routes.http.connections import Lines, lines_at_most

    lines = Lines(
        lines_at_most(settings.max_connections), settings.body_seconds, settings.send_seconds, settings.max_body_bytes
    )
    return uvicorn.Config(
        application,
        http=lines.new,  # type: ignore[arg-type]  # a class is made by calling it, and so is this
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.shutdown_seconds) or 1,
        timeout_keep_alive=30,
        backlog=ACCEPTED_AT_ONCE,
    )


def listening_socket(settings: Settings) -> socket.socket:
    """Return the socket, opened before anything is started. Raises WrongSettings if that fails."""
    host, port = settings.host, settings.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except OSError:
            made.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            text = f"port: {port} is in use already on {host}: end what uses it, or choose another one (--port; 0: any that is free)"
            raise WrongSettings(text) from None
        raise WrongSettings(f"host: {host}:{port} cannot be listened on: {error.strerror}") from None
    return made


def _ignore(_number: int, _frame: Any) -> None:
    """Ignore a signal that was already handled."""


def _ready_to_work(jobs: int, metrics_port: int | None) -> None:
    figures = "" if metrics_port is None else f"; metrics on port {metrics_port}"
    say(f"memplan worker is ready for {jobs} job{'s' if jobs > 1 else ''} at a time{figures}")
