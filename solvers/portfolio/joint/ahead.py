"""Engines that begin before it is their turn, on a worker that would be idle. If those before them settle everything, that was in vain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import TypeAlias

from ...model.errors import StopReason
from ...model.instance import Instance
from ...model.outcome import Outcome
from ...model.solver import Task
from ..board import Board, Relay
from ..execute import Answer, ask
from ..roster import role_of

Answers: TypeAlias = dict[str, Callable[[], Answer]]
"""By engine: waits for its answer."""


@contextmanager
def working_ahead(names: Iterable[str], instance: Instance, task: Task, board: Board) -> Iterator[Answers]:
    """Within this context, those of these engines that can work ahead do so, each on its own thread, if there are several workers.

    Their answers would be the same later: they depend on the instance and on there being a placement. Those still at work at the end are stopped.
    """
    early = [name for name in names if role_of(name).works_ahead]
    if not early or task.start is None or task.limits.workers == 1:
        yield {}
        return
    from concurrent.futures import ThreadPoolExecutor  # most problems do not need it

    is_over, relay = Event(), Relay(board)
    relay.stopped = lambda: board.stopped() or (StopReason.CANCELLED if is_over.is_set() else None)
    with ThreadPoolExecutor(len(early)) as threads:
        try:
            yield {name: threads.submit(ask, name, instance, task, relay).result for name in early}
        finally:
            is_over.set()


def within(ahead: Callable[[], Answer] | None, work: int | None, later: Callable[[], Answer]) -> Callable[[], Answer]:
    """The answer that was worked out ahead; if it took more than this work, the engine is asked again, with this work."""

    def answer() -> Answer:
        found = None if ahead is None else ahead()
        is_too_much = work is not None and isinstance(found, Outcome) and found.work > work
        return later() if ahead is None or is_too_much else found

    return answer
