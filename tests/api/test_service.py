"""The service behind its routes, where no process is needed to see what it does."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.errors import Refusal
from api.jobs.processes.pool import Reply, Task, WorkerLate
from api.service import Service
from api.settings import Settings


class Slow:
    """Readers that take too long."""

    async def do(self, task: Task) -> Reply:
        raise WorkerLate(f"{task.seconds}")


def test_what_takes_too_long_to_read_is_too_large() -> None:
    service = cast(Any, SimpleNamespace(settings=Settings(max_explain_seconds=7), readers=Slow()))
    with pytest.raises(Refusal, match="longer than 7 seconds") as caught:
        asyncio.run(Service.read(service, "read"))
    assert caught.value.status == 413
