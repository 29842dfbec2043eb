"""The waiting line decides which request is next at the processes that read problems."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from api.jobs.processes.waiting_line import WaitingLine


class Played:
    """A waiting line and a record of who has had a worker."""

    def __init__(self, workers: int, large: int) -> None:
        self._line = WaitingLine(workers, large)
        self.order: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, *, is_large: bool = False) -> None:
        """Join the line; the first letter of the name is the owner, so `a1` is a request of a."""
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._work(name, is_large=is_large))
        await asyncio.sleep(0)

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)

    async def _work(self, name: str, *, is_large: bool) -> None:
        async with self._line.turn(name[0], is_large=is_large):
            self.order.append(name)
            await self.ends[name].wait()


def played(script: Callable[[Played], Awaitable[None]], workers: int, large: int) -> list[str]:
    async def whole() -> list[str]:
        play = Played(workers, large)
        await script(play)
        return play.order

    return asyncio.run(whole())


def test_the_owner_with_the_fewest_tasks_at_work_is_next() -> None:
    async def script(play: Played) -> None:
        for name in ("a1", "a2", "a3", "b1", "c1"):
            await play.come(name)
        assert play.order == ["a1", "a2"]
        await play.end("a1")
        await play.end("b1")
        await play.end("a2")

    assert played(script, 2, 2) == ["a1", "a2", "b1", "c1", "a3"]


def test_large_tasks_leave_a_worker_to_small_ones() -> None:
    async def script(play: Played) -> None:
        for number in range(1, 4):
            await play.come(f"a{number}", is_large=True)
        await play.come("b1")
        await play.come("b2")
        assert play.order == ["a1", "b1"]
        await play.end("b1")
        await play.end("a1")

    assert played(script, 2, 1) == ["a1", "b1", "b2", "a2"]


def test_one_worker_takes_turns_and_small_tasks_first() -> None:
    async def script(play: Played) -> None:
        for number in range(1, 7):
            await play.come(f"a{number}", is_large=True)
        await play.come("b1", is_large=True)
        await play.come("a7")
        for name in ("a1", "b1", "a7"):
            await play.end(name)

    assert played(script, 1, 1) == ["a1", "b1", "a7", "a2"]


def test_a_client_that_leaves_frees_its_place() -> None:
    async def script(play: Played) -> None:
        await play.come("a1")
        await play.come("b1")
        await play.come("c1")
        play.tasks["b1"].cancel()
        play.tasks["a1"].cancel()
        await asyncio.gather(*(play.tasks[name] for name in ("a1", "b1")), return_exceptions=True)
        await asyncio.sleep(0)
        play.ends["c1"].set()
        await play.tasks["c1"]
        await play.come("a2")

    assert played(script, 1, 1) == ["a1", "c1", "a2"]


def test_who_leaves_as_another_ends_is_passed_over() -> None:
    async def script(play: Played) -> None:
        for name in ("a1", "a2", "a3"):
            await play.come(name)
        play.ends["a1"].set()
        play.tasks["a2"].cancel()
        await play.tasks["a1"]
        await play.end("a3")

    assert played(script, 1, 1) == ["a1", "a3"]
