"""Runs a task on a worker of a Dask cluster: a separate process works on it, as on this machine, and its reports are passed on.

Progress goes through the scheduler, which stores it; the best plan, which may be long, is requested instead. A task for which nobody waits
any more, because it was cancelled or its service is gone, is told to stop.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner.many.cluster import tell_from_there, threads_here, wanted_there

from ...errors import OutOfMemory
from ...process.memory_budget import share_out
from ...settings import Settings, WrongSettings, read_settings
from .pool import Reply, Slot, Task, WorkerDied, WorkerLate

REMEMBERED = 10_000
"""The tickets that a worker remembers as called off before they arrived."""
NEWS_SECONDS = 1.0
"""The least interval between a task's reports, which all go through the scheduler."""
MOST_OF_A_PLAN = 1 << 20
"""In bytes: a longer plan comes only with the task's end."""
MOST_AT_ONCE = 1 << 23
"""The most bytes of all plans requested at a time."""
Ending = tuple[Reply, Reply | None]
"""How a task ended, and the best that it had reported before."""

_lock = threading.Lock()
_idle: dict[str, deque[Slot]] = {}
"""Processes that wait for the next task, by their settings."""
_running: dict[str, Task] = {}
_called_off: deque[str] = deque(maxlen=REMEMBERED)


def do_there(
    ticket: str, header: Mapping[str, Any], parts: Sequence[bytes], seconds: float | None, settings: str
) -> Ending:
    """Have a process of this worker do the task."""
    messages = _Told(ticket)
    task = Task(header, parts, seconds=seconds, on_message=messages, cancelled=_CalledOff(wanted_there()))
    with _lock:
        if ticket in _called_off:
            return Reply({"kind": "died", "why": "it was called off before it had begun"}), None
        _running[ticket] = task
        idle = _idle.setdefault(settings, deque())
        slot = idle.popleft() if idle else None
    try:
        if slot is None:
            slot = Slot(_settings_here(settings))
        reply = slot.hear(task)
    except (WorkerDied, WrongSettings) as error:
        reply = Reply({"kind": "late" if isinstance(error, WorkerLate) else "died", "why": str(error)})
    except OutOfMemory:
        reply = Reply({"kind": "out_of_memory"})
    finally:
        with _lock:
            del _running[ticket]
            if slot is not None:
                idle.append(slot)
        messages.end()
    return reply, messages.best


def stop_there(tickets: Sequence[str]) -> list[str]:
    """Stop those of them that have begun here; they end soon. The others are not begun any more."""
    with _lock:
        begun = [ticket for ticket in tickets if ticket in _running]
        _called_off.extend(ticket for ticket in tickets if ticket not in _running)
        for ticket in begun:
            _running[ticket].cancelled.set()
    return begun


def best_there(known: Mapping[str, int]) -> dict[str, tuple[int, Reply | None]]:
    """For each task here with a newer best than that number: return its number and the best, or None if it is too long.

    Plans beyond the limit of one answer are left out.
    """
    with _lock:
        listeners = {ticket: _running[ticket].on_message for ticket in known if ticket in _running}
    found, room = dict[str, tuple[int, Reply | None]](), MOST_AT_ONCE
    for ticket, each in listeners.items():
        assert isinstance(each, _Told)
        number, best = each.so_far
        if best is None or number == known[ticket]:
            continue
        if len(best.payload) > MOST_OF_A_PLAN:
            found[ticket] = number, None
        elif len(best.payload) <= room:
            found[ticket] = number, best
            room -= len(best.payload)
    return found


class _CalledOff(threading.Event):
    """Set by whoever waits for a task, or when nobody does any more."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        super().__init__()
        self._wanted = wanted

    def is_set(self) -> bool:
        return super().is_set() or not self._wanted()


class _Told:
    """A task's reports: the best is kept for its end, and progress is sent at once or, shortly after the last report, soon."""

    def __init__(self, ticket: str) -> None:
        self.so_far: tuple[int, Reply | None] = 0, None
        """The best, with all reported points, and the number of earlier ones."""
        self._ticket = ticket
        self._say = tell_from_there(ticket.rpartition("-")[0])
        self._news: dict[str, Any] | None = None
        self._later: threading.Timer | None = None
        self._said = 0.0
        self._turn = threading.Lock()

    @property
    def best(self) -> Reply | None:
        return self.so_far[1]

    def __call__(self, reply: Reply) -> None:
        match reply.header["kind"]:
            case "plan":
                points = [*(self.best.header.get("points", ()) if self.best else ()), *reply.header.get("points", ())]
                best = Reply({**reply.header, "points": points} if points else reply.header, reply.payload)
                self.so_far = self.so_far[0] + 1, best
            case "progress":
                with self._turn:
                    self._news = reply.header
                    if self._later is None:
                        wait = max(self._said + NEWS_SECONDS - time.monotonic(), 0.0)
                        self._later = threading.Timer(wait, self._tell)
                        self._later.daemon = True
                        self._later.start()

    def _tell(self) -> None:
        with self._turn:
            if self._later is not None:
                self._later = None
                self._said = time.monotonic()
                self._say([self._ticket, self._news])

    def end(self) -> None:
        """Send nothing more."""
        with self._turn:
            if self._later is not None:
                self._later.cancel()
                self._later = None


def _settings_here(document: str) -> Settings:
    """Return the settings with this machine's memory divided among the worker's threads. Raises WrongSettings."""
    threads = threads_here()
    settings = Settings.model_validate_json(document)
    settings = settings.model_copy(update={"memory": read_settings().memory, "workers": threads})
    return share_out(settings, service=False, readers=0, workers=threads).applied(settings)
