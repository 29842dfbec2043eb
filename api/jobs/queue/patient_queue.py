"""The queue, which continues when its database is gone for a while: requests that are repeated soon anyway may fail.

Procrastinate's worker ends at the first failure of most requests, but not of all: after a failed sign of life it silently gives none any
more, so that it is considered dead while it works. Waiting for a connection must not delay signs of life either, so every wait is a part of
the time after which a silent worker is considered dead.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable

import structlog
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ...store.sql.databases.deliveries import LOOKING, QUEUES, SHORT_QUEUE
from ..attempt import AGAIN_SECONDS

CONNECTIONS = 6
WAIT_SECONDS = 5.0
"""The most time to wait for a connection."""
WAIT_SHARE = 3
"""The part, at most, of the time after which a silent worker is considered dead."""
RECONNECT_SECONDS = 2.0
"""The most time that the pool tries by itself, ever more rarely; then again at each request for a connection."""

log = structlog.get_logger("memplan.worker")


def pool(conninfo: str, stalled_seconds: float) -> AsyncConnectionPool:
    """Return connections to the queue. It is opened without waiting for the first one, since it would not retry while waiting."""
    patience = stalled_seconds / WAIT_SHARE
    return AsyncConnectionPool(
        conninfo,
        open=False,
        min_size=1,
        max_size=CONNECTIONS,
        timeout=min(WAIT_SECONDS, patience),
        reconnect_timeout=min(RECONNECT_SECONDS, patience),
        check=AsyncConnectionPool.check_connection,
    )


WOKEN = json.dumps({"type": "job_inserted", "job_id": 0})
"""What the queue's workers are told where something may have become theirs without being new."""


class PatientConnector(PsycopgConnector):
    """Listens again after a failure, and knows how much was heard."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = 0
        self._listeners: dict[Notify, None] = {}

    async def wake(self) -> None:
        """Have this process's workers of the queue look for jobs."""
        self.heard += 1
        for listener in tuple(self._listeners):
            await listener(channel="", payload=WOKEN)

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen until cancelled."""
        names = tuple(channels)

        async def on_news(*, channel: str, payload: str) -> None:
            self.heard += 1
            await on_notification(channel=channel, payload=payload)

        self._listeners[on_notification] = None
        try:
            while True:
                try:
                    await super().listen_notify(on_news, names)
                except ConnectorException as error:
                    log.debug("nothing is heard of the queue", reason=type(error.__cause__).__name__)
                    await asyncio.sleep(AGAIN_SECONDS)
        finally:
            del self._listeners[on_notification]


class PatientManager(JobManager):
    """Returns "nothing new" if the database is unreachable."""

    def __init__(self, connector: PatientConnector, has_room: Callable[[], bool]) -> None:
        """`has_room`: whether this process can carry out a long job whole, so that none need be looked at."""
        super().__init__(connector)
        self._connector = connector
        self._has_room = has_room

    async def update_heartbeat(self, worker_id: int) -> None:
        try:
            await super().update_heartbeat(worker_id)
        except ConnectorException as error:
            log.warning("the queue does not hear that this worker lives", reason=type(error.__cause__).__name__)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job. If that fails, others have ended it or will: the sweepers find it."""
        try:
            await super().finish_job(job, status, delete_job)
        except ConnectorException as error:
            log.warning("a delivery cannot be ended", delivery=job.id, reason=type(error.__cause__).__name__)

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        try:
            return await super().list_jobs_to_abort_async(queue)
        except ConnectorException:
            return ()

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Return the next job. Once the request is sent, a missing answer leaves it unknown who has the job: that is an error.

        What is heard in the meantime would be forgotten with the answer "nothing new", so it asks again.
        """
        while True:
            heard = self._connector.heard
            wanted = tuple(queues or QUEUES)
            if wanted == LOOKING and self._has_room():
                wanted = (SHORT_QUEUE,)
            try:
                job = await super().fetch_job(list(wanted), worker_id)
            except ConnectorException as error:
                if isinstance(error.__cause__, PoolTimeout):
                    return None
                raise
            if job is not None or heard == self._connector.heard:
                return job
