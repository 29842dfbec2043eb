"""One service for all tests of a file that change no settings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http.served import Served, serving
from tests.running.postgresql import postgresql

__all__ = ["postgresql"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data"), max_body_bytes="2000000") as served:
        yield served
