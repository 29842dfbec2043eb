"""The log: its lines, and how often each is written."""

from __future__ import annotations

import fcntl
import logging
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Iterator

import pytest
import structlog

from api.process.logs import OnceASecond, configure, for_people


def record(text: str, second: float, level: int = logging.ERROR) -> logging.LogRecord:
    made = logging.LogRecord("asyncio", level, __file__, 1, text, (), None)
    made.created = second
    return made


def test_repeated_messages_are_logged_once_a_second_with_their_count() -> None:
    once = OnceASecond()
    assert [once.filter(record("no descriptor", 5 + i / 10)) for i in range(10)] == [True] + [False] * 9
    assert once.filter(record("another", 5.5))
    again = record("no descriptor", 6.5)
    assert once.filter(again)
    assert again.getMessage() == "no descriptor (and 9 times before)"


def test_all_requests_are_logged() -> None:
    once = OnceASecond()
    assert all(once.filter(record("request", 5, logging.INFO)) for _ in range(3))


@pytest.fixture
def as_before() -> Iterator[None]:
    names = (None, "uvicorn", "uvicorn.error", "uvicorn.access", "alembic", "procrastinate")
    loggers = [logging.getLogger(name) for name in names]
    were = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, were, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("as_before")
def test_log_lines_for_people_begin_with_the_event(capsys: pytest.CaptureFixture[str]) -> None:
    configure("text", "info")
    structlog.get_logger("memplan.service").info("started", solvers=2)
    assert re.match(r"\d\d:\d\d:\d\d started solvers=2\b", capsys.readouterr().err)
    structlog.get_logger("memplan.http").info("request", path="\x1b[2J", owner="anonymous")
    output = capsys.readouterr().err
    assert "owner" not in output
    assert "logger" not in output
    assert "\x1b" not in output


def test_a_terminal_s_lines_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        words = {f"figure{i}": i for i in range(10)}
        lines = for_people(None, "", {"event": "memory", "timestamp": "2026-11-22T16:59:36.1Z", **words}).splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == f"16:59:36 memory {' '.join(f'{k}={v}' for k, v in words.items())}"
