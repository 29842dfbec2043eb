"""The store in a file: its connections keep nothing of what was written."""

from __future__ import annotations

from pathlib import Path

from api.process.garbage import give_back
from api.process.machine import resident
from api.store.opening import open_store
from api.store.records import NewJob
from tests.api.store.conftest import ABOUT, NO_LIMITS

MIB = 1 << 20


def test_a_large_problem_does_not_stay_in_memory_once_it_is_stored(tmp_path: Path) -> None:
    """The driver keeps statements, and each keeps the values that it was last given."""
    store = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    try:
        store.add(NewJob("me", ABOUT), b"1", NO_LIMITS)
        problem = bytes(48 * MIB)
        give_back()
        before = resident()
        job = store.add(NewJob("me", ABOUT), problem, NO_LIMITS).job
        give_back()
        assert resident() < before + 24 * MIB
        assert store.problem_size(job.id) == len(problem)
    finally:
        store.close()
