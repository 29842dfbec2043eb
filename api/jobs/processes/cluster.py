"""A Dask cluster as a pool of worker processes: Dask assigns tasks and repeats lost ones; a process like ours does each.

So deadlines, memory limits and cancelling are enforced where the work is, by the same code as here. A task's progress is sent through the
scheduler, about once a second; its best plan is requested now and then, if not too long, and comes with its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import structlog

from planner.many.cluster import (
    REPEATS,
    connected,
    is_without_scheduler,
    lost_by,
    require_distributed,
    worth_sending,
)
from planner.model.errors import BadInput

from ...settings import Settings, WrongSettings
from .cluster_worker import Ending, best_there, do_there, stop_there
from .pool import Reply, Task, WorkerDied, WorkerLate, answer_in

LOOK_SECONDS = 1.0
"""The interval at which the scheduler is asked for the number of threads."""
CONNECT_SECONDS = 10.0
"""The time limit of one attempt to reach the scheduler; attempts are repeated."""
ANSWER_SECONDS = 15.0
"""A scheduler that is silent for this long is considered gone."""
TICK_SECONDS = 0.1
"""The delay until a cancel is passed on."""
STOP_SECONDS = 10.0
"""The time to wait for the answer of a task that was told to stop."""
PLANS_SECONDS = 5.0
"""The interval at which better plans are requested from tasks that have reported one."""
CLOSED = "closed"
NOBODY = "no scheduler answers"

log = structlog.get_logger("memplan.cluster")


@dataclass(eq=False, slots=True)
class _UnderWay:
    task: Task
    future: Any
    given_up: asyncio.Future[None]
    told_at: float | None = None
    """When it was told to stop."""
    news: dict[str, Any] | None = None
    """Progress that has not been passed on yet."""
    best: Reply | None = None
    """Its best plan, likewise."""
    number: int = 0
    """The number of the best plan requested last."""
    value: Any = None
    """The value of the last reported result."""
    has_better: bool = False
    """True if that is newer than the requested plan."""
    points: list[Any] = field(default_factory=list)
    """Those that were passed on, by this try or by a lost one."""
    passing: asyncio.Task[None] | None = None
    """Passes both on."""

    def pass_on(self) -> None:
        """Pass on what is new, soon; only the latest counts."""
        if self.passing is None or self.passing.done():
            self.passing = asyncio.create_task(self._pass_on(), name="news of a task")

    async def _pass_on(self) -> None:
        while (best := self.best) is not None or self.news is not None:
            news, self.best, self.news = self.news, None, None
            if best is not None:
                await asyncio.to_thread(self.task.on_message, self.new_of(best))
            if news is not None:
                await asyncio.to_thread(self.task.on_message, Reply(news))

    def new_of(self, best: Reply) -> Reply:
        """Return the best without the points that were passed on before."""
        if "points" not in best.header:
            return best
        new = [point for point in best.header["points"] if point not in self.points]
        self.points.extend(new)
        return Reply({**best.header, "points": new}, best.payload)


class ClusterPool:
    """Workers of a cluster that may come and go, as may its scheduler: interrupted work is sent again."""

    def __init__(self, where: str, settings: Settings) -> None:
        """Raises WrongSettings if nothing could communicate with a cluster."""
        try:
            require_distributed()
        except BadInput as error:
            raise WrongSettings(f"cluster: {error.findings[0].message}") from None
        self.on_room: Callable[[], None] = lambda: None
        """Called when there is more room than before."""
        self.name = "cluster"
        self.deaths = 0
        self.size = 0
        """The number of tasks worth sending at a time."""
        self.lost: str | None = NOBODY
        """None: a scheduler answers."""
        self._why: str | None = None
        """The reason for the service's log and `/readyz`."""
        self._where = where
        # secrets stay here, and this machine's memory does not count there
        there: dict[str, Any] = {"tokens": {}, "metrics_tokens": (), "store_url": None, "memory": None, "workers": None}
        self._settings = settings.model_copy(update=there).model_dump_json()
        self._client: Any = None
        self._is_there = asyncio.Event()
        self._topic, self._numbers = f"memplan-{uuid.uuid4().hex}", itertools.count(1)
        """The topic of tasks' reports, which begin with their tickets."""
        self._under_way: dict[str, _UnderWay] = {}
        self._busy = 0
        self._attending: list[asyncio.Task[None]] = []

    @property
    def busy(self) -> int:
        return self._busy

    async def start(self) -> None:
        """Begin to look for the scheduler, without waiting for it."""
        self._attending = [
            asyncio.create_task(self._attend(), name="cluster"),
            asyncio.create_task(self._call_off(), name="cluster cancels"),
            asyncio.create_task(self._ask_for_plans(), name="cluster's plans"),
        ]

    async def do(self, task: Task) -> Reply:
        """Do the task as soon as the cluster has room, however long that takes. Raises errors like a worker process."""
        self._busy += 1
        points: list[Any] = []
        try:
            while True:
                client = await self._reached(task)
                ending = await self._at(client, task, points)
                if ending is not None:
                    break
        finally:
            self._busy -= 1
        reply, best = ending
        if best is not None:
            await asyncio.to_thread(task.on_message, best)
        return self._end(reply)

    async def close(self) -> None:
        """Disconnect. Work in progress there ends."""
        for task in self._attending:
            task.cancel()
        await asyncio.gather(*self._attending, return_exceptions=True)
        self._why = CLOSED
        await self._leave(CLOSED)

    def _end(self, reply: Reply) -> Reply:
        match reply.header["kind"]:
            case "died" | "late":
                self.deaths += 1
                raise (WorkerLate if reply.header["kind"] == "late" else WorkerDied)(reply.header["why"])
            case _:
                return answer_in(reply)

    async def _reached(self, task: Task) -> Any:
        """Return the client, once there is one."""
        while not self._is_there.is_set():
            if task.cancelled.is_set():
                raise WorkerDied("it was called off while no cluster answered")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._is_there.wait()
        return self._client

    async def _at(self, client: Any, task: Task, points: list[Any]) -> Ending | None:
        """Return how the task ended; None if the scheduler was lost with it."""
        ticket = f"{self._topic}-{next(self._numbers)}"
        arguments = (ticket, dict(task.header), list(task.parts), task.seconds, self._settings)
        future = client.submit(do_there, *arguments, key=ticket, pure=False, retries=REPEATS)
        this = _UnderWay(task, future, asyncio.get_running_loop().create_future(), points=points)
        self._under_way[ticket] = this
        result = asyncio.ensure_future(_ending(future))
        try:
            await asyncio.wait((result, this.given_up), return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                return Reply({"kind": "died", "why": "it was called off before it had begun"}), None
            ended: Ending | None = result.result()
        finally:
            del self._under_way[ticket]
            if this.passing is not None:  # what is passed on after its end would count as progress
                await asyncio.wait((this.passing,))
            result.cancel()
            this.given_up.cancel()
            future.release()
        return ended if ended is None or ended[1] is None else (ended[0], this.new_of(ended[1]))

    async def _attend(self) -> None:
        """Track whether the scheduler is there, and the number of threads."""
        while True:
            if self._client is not None and self._client.status != "running":
                await self._leave("the scheduler is gone")
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    if self._client is None:
                        self._client = await connected(self._where, CONNECT_SECONDS)
                        self._client.subscribe_topic(self._topic, self._heard)
                    threads = await self._client.nthreads()
            except Exception as error:  # noqa: BLE001 - whatever a scheduler that is gone makes of a question
                await self._leave(_reason(error))
            else:
                self._has(sum(threads.values()))
            await asyncio.sleep(LOOK_SECONDS)

    def _has(self, threads: int) -> None:
        if self.lost is not None:
            log.info("cluster reached", threads=threads)
        self.lost = self._why = None
        self._is_there.set()
        before, self.size = self.size, worth_sending(threads)
        if self.size > before:
            self.on_room()

    async def _leave(self, why: str) -> None:
        if self._why != why:
            log.warning("no cluster", reason=why)
        client, self._client = self._client, None
        self.lost, self._why, self.size = NOBODY, why, 0
        self._is_there.clear()
        if client is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await client.close()

    def _heard(self, event: tuple[float, Any]) -> None:
        """Record a task's progress; only the latest counts if it comes more often than it is passed on."""
        ticket, news = event[1]
        this = self._under_way.get(ticket)
        if this is not None:
            this.has_better |= news["best"] != this.value
            this.news, this.value = news, news["best"]
            this.pass_on()

    async def _ask_for_plans(self) -> None:
        """Request the best plans, so that they are here before their tasks end."""
        while True:
            await asyncio.sleep(PLANS_SECONDS)
            improved = {ticket: each for ticket, each in self._under_way.items() if each.has_better}
            if not improved or self._client is None:
                continue
            known = {ticket: each.number for ticket, each in improved.items()}
            for answer in await self._all_say(best_there, known):
                for ticket, (number, best) in answer.items():
                    if ticket in self._under_way:
                        this = improved[ticket]
                        this.number, this.best, this.has_better = number, best, False
                        this.pass_on()

    async def _all_say(self, question: Callable[[Any], Any], about: object) -> list[Any]:
        """Return the workers' answers; lost workers have nobody to answer to."""
        try:
            async with asyncio.timeout(STOP_SECONDS):
                return list((await self._client.run(question, about, on_error="ignore")).values())
        except Exception:  # noqa: BLE001 - whatever a scheduler that is gone makes of a question
            return []

    async def _call_off(self) -> None:
        """Pass on that tasks are to stop: wherever they are, they answer with the best they have."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.monotonic()
            new = {ticket: each for ticket, each in self._under_way.items() if each.told_at is None}
            new = {ticket: each for ticket, each in new.items() if each.task.cancelled.is_set()}
            for each in new.values():
                each.told_at = now
            answers = await self._all_say(stop_there, list(new)) if new else []
            begun = {ticket for answer in answers for ticket in answer}
            for ticket, each in list(self._under_way.items()):
                is_late = each.told_at is not None and now - each.told_at > STOP_SECONDS
                if (is_late or (ticket in new and ticket not in begun)) and not each.given_up.done():
                    each.given_up.set_result(None)


async def _ending(future: Any) -> Ending | None:
    """Wait for the future."""
    try:
        found: Ending = await future.result()
    except Exception as error:  # noqa: BLE001 - whatever became of the workers that had it
        if is_without_scheduler(future, error):
            return None
        return Reply({"kind": "died", "why": lost_by(error)}), None
    return found


def _reason(error: Exception) -> str:
    if isinstance(error, BadInput):
        return error.findings[0].message
    return "the scheduler does not answer" if isinstance(error, TimeoutError) else lost_by(error)
