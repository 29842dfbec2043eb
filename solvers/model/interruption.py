"""Interrupts loops over long lists in code without a Control: they regularly call a check of the caller's, which raises its own error to end them.

Such loops have no partial result, so nothing is lost. Callers that already have a result raise GivenUp.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

ASK_EVERY = 2048
"""Entries between two calls: some milliseconds."""


class GivenUp(Exception):
    """The current work is no longer worth its time: there is a better result."""


Item = TypeVar("Item")
Ask = Callable[[], None]

_ask: ContextVar[Ask | None] = ContextVar("interruption", default=None)


def give_up(stopped: Callable[[], object]) -> None:
    """Raises GivenUp if `stopped` returns true."""
    if stopped():
        raise GivenUp


@contextmanager
def interrupted_by(ask: Ask) -> Iterator[None]:
    """Within this context, `ask` is called regularly; it raises to end the work."""
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)


def check_interrupted() -> None:
    """Calls the check, if there is one."""
    ask = _ask.get()
    if ask is not None:
        ask()


def interruptible(items: Collection[Item]) -> Iterable[Item]:
    """The items, with regular calls of the check."""
    ask = _ask.get()
    return items if ask is None or len(items) <= ASK_EVERY else _asking(items, ask)


def _asking(items: Collection[Item], ask: Ask) -> Iterator[Item]:
    each = iter(items)
    for _ in range(0, len(items), ASK_EVERY):
        ask()
        yield from islice(each, ASK_EVERY)
