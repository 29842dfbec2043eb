"""Takes over from dead workers, and finishes what they could not."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time

import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as Delivery
from procrastinate.jobs import Status
from procrastinate.manager import JobManager

from ...store import Store
from ...store.records import JobState
from ...store.sql.databases.deliveries import QUEUES, SOLVE
from ..attempt import MOST_DEATHS

LOOKS = 6
"""The number of looks at the queue while a silent worker may still be alive."""
PAUSE = 2
"""After this part of that time without an answer, living workers may not have been heard either."""

log = structlog.get_logger("memplan.worker")


class Sweeper:
    """Runs in every worker; what one has done already is no longer there for the others."""

    def __init__(self, manager: JobManager, store: Store, stalled_seconds: float) -> None:
        self._manager = manager
        self._store = store
        self._stalled = stalled_seconds
        self._over: frozenset[int] = frozenset()

    async def run(self) -> None:
        """Run until cancelled. After the database was gone, living workers get time to report before any is considered dead.

        It may have been gone without a failed request, if one waited until it was back.
        """
        since = heard = -math.inf
        """Since when it answers without a pause, and when it answered last."""
        while True:
            try:
                gone = await self._gone()
                now = time.monotonic()
                if now - heard > self._stalled / PAUSE:
                    since = now
                heard = now
                if now - since >= self._stalled:
                    await self._sweep(*gone)
                    heard = time.monotonic()
            except Exception as error:  # noqa: BLE001 - without this, jobs of the dead would be lost
                heard = -math.inf
                log.warning("the living workers are not known", reason=type(error.__cause__ or error).__name__)
            await asyncio.sleep(self._stalled / LOOKS)

    async def _gone(self) -> tuple[list[Delivery], list[Delivery]]:
        """Return the deliveries of silent workers, and of failed ones that were to stop, whose end could not be recorded nor redelivered."""
        manager, silent = self._manager, self._stalled
        stalled = await manager.get_stalled_jobs(task_name=SOLVE, seconds_since_heartbeat=silent)
        failed = await manager.list_jobs_async(task=SOLVE, status=Status.FAILED.value)
        return list(stalled), list(failed)

    async def _sweep(self, stalled: list[Delivery], failed: list[Delivery]) -> None:
        for delivery in (*stalled, *failed):
            await asyncio.to_thread(self._take_over, delivery)
        for delivery in stalled:
            await self._end(delivery)
        if failed:
            for queue in QUEUES:
                await self._manager.delete_old_jobs(0, queue, include_failed=True)
        await self._tidy()

    def _take_over(self, delivery: Delivery) -> None:
        job = self._store.job(id_of(delivery))
        if job is None or delivery.id is None or job.delivery != delivery.id:
            return
        if job.state is JobState.QUEUED:
            self._store.redeliver(job.id, delivery.id)
        elif job.state is JobState.RUNNING:
            why = f"nothing was heard of it for {self._stalled:g} seconds"
            after = self._store.died(job.id, job.attempt, why, MOST_DEATHS)
            if after is not None:
                log.warning("taken over from a worker that is gone", job=job.id, state=after.state, deaths=after.deaths)

    async def _tidy(self) -> None:
        """End deliveries that were already over at the last look: their workers could not."""
        over = {}
        for delivery in await self._manager.list_jobs_async(task=SOLVE, status=Status.DOING.value):
            job = await asyncio.to_thread(self._store.job, id_of(delivery))
            if delivery.id is not None and (job is None or job.state.is_final or job.delivery != delivery.id):
                over[delivery.id] = delivery
        for number in over.keys() & self._over:
            await self._end(over[number])
        self._over = frozenset(over.keys() - self._over)

    async def _end(self, delivery: Delivery) -> None:
        with contextlib.suppress(ConnectorException):  # another worker was faster
            await self._manager.finish_job(delivery, Status.FAILED, delete_job=True)


def id_of(delivery: Delivery) -> str:
    """Return the id of the delivered job."""
    return str(delivery.task_kwargs["id_"])
