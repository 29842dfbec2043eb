"""Interrupting loops over long lists that have no Control: now and then they call a check of the caller's, which raises an error of its own to end them.

They have nothing to show before they are through, so nothing is lost. Where others have something to show already, GivenUp is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

ASK_EVERY = 2048
"""Entries: some milliseconds."""


class GivenUp(Exception):
    """The current work is no longer worth its time: there is a better result."""


Item = TypeVar("Item")
Ask = Callable[[], None]

_ask: ContextVar[Ask | None] = ContextVar("interruption", default=None)


def give_up(stopped: Callable[[], object]) -> None:
    """Raises GivenUp if all is to end."""
    if stopped():
        raise GivenUp


@contextmanager
def interrupted_by(ask: Ask) -> Iterator[None]:
    """Within, `ask` is called every now and then, and raises where all is to end."""
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)


def check_interrupted() -> None:
    """Ask the caller."""
    ask = _ask.get()
    if ask is not None:
        ask()


def interruptible(items: Collection[Item]) -> Iterable[Item]:
    """The items, asking every now and then."""
    ask = _ask.get()
    return items if ask is None or len(items) <= ASK_EVERY else _asking(items, ask)


def _asking(items: Collection[Item], ask: Ask) -> Iterator[Item]:
    each = iter(items)
    for _ in range(0, len(items), ASK_EVERY):
        ask()
        yield from islice(each, ASK_EVERY)
