"""Processes do not grow: the soak test finds it if they do (./scripts/load --soak runs for an hour, .ci/run two minutes of it)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.measure.service.loading.soak import MIB, SAMPLE_SECONDS, Growth, Sample, growth
from tests.http.served import refusal, serving
from tests.running.processes import memory, until

MINUTES = 2.0
COUNT = int(60 * MINUTES / SAMPLE_SECONDS)


def samples(mib_a_minute: float = 0, descriptors: float = 0, threads: float = 0) -> list[Sample]:
    """Samples of a process that grows at these rates per minute, most of them during a large task."""
    return [
        Sample(
            int((100 + mib_a_minute * minute) * MIB) + (200 * MIB if number % 3 else 0),
            int(20 + descriptors * minute),
            int(5 + threads * minute),
        )
        for number in range(COUNT)
        for minute in (number * SAMPLE_SECONDS / 60,)
    ]


def test_steady_work_is_no_growth() -> None:
    found = growth("service", samples(), MINUTES, 0)
    assert (found.mib, found.is_bounded) == (0, True)
    assert "GROWS" not in found.row()


@pytest.mark.parametrize(
    "grown",
    [
        growth("memory", samples(mib_a_minute=11), MINUTES, 0),
        growth("descriptors", samples(descriptors=10), MINUTES, 0),
        growth("threads", samples(threads=6), MINUTES, 0),
        growth("after a burst", samples(), MINUTES, 51 * MIB),
    ],
    ids=lambda grown: grown.name,
)
def test_growth_is_found(grown: Growth) -> None:
    assert not grown.is_bounded
    assert f"{grown.name}: GROWS" in grown.row()


def test_memory_of_large_bodies_is_given_back_by_all_processes(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        service.plan()
        before = {pid: memory(pid, "VmRSS") for pid in service.children()}
        for size in (20, 12, 20, 16):
            refusal(service.plan(b" " * (size * 1_000_000)))
        until(lambda: all(memory(pid, "VmRSS") < size + 16 * MIB for pid, size in before.items()))
