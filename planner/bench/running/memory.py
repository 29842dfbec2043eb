"""How much memory a process and those it started have used."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

UNIT = 1 if sys.platform == "darwin" else 1024
"""What the system counts ru_maxrss in, in bytes."""


def peak_memory() -> int:
    """Bytes that the largest of them had at its largest: this process, or one that it has waited for (and theirs)."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT
    return max(_own(), children)


def _own() -> int:
    """Of this process alone. ru_maxrss begins with what its parent had when it started it, so the kernel's other count is better."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
