"""The service's log: one event per line on stderr, as JSON for programs or as text for people."""

from __future__ import annotations

import logging
import math
import os
import sys
import textwrap
import threading
from typing import Any, Literal

import structlog

from planner.checks.report import printable

from .unhurried import Unhurried

REMEMBERED = 1000
UNSAID = ("timestamp", "logger")
"""Not shown to people unchanged."""
USUAL = (("level", "info"), ("owner", "anonymous"))


def configure(log_format: Literal["auto", "json", "text"], level: str) -> None:
    """Send everything logged in this process, including by libraries, to stderr in one form."""
    if log_format == "auto":
        log_format = "text" if sys.stderr.isatty() else "json"
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: structlog.types.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=True) if log_format == "json" else for_people
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(Unhurried(sys.stderr))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    handler.addFilter(OnceASecond())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "alembic"):
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = name != "uvicorn.access"  # the service logs requests itself
    quiet = ["alembic", "procrastinate"] if log_format == "json" else ["alembic", "procrastinate", "uvicorn.error"]
    for name in quiet:
        logging.getLogger(name).setLevel(logging.WARNING)


def for_people(_logger: object, _method: str, event: structlog.types.EventDict) -> str:
    """Return `16:59:36 request method=GET path=/healthz status=200 milliseconds=0.9`, without obvious fields, broken between words on terminals."""
    moment = str(event.get("timestamp", ""))[11:19]
    shown = {key: value for key, value in event.items() if key not in UNSAID and (key, value) not in USUAL}
    render = structlog.processors.LogfmtRenderer(key_order=["event"], bool_as_flag=False)
    line = printable(f"{moment} {str(render(None, '', shown)).removeprefix('event=')}")  # a path could move the cursor
    if not sys.stderr.isatty():
        return line
    width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


class OnceASecond(logging.Filter):
    """Logs repeated failures of one kind once a second, with the number of suppressed ones."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[object, tuple[float, int]] = {}
        """The time of the last message, and the number suppressed since."""
        self._turn = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        message: Any = record.msg
        rest = (
            {name: value for name, value in message.items() if name != "timestamp"}
            if isinstance(message, dict)
            else None
        )
        what = (record.name, record.getMessage() if rest is None else repr(rest))
        with self._turn:
            when, unsaid = self._said.pop(what, (-math.inf, 0))
            is_due = record.created - when >= 1
            self._said[what] = (record.created, 0) if is_due else (when, unsaid + 1)
            if len(self._said) > REMEMBERED:
                del self._said[next(iter(self._said))]
        if is_due and unsaid:
            if rest is None:
                record.msg, record.args = f"{record.getMessage()} (and {unsaid} times before)", ()
            else:
                record.msg = {**rest, "timestamp": message.get("timestamp"), "times_before": unsaid}
        return is_due
