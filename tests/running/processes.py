"""Waiting for what processes and threads do beside a test, and looking at processes (Linux)."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypeVar

Found = TypeVar("Found")
PATIENCE = 360.0
"""Seconds that a wait may take; far more than any takes on a machine that does little else."""
LOOK_SECONDS = 0.01


def until(look: Callable[[], Found | Literal[False] | None]) -> Found:
    """Look again and again until something is found that counts as true, and return it."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, f"still {found!r} after {PATIENCE:g} s"
        time.sleep(LOOK_SECONDS)
    return found


def is_alive(pid: int) -> bool:
    """Return whether this process exists and still runs, which one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def until_ended(pids: Iterable[int]) -> None:
    """Wait for all these processes to end."""
    left = set(pids)
    until(lambda: not any(map(is_alive, left)))


def memory(pid: int, fact: str) -> int:
    """Return what the kernel says of a process's memory: VmRSS is the present amount, VmHWM the peak."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == fact:
            return int(rest.split()[0]) << 10
    raise LookupError(fact)


def free_port() -> int:
    """Return a port on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
