"""What is logged, and how often."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from api.process.logs import OnceASecond, configure


def record(text: str, second: float, level: int = logging.ERROR) -> logging.LogRecord:
    made = logging.LogRecord("asyncio", level, __file__, 1, text, (), None)
    made.created = second
    return made


def test_what_repeats_is_said_once_a_second_with_how_often_it_was_not_said() -> None:
    once = OnceASecond()
    assert [once.filter(record("no descriptor", 5 + i / 10)) for i in range(10)] == [True] + [False] * 9
    assert once.filter(record("another", 5.5))
    again = record("no descriptor", 6.5)
    assert once.filter(again)
    assert again.getMessage() == "no descriptor (and 9 times before)"


def test_requests_are_all_said() -> None:
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
def test_people_read_first_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    configure("text", "info")
    structlog.get_logger("memplan.service").info("started", solvers=2)
    assert capsys.readouterr().err.startswith("event=started solvers=2 ")
