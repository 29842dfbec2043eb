"""A Dask cluster as a place to plan: files are read and written here, and planned there.

Dask assigns the work and repeats what was lost with its worker. On the worker a separate process plans, as on this machine, so that limits
of time and memory apply there too, and a solver harms no other.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from solvers.sandbox.companion import Companion

from ..checks.report import printable
from ..model.errors import BadInput, Code, Finding
from .places import SERVING, Place
from .worker import Lost, Make, Read, Reader, Unwritable, WasMade, WasRead, WasRefused, write_whole

CONNECT_SECONDS = "30s"
AHEAD = 2
"""Files in progress for each thread of the cluster, so that none waits for the transfer."""
LEAST_AHEAD = 8
"""The least number of files in progress, even with few workers: clusters that grow with the queue would otherwise never start."""
REPEATS = 3
"""Repetitions of work lost with its worker."""
FILES_OF_A_PLACE = 2
OTHER_FILES = 128
"""Other open files: the manifest, plans, the client's connections."""
MOST_SAID = 300
"""The most characters of Dask's message about a loss."""
SCHEDULER_LOST = Lost("the cluster's scheduler was lost", is_its_fault=False)
IDLE: deque[Companion] = deque()
"""On a worker: processes waiting for the next file."""


def require_distributed() -> None:
    """Raise BadInput if it is not installed."""
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        message = "a cluster needs Dask: pip install 'memplan[cluster]'"
        raise BadInput(Finding(Code.UNAVAILABLE, "/options/cluster", message))


def connect(where: str) -> Any:
    """Return a client of the scheduler there. Raises BadInput."""
    require_distributed()
    from distributed import Client

    try:
        return Client(**_known(where), timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise _nobody(where, error) from error


async def connected(where: str, seconds: float) -> Any:
    """Do the same on the running event loop, without blocking it while Dask is imported; Dask's log messages about a lost scheduler are suppressed."""
    client = (await asyncio.to_thread(import_module, "distributed")).Client
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return await client(**_known(where), timeout=seconds, set_as_default=False, asynchronous=True)
    except (OSError, ValueError) as error:
        raise _nobody(where, error) from error


def _known(where: str) -> dict[str, str]:
    return {"scheduler_file": where} if Path(where).is_file() else {"address": where}


def _nobody(where: str, error: Exception) -> BadInput:
    return BadInput(Finding(Code.UNAVAILABLE, "/options/cluster", f"no scheduler answers at {where}: {error}"))


def require_there(client: Any) -> None:
    """Raise BadInput if the scheduler disappeared and did not come back in time."""
    if client.status in ("closing", "closed"):
        message = "the scheduler is gone, and did not come back in time; the same command goes on"
        raise BadInput(Finding(Code.UNAVAILABLE, "/options/cluster", message))


def close(client: Any) -> None:
    """Disconnect, even if the scheduler is gone."""
    with suppress(Exception):
        client.close()


def cancel(future: Any) -> None:
    """Cancel the task, unless its scheduler is gone."""
    with suppress(Exception):
        future.cancel()


def lost_by(error: Exception) -> str:
    """Describe the loss of the workers in a line; mention a missing or different memplan."""
    reason = printable(" ".join(str(error).split()))
    return f"the cluster lost it: {type(error).__name__}" + (f": {reason[:MOST_SAID]}" if reason else "")


def is_without_scheduler(future: Any, error: Exception) -> bool:
    """True if the scheduler was lost, not the worker. Finished results that cannot be fetched are lost too, and Dask may not know it yet."""
    return future.status == "cancelled" or (future.status != "error" and isinstance(error, OSError))


def threads(client: Any) -> int:
    """Return the threads of all workers together; 0 if the scheduler is gone."""
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    found: int = sum(worker["nthreads"] for worker in workers.values())
    return found


def worth_sending(threads: int) -> int:
    """Return how many files or jobs to send at a time to a cluster with this many threads."""
    return max(AHEAD * threads, LEAST_AHEAD)


def threads_here() -> int:
    """Return the threads of this worker."""
    from distributed import get_worker

    found: int = get_worker().state.nthreads
    return found


def room_for(places: int) -> int:
    """Return how many of the places this process can have open files for, after raising the limit as far as possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES_OF_A_PLACE * places + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return places
    return max(min(places, (soft - OTHER_FILES) // FILES_OF_A_PLACE), 1)


def wanted_there() -> Callable[[], bool]:
    """On a worker, within a task: True if somebody still waits for it, that is, it was not cancelled and its client exists."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # called without a cluster
        return lambda: True
    key = worker.get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return is_wanted


def tell_from_there(topic: str) -> Callable[[Any], None]:
    """On a worker: send a JSON value to the topic's listeners. The scheduler keeps the last thousand, so it must be short."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return lambda _: None
    return lambda message: worker.log_event(topic, message)


class Cluster:
    """A running cluster: `tcp://host:8786`, or its scheduler file."""

    def __init__(self, where: str, grace: float) -> None:
        self._client = connect(where)
        self._grace = grace

    def count(self) -> int:
        return room_for(worth_sending(threads(self._client)))

    def open(self) -> Place:
        return ClusterPlace(self._client, self._grace)

    def close(self) -> None:
        close(self._client)


class ClusterPlace:
    """A place for one file at a time, sent to the cluster and back."""

    def __init__(self, client: Any, grace: float) -> None:
        self._client, self._grace = client, grace
        self._reader = Reader()
        self._data = b""
        self._name = ""
        self._format: str | None = None
        self._out = Path()
        self._future: Any = None
        self._answers: deque[object] = deque()
        self._ready, self._wake = (
            socket.socketpair()
        )  # closed objects refuse; a closed number might be another file by then

    def fileno(self) -> int:
        return self._ready.fileno()

    def send(self, message: object) -> None:
        if isinstance(message, Read):
            self._read(message)
        else:
            assert isinstance(message, Make)
            assert message.out is not None
            self._out = Path(message.out)
            request = Make(message.options, None, message.start, known=message.known)
            # not named by content: a plan that ran out of time may be better next time
            require_there(self._client)
            self._future = self._client.submit(
                plan_there, self._data, self._name, self._format, request, self._grace, pure=False, retries=REPEATS
            )
            self._future.add_done_callback(self._done)

    def receive(self) -> Any:
        self._ready.recv(1)
        answer = self._answers.popleft()
        if isinstance(answer, Lost):
            require_there(self._client)
        return answer

    def end(self) -> int:
        if self._future is not None:
            cancel(self._future)
        for end in (self._ready, self._wake):
            end.close()
        return 0

    def _read(self, request: Read) -> None:
        try:
            self._data = Path(request.path).read_bytes()
        except OSError as error:
            reason = f"cannot be read: {(error.strerror or str(error)).lower()}"
            self._answer(WasRefused("", reason, is_no_problem=False))
            return
        self._name, self._format = request.path, request.format
        self._answer(self._reader.read(self._data, request.path, request.format))

    def _done(self, future: Any) -> None:
        """Called in a thread of the client."""
        if future.status == "cancelled":
            self._answer(SCHEDULER_LOST)
            return
        try:
            answer, plan = future.result()
        except Exception as error:  # noqa: BLE001 - whatever it was that became of the workers that had it
            self._answer(SCHEDULER_LOST if is_without_scheduler(future, error) else Lost(lost_by(error)))
            return
        if plan is not None:
            try:
                write_whole(self._out, plan)
            except OSError as error:
                answer = Unwritable.of(self._out, error)
        self._answer(answer)

    def _answer(self, answer: object) -> None:
        self._answers.append(answer)
        with suppress(OSError):  # nobody waits for it any more
            self._wake.send(b"!")


_lock = threading.Lock()


def plan_there(
    data: bytes, name: str, format_: str | None, request: Make, grace: float
) -> tuple[WasMade | WasRefused | Lost, bytes | None]:
    """On a worker: plan the file in a process that stays for the next one, and end the process if it is late."""
    with _lock:
        companion = IDLE.popleft() if IDLE else Companion(SERVING)
    wanted = wanted_there()
    try:
        companion.send(Read(name, format_, data))
        read = companion.receive_within(None, wanted)
        if isinstance(read, WasRefused):
            made: Any = read
        else:
            assert isinstance(read, WasRead)
            companion.send(request)
            limit = request.options.time_limit
            made = companion.receive_within(None if limit is None else limit + grace, wanted)
    except TimeoutError as late:
        companion.end()
        return Lost(str(late)), None
    except (EOFError, OSError):
        code = companion.end()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return Lost(f"the process that planned it ended {how}"), None
    with _lock:
        IDLE.append(companion)
    if isinstance(made, WasMade):
        return made.without_plan(), made.plan
    return made, None
