"""Several users of one store at once: a job is claimed by one, a key counts once, events stay in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from api.store import Store
from api.store.records import (
    JobState,
    NewJob,
    Once,
)
from tests.api.store.conftest import ABOUT, NO_LIMITS, SECONDS, Open, add, events_of


def test_a_job_is_claimed_by_only_one_worker(store: Store) -> None:
    ids = {add(store).id for _ in range(20)}
    claimed: list[str] = []

    def work() -> None:
        while (claim := store.claim()) is not None:
            claimed.append(claim.job.id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(ids)


def test_a_key_that_comes_twice_at_once_counts_once(store: Store) -> None:
    added = []
    threads = [
        threading.Thread(target=lambda: added.append(store.add(NewJob("me", ABOUT), b"", NO_LIMITS, Once("k", "f"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(added) == 8
    assert len({each.job.id for each in added}) == 1
    assert sum(each.is_new for each in added) == 1
    assert store.counts().by_state == {JobState.QUEUED: 1}


def test_steps_recorded_at_once_stay_in_order(store: Store) -> None:
    job = add(store)
    store.claim()
    threads = [threading.Thread(target=store.improve, args=(job.id, 1, 100 - n, n, 0.0)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = store.job(job.id)
    assert now is not None
    assert (now.best, now.bound) == (91, 9)
    numbers = [number for number, _ in events_of(store, job.id)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_only_the_current_delivery_of_a_job_is_accepted(store: Store) -> None:
    other, job = add(store), add(store)
    assert store.claim(job.id, -1) is None
    claim = store.claim(job.id, job.delivery)
    assert claim is not None
    assert claim.job.id == job.id
    assert store.claim(job.id, job.delivery) is None
    store.release(job.id, 1)
    again = store.job(job.id)
    assert again is not None
    if store.shared:
        assert again.delivery not in (None, job.delivery)
        assert store.claim(job.id, job.delivery) is None, "the worker that had it is late"
    assert store.claim(job.id, again.delivery) is not None
    assert store.job(other.id) == other


def test_listeners_hear_of_every_change_of_a_job(store: Store, opened: Open) -> None:
    listening = opened() if store.shared else store
    heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    listening.listen(heard.put)
    if store.shared:
        assert heard.get(timeout=SECONDS) is None, "it listens from now on, and may have missed something"
    job = add(store)
    steps: tuple[Callable[[], object], ...] = (
        store.claim,
        lambda: store.improve(job.id, 1, 100, 50, 0.1),
        lambda: store.release(job.id, 1),
        store.claim,
        lambda: store.cancel(job.id, "me"),
        lambda: store.died(job.id, 2, "x", 3),
    )
    for happen in steps:
        happen()
        assert heard.get(timeout=SECONDS) == job.id
    assert heard.empty()
    if listening is not store:
        listening.close()
