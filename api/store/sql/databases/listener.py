"""Hears what any process announces about jobs, by PostgreSQL's LISTEN; reconnects when the connection was lost."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from .database import Told

CHANNEL = "memplan_jobs"
LOOK_SECONDS = 0.5
"""The delay until the end of listening is noticed."""
ALIVE_SECONDS = 10.0
"""After this long in silence the connection is tested."""

log = structlog.get_logger("memplan.store")


class Listener:
    """A thread with its own connection."""

    def __init__(self, conninfo: str, on_change: Told) -> None:
        self._conninfo = conninfo
        self._told = on_change
        self._closed = threading.Event()
        self._hears = True
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Notify nobody any more."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        import psycopg

        while not self._closed.is_set():
            try:
                self._listen()
            except psycopg.Error as error:
                if self._hears:
                    log.warning("nothing is heard of the store", reason=type(error).__name__)
                self._hears = False
                self._closed.wait(LOOK_SECONDS)

    def _listen(self) -> None:
        import psycopg

        with psycopg.connect(self._conninfo, autocommit=True) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._hears = True
            self._told(None)  # anything may have been missed
            heard = time.monotonic()
            while not self._closed.is_set():
                for notice in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                    self._told(notice.payload)
                    heard = time.monotonic()
                if time.monotonic() - heard > ALIVE_SECONDS:
                    connection.execute("SELECT 1")
                    heard = time.monotonic()
