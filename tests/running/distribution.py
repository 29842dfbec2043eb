"""Decides which test runs where and when, for several processes side by side (tests/running/side_by_side.py).

A file's tests stay together, so that the service they share is started once; all tests of the page share a browser. A
third of the processes take tests from the end of the list, where tests stand that compute; the others begin with tests
that wait for services. Long files come first from both ends, so that no long one is left at last.
"""

from __future__ import annotations

EARLY = (
    "tests/http/faults/test_kill_matrix.py",
    "tests/project/containers/test_image.py",
    "tests/api/jobs/queue/test_consumer.py",
    "tests/web",
    "tests/project/test_build.py",
    "tests/http/faults/test_lifecycle.py",
    "tests/project/documents/test_readme.py",
    "tests/api/routes/openapi/test_open_api.py",
    "tests/http/faults/test_worker.py",
    "tests/http/faults/test_store_faults.py",
    "tests/api/jobs/test_every_dispatcher.py",
    "tests/project/test_skips.py",
    "tests/http",
    "tests/project/documents/test_demo.py",
    "tests/planner/many",
    "tests/planner/bench",
)
"""Tests that begin first, in this order, because they wait most of their time."""
LATE = (
    "tests/planner/formats",
    "tests/planner/graph",
    "tests/planner/planning",
    "tests/solvers",
    "tests/corpus",
    "tests/property",
    "tests/contract",
    "tests/planner/formats/test_memory.py",
    "tests/property/test_brute_force.py",
    "tests/property/test_growth.py",
)
"""Tests that stand last, in this order, for the processes that begin at the end; they compute."""
APART = (
    "tests/api/jobs/queue/test_consumer.py",
    "tests/property/test_brute_force.py",
    "tests/project/test_skips.py",
)
"""Files whose tests may run in different processes: each takes seconds, and what they share is quickly made."""
TOGETHER = ("tests/web",)
"""Folders whose tests all run in one process, because starting a browser takes a second of processor time."""


def part(nodeid: str) -> str:
    """Return what stays together with this test; tests with the same answer run in one process."""
    file = nodeid.partition("::")[0]
    if file in APART:
        return nodeid
    return next((folder for folder in TOGETHER if _is_of(file, folder)), file)


def rank(nodeid: str) -> int:
    """Return the test's rank; tests of lower rank stand nearer to the beginning."""
    file = nodeid.partition("::")[0]
    early = next((i for i, path in enumerate(EARLY) if _is_of(file, path)), len(EARLY))
    late = next((i for i, path in reversed([*enumerate(LATE, 1)]) if _is_of(file, path)), 0)
    return early + late


def _is_of(file: str, path: str) -> bool:
    return file == path or file.startswith(f"{path}/")


def begins_at_end(number: int) -> bool:
    """Return whether the process of this number, counted from 1, takes tests from the end of the list."""
    return number % 3 == 0
