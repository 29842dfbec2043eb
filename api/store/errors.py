"""Why the store did not do what it was asked to."""

from __future__ import annotations


class StoreError(Exception):
    """Root of what stores raise on purpose."""


class StoreUnavailable(StoreError):
    """It cannot be reached, is locked or full. Trying again later may help."""


class Collision(StoreUnavailable):
    """Another writer was in the way. Trying again at once helps."""


class QueueFull(StoreError):
    """There are too many unfinished jobs already."""


class BatchEnded(StoreError):
    """Its owner has ended the batch, of which this would be a line."""


class KeyReused(StoreError):
    """An idempotency key has come with another request than the first time."""
