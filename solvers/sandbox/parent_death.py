"""Limits of processes: end with the parent, and a cap on memory."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PR_SET_PDEATHSIG = 1


def die_with(parent: int, lifeline: int) -> None:
    """Makes this process end when its parent does: by the kernel on Linux, elsewhere by watching a pipe that the parent holds open."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the kernel was told
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def kill_group(leader: int) -> None:
    """Kills a process and all that it started; does nothing if they have ended."""
    for end in (os.killpg, os.kill):  # the group may not exist yet
        try:
            end(leader, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


@contextmanager
def memory_cap(extra: int | None) -> Iterator[None]:
    """Within this context, the process may use this many bytes of address space beyond its present use; further allocations fail."""
    if extra is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    cap = _address_space() + extra
    limits = [limit for limit in (cap, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # not Linux: count what was resident at most
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * resource.getpagesize()
