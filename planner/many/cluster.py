"""A Dask cluster as a place to plan: files are read here, planned there, and written here.

Dask places the work and repeats what was lost with its worker. On the worker a process of its own plans, as on this machine, so that time and
memory are held to there too, and what a solver does harms no other.
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
"""Files under way for each thread of the cluster, so that none waits for the way there and back."""
LEAST_AHEAD = 8
"""Files under way however few workers are there: clusters that grow with what waits for them would else never begin."""
REPEATS = 3
"""Of what was lost with its worker."""
FILES_OF_A_PLACE = 2
OTHER_FILES = 128
"""That are open besides: the manifest, plans, the client's connections."""
MOST_SAID = 300
"""Characters of what Dask says of a loss."""
SCHEDULER_LOST = Lost("the cluster's scheduler was lost", is_its_fault=False)
IDLE: deque[Companion] = deque()
"""On a worker: processes that wait for the next file."""


def require_distributed() -> None:
    """Raises BadInput where it is not installed."""
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        message = "a cluster needs Dask: pip install 'memplan[cluster]'"
        raise BadInput(Finding(Code.UNAVAILABLE, "/options/cluster", message))


def connect(where: str) -> Any:
    """A client of the scheduler there. Raises BadInput."""
    require_distributed()
    from distributed import Client

    try:
        return Client(**_known(where), timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise _nobody(where, error) from error


async def connected(where: str, seconds: float) -> Any:
    """The same on the event loop that runs, which does not wait for Dask to be imported; what Dask logs of a lost scheduler is left out."""
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
    """Raises BadInput where the scheduler went away and did not come back in time."""
    if client.status in ("closing", "closed"):
        message = "the scheduler is gone, and did not come back in time; the same command goes on"
        raise BadInput(Finding(Code.UNAVAILABLE, "/options/cluster", message))


def close(client: Any) -> None:
    """Leave, whether anybody is there or not."""
    with suppress(Exception):
        client.close()


def cancel(future: Any) -> None:
    """Nobody waits for it any more. Of a scheduler that is gone there is nothing to take back."""
    with suppress(Exception):
        future.cancel()


def lost_by(error: Exception) -> str:
    """What became of the workers that had it, in a line: where their memplan is missing or another one, that says so."""
    said = printable(" ".join(str(error).split()))
    return f"the cluster lost it: {type(error).__name__}" + (f": {said[:MOST_SAID]}" if said else "")


def is_without_scheduler(future: Any, error: Exception) -> bool:
    """Was its scheduler lost, and not whoever had it? What is done and cannot be fetched is lost so, too, and Dask does not always know of it yet."""
    return future.status == "cancelled" or (future.status != "error" and isinstance(error, OSError))


def threads(client: Any) -> int:
    """Of all workers together; none where the scheduler is gone."""
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    found: int = sum(worker["nthreads"] for worker in workers.values())
    return found


def worth_sending(threads: int) -> int:
    """So many files or jobs at a time, to a cluster that has so many threads now."""
    return max(AHEAD * threads, LEAST_AHEAD)


def threads_here() -> int:
    """Of the worker that this runs on."""
    from distributed import get_worker

    found: int = get_worker().state.nthreads
    return found


def room_for(places: int) -> int:
    """So many of the places as this process may have files open for. How many that is is raised as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES_OF_A_PLACE * places + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return places
    return max(min(places, (soft - OTHER_FILES) // FILES_OF_A_PLACE), 1)


def wanted_there() -> Callable[[], bool]:
    """On a worker, within a task: does anybody still wait for it? Not once it was cancelled, nor once its client is gone."""
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
    """On a worker: what tells those who listen to the topic something that JSON can say. The scheduler keeps the last thousand, so it must be short."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return lambda _: None
    return lambda said: worker.log_event(topic, said)


class Cluster:
    """A cluster that runs already: `tcp://host:8786`, or the file in which its scheduler says where it is."""

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
    """One file at a time, under way to the cluster and back."""

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
            # Not under a name made of its content: a plan that ran out of time may be better next time.
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
        """In a thread of the client's."""
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
    """On a worker: plan the file in a process that stays for the next, and end it if it is too late."""
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
