from __future__ import annotations

import threading
import time

import pytest

from api.store.records import Ids


def test_later_ids_sort_behind_earlier_ones_even_if_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = Ids()
    made = [ids.new() for _ in range(20_000)]
    before = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: before - 3_600 * 10**9)
    made += [ids.new() for _ in range(100)]
    assert made == sorted(set(made))
    assert {len(id_) for id_ in made} == {35}


def test_ids_differ_in_their_random_part() -> None:
    ids = Ids()
    assert len({ids.new()[14:] for _ in range(1000)}) == 1000


def test_threads_never_get_the_same_id() -> None:
    ids, made = Ids(), []

    def make() -> None:
        mine = [ids.new() for _ in range(2000)]
        assert mine == sorted(mine)
        made.extend(mine)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id_[:14] for id_ in made}) == len(made) == 8000
