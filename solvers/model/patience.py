"""The patience of whoever called: loops over long lists that have no Control ask now and then whether they are still waited for.

They have nothing to show before they are through. Whoever has no patience any more raises an error of its own, which passes through all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

ASK_EVERY = 2048
"""Entries: some milliseconds."""

Item = TypeVar("Item")
Ask = Callable[[], None]

_ask: ContextVar[Ask | None] = ContextVar("patience", default=None)


@contextmanager
def patience(ask: Ask) -> Iterator[None]:
    """Within, `ask` is called every now and then, and raises when it has had enough."""
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)


def still_waited_for() -> None:
    """Asks."""
    ask = _ask.get()
    if ask is not None:
        ask()


def patiently(items: Collection[Item]) -> Iterable[Item]:
    """The items, asking every now and then."""
    ask = _ask.get()
    return items if ask is None or len(items) <= ASK_EVERY else _asking(items, ask)


def _asking(items: Collection[Item], ask: Ask) -> Iterator[Item]:
    each = iter(items)
    for _ in range(0, len(items), ASK_EVERY):
        ask()
        yield from islice(each, ASK_EVERY)
