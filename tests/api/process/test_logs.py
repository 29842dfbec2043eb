"""What is logged, and how often."""

from __future__ import annotations

import logging

from api.process.logs import OnceASecond


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
