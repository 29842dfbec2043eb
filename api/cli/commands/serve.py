"""`memplan serve`: the HTTP service, until it is told to stop."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import signal
from typing import Any

from ...settings import FILE_VARIABLE, Settings, WrongSettings, read_settings
from ..exit_codes import ExitCode
from ..terminal.standard_output import write_out
from ..terminal.text import say, visible


def run(settings_file: str | None, given: dict[str, Any]) -> ExitCode:
    """Serve. Options that were not given come from MEMPLAN_* variables, the settings file, and defaults."""
    if settings_file is not None:
        os.environ[FILE_VARIABLE] = settings_file  # so that worker processes and messages speak of the same file
    try:
        settings = read_settings(**{name: value for name, value in given.items() if value is not None})
        settings.require_safe_host()
        return _serve(settings)
    except WrongSettings as error:
        say(f"error: {visible(str(error))} [invalid_option]")
        return ExitCode.BAD_INPUT


def new_token(name: str) -> ExitCode:
    """Print a new token, and the setting that lets it in."""
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode("ascii")).hexdigest()
    write_out(f"token:   {token}\nsetting: MEMPLAN_TOKENS={visible(name)}={digest}\n".encode())
    return ExitCode.OK


def _serve(settings: Settings) -> ExitCode:
    import uvicorn

    from ...app import create_app
    from ...request_heads import impatient

    class Server(uvicorn.Server):
        """Says where it can be reached, once it can."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            for server in self.servers if self.started else ():
                for socket in server.sockets:
                    host, port = socket.getsockname()[:2]
                    shown = f"[{host}]" if ":" in host else host
                    say(f"memplan is served at http://{shown}:{port}")

    application = create_app(settings)
    config = uvicorn.Config(
        application,
        http=impatient(settings.body_seconds),
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
    )
    server = Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        # The server sends itself the signal that ended it once more when all is done; by then there is nothing left to end.
        signal.signal(number, _ignore)
    with contextlib.suppress(SystemExit):  # its way of saying that it could not start
        server.run()
    if application.wrong is not None:
        raise application.wrong
    return ExitCode.OK if server.started else ExitCode.BAD_INPUT


def _ignore(_number: int, _frame: Any) -> None:
    """A signal that has been heeded already."""
