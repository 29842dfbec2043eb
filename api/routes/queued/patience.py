"""Answers that last: how long they bear a store that does not answer, and silence of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from ...store import StoreDamaged, StoreUnavailable

Result = TypeVar("Result")
STORE_SECONDS = 60.0
"""How long a batch, or a stream of events, bears a store that does not answer."""
QUIET_SECONDS = 15.0
"""After this long with nothing to send they send something without meaning, so that no proxy considers the connection dead."""


class Patience:
    """With a store that does not answer but may be back before long."""

    def __init__(self) -> None:
        self._lost: float | None = None
        """When it was first found not to answer, on time.monotonic()."""

    async def asked(self, look: Callable[..., Result], *arguments: object) -> Result | None:
        """Return what the store says; None if it cannot be asked. Raises StoreUnavailable if that lasts."""
        try:
            found = await asyncio.to_thread(look, *arguments)
        except StoreUnavailable as error:
            self.bear(error)
            return None
        self.renew()
        return found

    def bear(self, error: StoreUnavailable) -> None:
        """Raise the error if it has lasted too long, or will last: damage does not pass."""
        self._lost = self._lost or time.monotonic()
        if isinstance(error, StoreDamaged) or time.monotonic() - self._lost >= STORE_SECONDS:
            raise error

    def renew(self) -> None:
        """The store has answered."""
        self._lost = None
