"""A worker process: does one task after the other, and ends with the service."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import planner
from planner.model.deadline import CalledOff, look, time_limit
from planner.model.errors import PlannerError
from planner.model.plan import PlanStatus
from planner.planning.placing.watching import Progress
from solvers.model.errors import is_for_want_of_memory

from ...errors import Refusal, refused
from ...process.garbage import Trimmer, collect_rarely, keep_what_exists, share_one_heap
from ...process.memory_budget import limit_this_process
from ...settings import Settings
from ..kinds.kind import Answer, Written
from ..kinds.plans import described
from .messages import NO_MEMORY, as_message, pack, unpack
from .tasks import FIVE_BUFFERS, do

TOLD_SECONDS = 0.1
"""The least interval between progress reports."""
SAVED_SECONDS = 1.0
"""The least interval between sent plans, which also keeps writing to a tenth of the time."""
SAVED_SHARE = 10
LAST_SECONDS = 0.3
"""After a cancel, an answer of several plans goes on to its end for so long; then what has been found so far is the answer."""
REPORTING = "reporting the progress of"
STACK = 1 << 20
"""Of a thread that only hears or tells: the system counts all of it as taken, by default eight MiB."""


class Reporter:
    """Reports the progress of one task to its caller."""

    def __init__(self, worker: Worker, number: int, notes: list[str], *, is_look: bool = False) -> None:
        """`is_look`: once it is cancelled no answer is wanted, not even of what was found so far."""
        self._is_look = is_look
        self._worker = worker
        self._number = number
        self._notes = notes
        self._moment: Progress | None = None
        self._write: Written = described
        self._told: Progress | None = None
        self._saved: tuple[int | None, bool] = (None, False)
        """The value of the best plan written, and whether it was known to be optimal."""
        self._points: list[Mapping[str, Any]] = []
        """The answer's points that have not been reported."""
        self._so_far: Callable[[], Answer] | None = None
        self._next_save = time.monotonic()
        self._turn = threading.Lock()
        """Held while points are put down or taken."""
        self._telling = threading.Lock()
        """Held while something is reported."""
        self._is_over = False

    def understood(self, fields: dict[str, Any]) -> None:
        self._notes = fields["notes"]
        self._worker.send({"kind": "understood", "number": self._number, **fields})

    def progress(self, moment: Progress, write: Written | None = None) -> None:
        self._write = write or described
        self._moment = moment

    def point(self, figures: Mapping[str, Any], so_far: Callable[[], Answer]) -> None:
        with self._turn:
            self._points.append(figures)
            self._so_far = so_far
        since = self._worker.cancelled.get(self._number)
        if since is not None and (self._is_look or time.monotonic() - since > LAST_SECONDS):
            raise CalledOff

    def cancelled(self) -> bool:
        return self._number in self._worker.cancelled

    def found(self) -> Answer | None:
        """Return the answer that has what was found so far. None: there is none, or none is wanted."""
        return None if self._is_look or self._so_far is None else self._so_far()

    def end(self) -> list[Mapping[str, Any]]:
        """Stop reporting; return the remaining points. What was reported refers back to this object, so nothing of it is kept."""
        self._is_over = True  # which also ends the verification of a plan that would be reported
        with self._telling, self._turn:
            points, self._points = self._points, []
            self._moment = self._told = self._so_far = None
            return points

    def tell(self) -> None:
        """Report what is new since the last time."""
        with self._telling, contextlib.suppress(CalledOff), time_limit(math.inf, called_off=lambda: self._is_over):
            look(REPORTING)
            self._tell_progress()
            self._tell_best()
            self._tell_points()

    def _tell_progress(self) -> None:
        moment = self._moment
        if moment is not None and moment is not self._told:
            self._told = moment
            fields = {"seconds": moment.seconds, "best": moment.value, "bound": moment.bound}
            self._worker.send({"kind": "progress", "number": self._number, **fields})

    def _tell_best(self) -> None:
        message, begun = self._told, time.monotonic()
        best = None if message is None else message.answer
        if message is None or best is None or begun < self._next_save:
            return
        worth = (message.value, message.value == message.bound)
        if worth == self._saved:
            return
        plan = best()
        look(REPORTING)
        if plan.status in (PlanStatus.FEASIBLE, PlanStatus.OPTIMAL):
            written = self._write(plan, tuple(self._notes))
            look(REPORTING)
            self._worker.send_best(self._number, written)
        self._saved = worth
        self._has_saved(begun)

    def _tell_points(self) -> None:
        """Report points together with an answer that has them, so that clients can request them."""
        begun = time.monotonic()
        with self._turn:
            points, so_far = [*self._points], self._so_far
        if not points or so_far is None or begun < self._next_save:
            return
        written = so_far()
        look(REPORTING)
        self._worker.send_best(self._number, written, points)
        with self._turn:
            del self._points[: len(points)]
        self._has_saved(begun)

    def _has_saved(self, begun: float) -> None:
        now = time.monotonic()
        self._next_save = now + max(SAVED_SECONDS, SAVED_SHARE * (now - begun))


def or_end(work: Callable[[], None]) -> None:
    """Do this. An error that it raises ends the process at once, whatever its other threads do: the service sees that, and waits no longer."""
    try:
        work()
    except MemoryError:
        os._exit(NO_MEMORY)
    except (EOFError, OSError) as error:  # without a service there is nothing left to do
        os._exit(NO_MEMORY if is_for_want_of_memory(error) else 0)
    except BaseException:  # noqa: BLE001 - whatever it is, nobody else would handle it
        or_end(lambda: traceback.print_exc(limit=-8))
        os._exit(1)


def start_thread(work: Callable[[], None], name: str) -> None:
    """Start a thread whose errors end the process."""
    usual = threading.stack_size(STACK)
    threading.Thread(target=or_end, args=(work,), name=name, daemon=True).start()
    threading.stack_size(usual)


class Teller:
    """Reports a task's progress in its own thread, so that solvers never wait for that. Most tasks are over before it looks."""

    def __init__(self) -> None:
        self._reporter: Reporter | None = None
        self._awake = threading.Event()
        start_thread(self._run, "teller")

    def listen_to(self, reporter: Reporter | None) -> None:
        self._reporter = reporter
        if reporter is not None and not self._awake.is_set():
            self._awake.set()

    def _run(self) -> None:
        while self._awake.wait():
            time.sleep(TOLD_SECONDS)
            reporter = self._reporter
            if reporter is not None:
                try:
                    reporter.tell()
                except Exception:  # noqa: BLE001 - want of memory, perhaps; there are more tasks to tell of
                    traceback.print_exc(limit=-8)
                continue
            self._awake.clear()
            if self._reporter is not None:  # it came in between
                self._awake.set()


class Worker:
    """One worker's side of the connection."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection = connection
        self._settings = settings
        self._sending = threading.Lock()
        self._taking = threading.Lock()
        """Held from a task's header until nothing of the task is left."""
        self._inbox: queue.SimpleQueue[tuple[dict[str, Any], list[bytes]]] = queue.SimpleQueue()
        self._teller = Teller()
        self.cancelled: dict[int, float] = {}
        """When each task was cancelled."""

    def serve(self) -> None:
        """Serve until the service hangs up."""
        start_thread(self._listen, "listener")
        planner.plan(FIVE_BUFFERS)  # import what planning needs before anybody waits for it
        keep_what_exists()
        self.send({"kind": "here"})
        trimmer = Trimmer(collects=True)
        while True:
            self._next()
            trimmer.trim()
            self._taking.release()

    def _next(self) -> None:
        """Do one task, without keeping anything of it."""
        header, parts = self._inbox.get()
        self._do(header, parts)
        self.cancelled.pop(header["number"], None)

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        message = pack(header, payload)
        with self._sending:
            or_end(lambda: self._connection.send_bytes(message))  # nothing can follow half a message

    def send_best(self, number: int, best: Answer, points: Sequence[Mapping[str, Any]] = ()) -> None:
        """Send the best so far, and which of its points are new."""
        fields, data = best
        fields = {name: value for name, value in fields.items() if name != "lasting"}
        if points:
            fields["points"] = list(points)
        self.send({"kind": "plan", "number": number, **fields}, data)

    def _listen(self) -> None:
        """Take orders, also while a task runs."""
        while True:
            self._take_order()

    def _take_order(self) -> None:
        """Take the next one, without keeping anything of it. A task's parts are taken when nothing is left of the task before."""
        header, _ = unpack(self._connection.recv_bytes())
        if "cancel" in header:
            self.cancelled[header["cancel"]] = time.monotonic()
        else:
            self._taking.acquire()
            self._inbox.put((header, [self._connection.recv_bytes() for _ in range(header.get("parts", 0))]))

    def _do(self, header: dict[str, Any], parts: list[bytes]) -> None:
        number: int = header["number"]
        reporter = Reporter(self, number, header.get("notes", []), is_look=header.get("look", False))
        self._teller.listen_to(reporter)
        message, data = self._answer(header, parts, reporter)
        self._teller.listen_to(None)
        points = reporter.end()
        if points:
            message["points"] = points
        self.send({**message, "number": number}, data)

    def _answer(self, header: dict[str, Any], parts: list[bytes], reporter: Reporter) -> tuple[dict[str, Any], bytes]:
        """Return how the task ended. Where there was too little memory the process ends: what is free afterwards lies in pieces."""
        try:
            fields, data = self._found(header, parts, reporter)
            return {"kind": "done", **fields}, data
        except CalledOff:
            return {"kind": "called_off"}, b""
        except PlannerError as error:
            return as_message(refused(error)), b""
        except Refusal as refusal:
            return as_message(refusal), b""
        except Exception as error:  # noqa: BLE001 - whatever it is, the service must be told, and go on
            if is_for_want_of_memory(error):
                os._exit(NO_MEMORY)
            return {"kind": "fault", "trace": traceback.format_exc(limit=-8)[-4000:]}, b""

    def _found(self, header: dict[str, Any], parts: list[bytes], reporter: Reporter) -> Answer:
        """Return the answer; of a task that was called off, what it had found. Raises CalledOff if that was nothing."""
        try:
            return do(header, parts, self._settings, reporter)
        except CalledOff:
            found = reporter.found()
            if found is None:
                raise
            return found


def main() -> None:
    """Serve the process at the other end of the connection named in the arguments."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the service says when to end; a terminal's Ctrl-C reaches all
    collect_rarely()
    share_one_heap()
    # What libraries say of bad bodies is answered; written to the log, it could wait for ever.
    logging.getLogger().addHandler(logging.NullHandler())
    connection = Connection(int(sys.argv[1]))
    settings = Settings.model_validate_json(connection.recv_bytes())
    with contextlib.suppress(ValueError, OSError):
        limit_this_process(settings.worker_memory)
    or_end(Worker(connection, settings).serve)


if __name__ == "__main__":
    main()
