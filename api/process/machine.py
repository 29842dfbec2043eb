"""What this process may use of the machine: cores and memory, containers' limits included."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")
PROCESSES = Path("/proc")
OWN_PAGES = PROCESSES / "self" / "statm"
PAGE = os.sysconf("SC_PAGE_SIZE")
MEMORY_FACTS = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Cores:
    """The cores available."""

    usable: int
    """Those on which the scheduler lets this process run."""
    quota: float | None
    """The cores' worth of time that a container's limit allows; None: no limit."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of memory; None if the system does not tell."""

    total: int | None
    available: int | None
    limit: int | None
    """A container's limit; None: no limit."""


@dataclass(frozen=True, slots=True)
class Used:
    """Bytes of memory that this process has."""

    address_space: int
    resident: int
    data: int
    """What it may write to, whether it has done so or not."""


CLOCK_OF_A_PROCESS = 2
"""CPUCLOCK_SCHED of Linux: what its scheduler counts."""
NO_LIMIT = 1 << 62
"""Version 1 of control groups reports a number about this large if there is no limit."""


def cores() -> Cores:
    """Return the cores of this process."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = (*map(_quota, _groups()), *map(_old_quota, _old_groups("cpu")))
    quotas = [quota for quota in found if quota is not None]
    return Cores(usable, min(quotas, default=None))


def memory() -> Memory:
    """Return the memory of this process."""
    facts = _memory_facts()
    files = [group / "memory.max" for group in _groups()]
    files += [group / "memory.limit_in_bytes" for group in _old_groups("memory")]
    limits = [limit for file in files if (limit := _number(file)) is not None and limit < NO_LIMIT]
    return Memory(facts.get("MemTotal"), facts.get("MemAvailable"), min(limits, default=None))


def used(pages: Path | None = None) -> Used | None:
    """Return this process's memory now, or another one's by its pages; None if the system does not tell. Called at every request, so it takes as few
    steps as possible.
    """
    try:
        with (pages or OWN_PAGES).open("rb", buffering=0) as file:
            fields = file.read().split()
        return Used(int(fields[0]) * PAGE, int(fields[1]) * PAGE, int(fields[5]) * PAGE)
    except (OSError, IndexError, ValueError):
        return None


def used_by(pid: int) -> Used | None:
    """Return another process's memory now; None if the system does not tell."""
    return used(PROCESSES / str(pid) / "statm")


def resident() -> int:
    """Return the bytes of memory that this process has now; 0 if the system does not tell."""
    now = used()
    return 0 if now is None else now.resident


def _groups() -> Iterator[Path]:
    """Return this process's control group and those around it (version 2): a limit on any of them counts."""
    for line in _text(OWN_GROUP).splitlines():
        number, _, path = line.partition("::")
        if number == "0":
            yield from _path_to(CGROUPS, path)
            return
    yield CGROUPS


def _old_groups(controller: str) -> Iterator[Path]:
    """Return the same for version 1, where each kind of limit has its own groups. A container sees its own group as the root."""
    for line in _text(OWN_GROUP).splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if controller in names.split(","):
            yield from _path_to(CGROUPS / controller, path)
            return


def _path_to(group: Path, path: str) -> Iterator[Path]:
    yield group
    for name in path.strip("/").split("/"):
        if name in ("", ".."):
            return
        group /= name
        yield group


def _quota(group: Path) -> float | None:
    fields = _text(group / "cpu.max").split()
    if len(fields) == 2 and all(field.isdigit() for field in fields) and int(fields[1]):
        return int(fields[0]) / int(fields[1])
    return None


def _old_quota(group: Path) -> float | None:
    quota, period = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
    return quota / period if quota and period else None


def processor_seconds(pid: int | None) -> float | None:
    """Return the processor time that a process has used; None if unknown."""
    try:
        return None if pid is None else time.clock_gettime(~pid << 3 | CLOCK_OF_A_PROCESS)
    except OSError:
        return None


def _memory_facts() -> dict[str, int]:
    facts = {}
    for line in _text(MEMORY_FACTS).splitlines():
        name, _, rest = line.partition(":")
        fields = rest.split()
        if len(fields) == 2 and fields[0].isdigit() and fields[1] == "kB":
            facts[name] = int(fields[0]) * 1024
    return facts


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    """Return the contents of a kernel file; empty if it is absent or unreadable."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
