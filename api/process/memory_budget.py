"""How this machine or container is divided: how many processes read and solve, and how much memory each of them, and the service's own, may have.

Together they never have more than there is. The processes have theirs as a limit of the kernel's; the service looks at its own before it takes on more.
"""

from __future__ import annotations

import math
import resource
import sys
from dataclasses import dataclass

from ..settings import Settings, WrongSettings
from . import machine

LEAST_PROCESSES = 2
"""That solve, and that read: one of them is left to what is short."""
MIB = 1 << 20
LEFT = 8
"""One part in so many is left to everything else that runs there."""
SERVICE_PART = 4
"""At most one part in so many is the service's own process's."""
LEAST_SERVICE = 192 * MIB
LEAST_PROCESS = 128 * MIB
LEAST_SOLVER = 64 * MIB
"""Without so much they can do nothing of use."""
STARTERS = 64 * MIB
"""What starts solvers for a worker: two processes, which do nothing else."""
RESERVE = 64 * MIB
"""Below a limit that would be felt as a failure anywhere at all, so much is kept for what asks for no leave."""
LIMIT = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
"""What a process may write to, rather than what it has mapped: libraries alone take three times as much as they need."""


def solver_processes(settings: Settings) -> int:
    """How many run side by side at most."""
    found = machine.cores()
    cores = found.usable if found.quota is None else min(found.usable, math.ceil(found.quota))
    return max(LEAST_PROCESSES, settings.workers or cores)


def reader_processes(settings: Settings) -> int:
    """The same of those that read."""
    return max(LEAST_PROCESSES, settings.readers)


@dataclass(frozen=True, slots=True)
class Shares:
    """Bytes of memory, and between how many processes they are divided."""

    total: int | None
    """None where the system does not say, and neither does a setting."""
    service: int
    process: int
    """For each process that reads or solves."""
    solver: int
    """For each of a worker's solvers."""
    readers: int
    workers: int

    @property
    def sum(self) -> int:
        """Of all that may be taken at a time, solvers working one at a time for each worker."""
        each = self.workers * (STARTERS + self.solver)
        return self.service + (self.readers + self.workers) * self.process + each

    def in_mib(self) -> dict[str, int | None]:
        """For the log."""
        total = None if self.total is None else self.total // MIB
        each = {
            "service_mib": self.service // MIB,
            "process_mib": self.process // MIB,
            "solver_mib": self.solver // MIB,
        }
        return {"total_mib": total, **each, "readers": self.readers, "workers": self.workers}

    def applied(self, settings: Settings) -> Settings:
        """The settings, with what there is room for in place of the most that may be."""
        return settings.model_copy(
            update={
                "service_memory": self.service,
                "worker_memory": self.process,
                "max_solver_memory": self.solver,
            }
        )


def share_out(settings: Settings, *, service: bool, readers: int, workers: int) -> Shares:
    """For so many processes, or fewer where there is too little. Raises WrongSettings if that would be fewer than are set, or none."""
    total = settings.memory if settings.memory is not None else _found()
    least_workers = settings.workers or 1
    least_readers = settings.readers if "readers" in settings.model_fields_set else 1
    while True:
        shares = _shares(settings, total, service=service, readers=readers, workers=workers)
        if total is None or shares.process >= min(LEAST_PROCESS, settings.worker_memory):
            return shares
        if workers > least_workers:
            workers -= 1
        elif readers > least_readers:
            readers -= 1
        else:
            break
    text = (
        f"memory: {total // MIB} MiB are too little for {_so_many(workers, 'worker')} and {_so_many(readers, 'reader')}, each with {LEAST_PROCESS // MIB} MiB at least: "
        "set fewer workers or readers, or more memory"
    )
    raise WrongSettings(text)


def _so_many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _shares(settings: Settings, total: int | None, *, service: bool, readers: int, workers: int) -> Shares:
    own, process, solver = settings.service_memory, settings.worker_memory, settings.max_solver_memory
    if total is not None:
        own = min(own, max(LEAST_SERVICE, total // SERVICE_PART)) if service else LEAST_SERVICE
        rest = total - own - workers * STARTERS
        processes, solvers = readers + workers, workers * settings.max_workers_per_job
        solver = min(solver, max(LEAST_SOLVER, rest // (processes + solvers)))
        process = min(process, (rest - solvers * solver) // processes)
    return Shares(total, own, process, solver, readers, workers)


def _found() -> int | None:
    """What there is, less what is left to others."""
    memory = machine.memory()
    known = [size for size in (memory.total, memory.limit) if size is not None]
    return min(known) * (LEFT - 1) // LEFT if known else None


class Budget:
    """What this process may take: its share, and any limit that it was started with."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._address_space = _soft(resource.RLIMIT_AS)
        self._data = _soft(resource.RLIMIT_DATA)

    def has_room(self, more: int = 0) -> bool:
        """For so many bytes. True where the system does not say how many are in use."""
        used = machine.used()
        if used is None:
            return True
        for limit, now in ((self._address_space, used.address_space), (self._data, used.data)):
            if limit is not None and now + more + RESERVE > limit:
                return False
        return used.resident + more <= self.most


def _soft(limit: int) -> int | None:
    soft, _ = resource.getrlimit(limit)
    return None if soft == resource.RLIM_INFINITY else soft


def limit_this_process(most: int) -> None:
    """What it asks for beyond that it does not get. Raises ValueError and OSError where that cannot be."""
    _, hard = resource.getrlimit(LIMIT)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(LIMIT, (most, most))
