"""Processes that read or solve give back what large bodies took."""

from __future__ import annotations

from pathlib import Path

from tests.http.faults.test_memory import MIB, until
from tests.http.hostile.attacks import memory
from tests.http.served import refusal, serving


def test_memory_of_large_bodies_is_given_back_by_all_processes(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        service.plan()
        before = {pid: memory(pid, "VmRSS") for pid in service.children()}
        for size in (20, 12, 20, 16) * 2:
            refusal(service.plan(b" " * (size * 1_000_000)))
        until(lambda: all(memory(pid, "VmRSS") < size + 16 * MIB for pid, size in before.items()))
