"""The division of this machine or container: how many processes read and solve, and the memory of each, and of the service's own.

Together they never exceed what there is. The kernel limits the processes' memory; the service checks its own before it accepts more.
"""

from __future__ import annotations

import math
import resource
import sys
from dataclasses import dataclass

from ..settings import Settings, WrongSettings
from . import machine

LEAST_PROCESSES = 2
"""The least number that solve, and that read: one of them is left to short work."""
MIB = 1 << 20
LEFT = 8
"""One part in this many is left to everything else that runs there."""
SERVICE_PART = 4
"""At most one part in this many is the service's own process's."""
SERVICE_AT_REST = 128 * MIB
"""What the service's own process takes before there is any body."""
LEAST_PROCESS = 144 * MIB
LEAST_SOLVER = 64 * MIB
"""With less they can do nothing useful."""
STARTERS = 64 * MIB
"""For the processes that start a worker's solvers: two, which do nothing else."""
RESERVE = 64 * MIB
"""Kept below a limit whose violation would fail anywhere, for allocations that are not checked before."""
STEP = 2 * MIB
"""Python maps a MiB at a time for its small objects. With less than two left it may find none, not even for an error on its way to who handles it:
then it tries for ever.
"""
LIMIT = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
"""What a process may write to, instead of what it has mapped: libraries alone map three times what they need."""


def solver_processes(settings: Settings) -> int:
    """Return the most that run side by side."""
    found = machine.cores()
    cores = found.usable if found.quota is None else min(found.usable, math.ceil(found.quota))
    return max(LEAST_PROCESSES, settings.workers or cores)


def reader_processes(settings: Settings) -> int:
    """Return the greatest number of processes that read."""
    return max(LEAST_PROCESSES, settings.readers)


@dataclass(frozen=True, slots=True)
class Shares:
    """Bytes of memory, and the number of processes that share them."""

    total: int | None
    """None if neither the system nor a setting tells."""
    service: int
    process: int
    """For each process that reads or solves."""
    solver: int
    """For each of a worker's solvers."""
    readers: int
    workers: int

    @property
    def sum(self) -> int:
        """Return the most that may be taken at a time, with one solver working for each worker."""
        each = self.workers * (STARTERS + self.solver)
        return self.service + (self.readers + self.workers) * self.process + each

    def in_mib(self) -> dict[str, int | None]:
        """Return them for the log."""
        total = None if self.total is None else self.total // MIB
        each = {
            "service_mib": self.service // MIB,
            "process_mib": self.process // MIB,
            "solver_mib": self.solver // MIB,
        }
        return {"total_mib": total, **each, "readers": self.readers, "workers": self.workers}

    def applied(self, settings: Settings) -> Settings:
        """Return the settings with limits lowered to the memory there is."""
        return settings.model_copy(
            update={
                "service_memory": self.service,
                "worker_memory": self.process,
                "max_solver_memory": self.solver,
            }
        )


def least_of_service(settings: Settings) -> int:
    """Return the memory in which the service's own process can take the largest body: with less, that would be refused again and again."""
    return SERVICE_AT_REST + settings.max_body_bytes


def share_out(settings: Settings, *, service: bool, readers: int, workers: int) -> Shares:
    """Divide memory among this many processes, or fewer if there is too little. Raises WrongSettings if that is fewer than set, or none."""
    if settings.worker_memory < LEAST_PROCESS:
        enough = f"a process that reads or solves takes {LEAST_PROCESS // MIB} MiB at least"
        raise WrongSettings(f"worker_memory: {settings.worker_memory} bytes are too little: {enough}")
    least = least_of_service(settings)
    if service and settings.service_memory < least:
        so_large = f"bodies of {settings.max_body_bytes // MIB} MiB (max_body_bytes)"
        text = f"{settings.service_memory} bytes are too little for {so_large}: with these the service takes {least // MIB} MiB at least"
        raise WrongSettings(f"service_memory: {text}")
    total = settings.memory if settings.memory is not None else _found()
    least_workers = settings.workers or 1
    least_readers = settings.readers if "readers" in settings.model_fields_set else 1
    while True:
        shares = _shares(settings, total, service=service, readers=readers, workers=workers)
        if total is None or shares.process >= LEAST_PROCESS:
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
        least = least_of_service(settings)
        own = min(own, max(least, total // SERVICE_PART)) if service else least
        rest = total - own - workers * STARTERS
        processes, solvers = readers + workers, workers * settings.max_workers_per_job
        solver = min(solver, max(LEAST_SOLVER, rest // (processes + solvers)))
        process = min(process, (rest - solvers * solver) // processes)
    return Shares(total, own, process, solver, readers, workers)


def _found() -> int | None:
    """Return what there is, less what is left to others."""
    memory = machine.memory()
    known = [size for size in (memory.total, memory.limit) if size is not None]
    return min(known) * (LEFT - 1) // LEFT if known else None


class Budget:
    """What this process may take: its share, and any limit with which it was started."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._address_space = _soft(resource.RLIMIT_AS)
        self._data = _soft(resource.RLIMIT_DATA)

    def has_room(self, more: int = 0) -> bool:
        """True if that many more bytes fit, or if the system does not tell how many are in use."""
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
    """Limit this process's memory to so many bytes. Raises ValueError and OSError if that is impossible."""
    _, hard = resource.getrlimit(LIMIT)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(LIMIT, (most, most))


def is_at_its_limit(pid: int) -> bool:
    """True if another process has next to nothing left of what it may take; False if the system does not tell."""
    used = machine.used_by(pid)
    if used is None or sys.platform != "linux":
        return False
    limit, _ = resource.prlimit(pid, LIMIT)
    return limit != resource.RLIM_INFINITY and used.data + STEP > limit
