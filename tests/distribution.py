"""Which test runs where and when, for several processes side by side (scripts/test has pytest load this).

A file's tests stay together, so that the service it starts is started once; what takes long begins first, so that nobody is left alone with it.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

EARLY = (
    "tests/http/test_kill_matrix.py",
    "tests/containers/test_image.py",
    "tests/api/jobs/queue/test_consumer.py",
    "tests/project/test_build.py",
    "tests/http/test_lifecycle.py",
    "tests/documents/test_readme.py",
    "tests/http/test_open_api.py",
    "tests/property/test_brute_force.py",
    "tests/http/test_worker.py",
    "tests/http/test_store_faults.py",
    "tests/api/jobs/test_every_runner.py",
    "tests/project/test_skips.py",
    "tests/http",
    "tests/web",
    "tests/contract",
    "tests/corpus",
    "tests/property",
    "tests/documents/test_demo.py",
)
"""Begin in this order, before all others: those that wait beside those that compute, as long as there are both."""
APART = (
    "tests/api/jobs/queue/test_consumer.py",
    "tests/project/test_build.py",
    "tests/property/test_brute_force.py",
    "tests/project/test_skips.py",
)
"""Each test by itself: they take seconds, and have nothing in common that takes long to make."""


def part(nodeid: str) -> str:
    """What stays together with this test: the tests with the same answer."""
    file = nodeid.partition("::")[0]
    return nodeid if file in APART else file


def rank(nodeid: str) -> int:
    """Lower ones begin earlier."""
    file = nodeid.partition("::")[0]
    return next((i for i, path in enumerate(EARLY) if file == path or file.startswith(f"{path}/")), len(EARLY))


class Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """Parts one after the other, each to whoever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return part(nodeid)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    config.option.loadscopereorder = False  # the order of the tests, not that of how many are in a file
    return Scheduling(config, log)
