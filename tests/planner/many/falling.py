"""Workers for tests: one ends in the middle of some files, the other reports progress."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from planner.many.progress import Reached
from planner.many.worker import Make, Read, work

_at = [""]


def fall(request: Read | Make, send: Callable[[object], None]) -> None:
    """Plan the file, unless its name asks for a fault."""
    if isinstance(request, Read):
        _at[0] = Path(request.path).name
        if "dies_reading" in _at[0]:
            os.kill(os.getpid(), 9)
    else:
        if "dies_planning" in _at[0]:
            os._exit(3)
        if "sleeps" in _at[0]:
            time.sleep(600)
        if "waits" in _at[0]:
            time.sleep(1)
        died = Path(f"{request.out}.died")
        if "dies_once" in _at[0] and not died.exists():
            died.parent.mkdir(parents=True, exist_ok=True)
            died.touch()
            os._exit(1)
    work(request, send)


def work_and_tell(request: Read | Make, send: Callable[[object], None]) -> None:
    """Plan the file, and report progress just before the answer."""
    if isinstance(request, Make):
        assert request.tells
        send(Reached(None, 5))
        send(Reached(9, 5))
    work(replace(request, tells=False) if isinstance(request, Make) else request, send)
