"""Which test runs where and when, for several processes side by side (tests/running/side_by_side.py).

A file's tests stay together, so that the service it starts is started once; what takes long begins first, so that nobody is left alone with it.
"""

from __future__ import annotations

EARLY = (
    "tests/http/faults/test_kill_matrix.py",
    "tests/project/containers/test_image.py",
    "tests/api/jobs/queue/test_consumer.py",
    "tests/project/test_build.py",
    "tests/http/faults/test_lifecycle.py",
    "tests/project/documents/test_readme.py",
    "tests/api/routes/openapi/test_open_api.py",
    "tests/property/test_brute_force.py",
    "tests/http/faults/test_worker.py",
    "tests/http/faults/test_store_faults.py",
    "tests/api/jobs/test_every_runner.py",
    "tests/project/test_skips.py",
    "tests/http",
    "tests/web",
    "tests/contract",
    "tests/corpus",
    "tests/property",
    "tests/project/documents/test_demo.py",
)
"""Begin in this order, before all others: those that wait beside those that compute, as long as there are both."""
APART = (
    "tests/api/jobs/queue/test_consumer.py",
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
