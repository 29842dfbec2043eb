"""Tests are distributed over processes so that those that share something stay together and long ones come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running.distribution import APART, EARLY, LATE, TOGETHER, begins_at_end, part, rank

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", sorted({*EARLY, *LATE, *APART, *TOGETHER}))
def test_every_named_file_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_file_stays_together_unless_its_tests_take_long_alone() -> None:
    assert part("tests/http/queued/test_jobs.py::test_a[1]") == part("tests/http/queued/test_jobs.py::test_b")
    assert part("tests/web/test_map.py::test_a") == part("tests/web/test_page.py::test_b")
    assert part("tests/project/test_skips.py::test_a[1]") != part("tests/project/test_skips.py::test_a[2]")


def test_waiting_tests_come_first_computing_last_and_long_at_both_ends() -> None:
    order = [
        "tests/http/faults/test_kill_matrix.py::a",
        "tests/web/test_page.py::a",
        "tests/http/queued/test_jobs.py::a",
        "tests/api/test_settings.py::a",
        "tests/planner/planning/placing/test_starting.py::a",
        "tests/property/test_metamorphic.py::a",
        "tests/property/test_growth.py::a",
    ]
    shuffled = order[::-1]
    assert sorted(shuffled, key=rank) == order


def test_a_third_of_the_processes_begins_at_the_end() -> None:
    assert [begins_at_end(number) for number in range(1, 7)] == [False, False, True] * 2
