"""What this process may use of the machine: cores and memory, containers' limits included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")
OWN_PAGES = Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE")
MEMORY_FACTS = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Cores:
    """How many cores there are to run on."""

    usable: int
    """That the scheduler lets this process run on."""
    quota: float | None
    """Cores' worth of time that a container's limit allows; None: no limit."""


@dataclass(frozen=True, slots=True)
class Memory:
    """How many bytes of memory there are; None where the system does not say."""

    total: int | None
    available: int | None
    limit: int | None
    """A container's limit; None: no limit."""


def cores() -> Cores:
    """The cores of this process."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [quota for group in _groups() if (quota := _quota(group)) is not None]
    return Cores(usable, min(quotas, default=None))


def memory() -> Memory:
    """The memory of this process."""
    facts = _memory_facts()
    limits = [limit for group in _groups() if (limit := _number(group / "memory.max")) is not None]
    return Memory(facts.get("MemTotal"), facts.get("MemAvailable"), min(limits, default=None))


def resident() -> int:
    """Bytes of memory that this process has now; 0 where the system does not say."""
    fields = _text(OWN_PAGES).split()
    return int(fields[1]) * PAGE if len(fields) > 1 and fields[1].isdigit() else 0


def _groups() -> Iterator[Path]:
    """This process's control group and those around it (version 2): a limit on any of them counts."""
    group = CGROUPS
    yield group
    for line in _text(OWN_GROUP).splitlines():
        number, _, path = line.partition("::")
        if number == "0":
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
    """A file of the kernel's; nothing where it is absent or not ours to read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
