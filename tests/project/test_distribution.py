"""Tests that run side by side: each once, together with what it shares something with, the long ones first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running.distribution import APART, EARLY, part, rank

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", sorted({*EARLY, *APART}))
def test_what_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_file_stays_together_unless_its_tests_take_long_alone() -> None:
    assert part("tests/http/queued/test_jobs.py::test_a[1]") == part("tests/http/queued/test_jobs.py::test_b")
    assert part("tests/project/test_skips.py::test_a[1]") != part("tests/project/test_skips.py::test_a[2]")


def test_the_long_ones_begin_first() -> None:
    quick = "tests/planner/planning/placing/test_starting.py::a"
    order = [
        "tests/http/faults/test_kill_matrix.py::a",
        "tests/http/queued/test_jobs.py::a",
        "tests/web/test_page.py::a",
        quick,
    ]
    assert sorted([quick, order[2], order[0], order[1]], key=rank) == order
