"""A request that waits a moment for a process may give up just when one comes free: then the next gets it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from api.jobs.dispatch import EmbeddedDispatcher


async def moments() -> tuple[list[object], EmbeddedDispatcher]:
    """What becomes of two waiting requests, of which the first gives up before it has heard of the free process."""
    dispatcher = EmbeddedDispatcher(cast(Any, None), cast(Any, SimpleNamespace(size=1)))
    waiting = [asyncio.create_task(dispatcher._a_moment()) for _ in range(2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    dispatcher._hand_on()
    return await asyncio.gather(*waiting, return_exceptions=True), dispatcher


def test_a_request_that_gives_up_just_then_is_passed_over() -> None:
    (first, second), dispatcher = asyncio.run(moments())
    assert isinstance(first, asyncio.CancelledError)
    assert second is None
    assert (dispatcher._promised, len(dispatcher._waiting)) == (0, 0)
    assert dispatcher._has_room
