"""What was used: so far, of the processor by this process and those that it started, of the memory by this one; and by a command until its end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO


def seconds() -> float:
    """Processor seconds so far, of all these processes together."""
    return sum(used())


def used() -> tuple[float, float]:
    """Processor seconds of this process, and of the processes that it has started, directly or indirectly."""
    times = os.times()
    running = used_by_running(os.getpid()) / os.sysconf("SC_CLK_TCK")
    return time.process_time(), times.children_user + times.children_system + running


def used_since(before: tuple[float, float]) -> tuple[float, float]:
    """What both have used since then."""
    ours, others = used()
    return ours - before[0], others - before[1]


def used_by_running(process: int) -> int:
    """Clock ticks of the running processes below this one, and of those that these have waited for."""
    ticks = 0
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread or a process that has ended since
            for child in map(int, children.read_text(encoding="ascii").split()):
                fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15])) + used_by_running(child)
    return ticks


def memory(word: str = "VmRSS") -> int:
    """Bytes that this process holds: VmRSS at present, VmHWM at its peak (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(word + ":")) << 10


@dataclass(frozen=True, slots=True)
class Used:
    """What a process used from its start to its end."""

    wall: float
    processor: float
    peak_bytes: int
    code: int = 0
    """Its exit code."""


def by_command(
    command: Sequence[str], *, errors: int | IO[bytes] = subprocess.DEVNULL, cwd: Path | None = None
) -> Used:
    """Run the command to its end, and return what it used, with the processes that it waited for."""
    begun = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=cwd)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    processor = used.ru_utime + used.ru_stime
    return Used(time.monotonic() - begun, processor, used.ru_maxrss * 1024, child.returncode)
