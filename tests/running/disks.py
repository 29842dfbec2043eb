"""Small disks in memory, where mounting is allowed, and what fills them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

BLOCK = bytes(1 << 12)


def mount(folder: Path, options: str) -> bool:
    """Mount a disk in memory on the folder; return whether that is allowed."""
    with contextlib.suppress(FileNotFoundError):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    return False


@contextlib.contextmanager
def mounted(folder: Path, size: int) -> Iterator[bool]:
    """Mount a disk of so many bytes, for as long as it is needed; yield whether that is allowed."""
    is_mounted = mount(folder, f"size={size}")
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Leave no room on the disk, until what fills it is removed again."""
    ballast = disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(BLOCK):
            pass
    yield
    ballast.unlink()
